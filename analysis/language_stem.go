package analysis

import (
	"bytes"
	"unicode/utf8"

	bleve "github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/ar"
	"github.com/blevesearch/bleve/v2/analysis/lang/ckb"
	"github.com/blevesearch/bleve/v2/analysis/lang/de"
	"github.com/blevesearch/bleve/v2/analysis/lang/es"
	"github.com/blevesearch/bleve/v2/analysis/lang/fa"
	"github.com/blevesearch/bleve/v2/analysis/lang/fr"
	"github.com/blevesearch/bleve/v2/analysis/lang/hi"
	indic "github.com/blevesearch/bleve/v2/analysis/lang/in"
	"github.com/blevesearch/bleve/v2/analysis/lang/it"
	"github.com/blevesearch/bleve/v2/analysis/lang/pt"
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
)

// stemmer changes terms that are not keywords.
type stemmer func(s *stream, term []byte) []byte

func (f stemmer) filter(s *stream) {
	for i := range s.tokens {
		if t := &s.tokens[i]; !t.Keyword {
			t.Term = f(s, t.Term)
		}
	}
}

// snowball is a stemmer of the Snowball project.
func snowball(stem func(*snowballstem.Env) bool) stemmer {
	return func(s *stream, term []byte) []byte {
		env := snowballstem.NewEnv(string(term))
		stem(env)
		return []byte(env.Current())
	}
}

// fromBleve is a filter of Bleve as a function of one term.
func fromBleve(f bleve.TokenFilter) func(*stream, []byte) []byte {
	return func(_ *stream, term []byte) []byte {
		token := bleve.Token{Term: bytes.Clone(term)}
		return f.Filter(bleve.TokenStream{&token})[0].Term
	}
}

// possessive removes 's.
func possessive(_ *stream, term []byte) []byte {
	n := len(term)
	if n < 2 || term[n-1] != 's' && term[n-1] != 'S' {
		return term
	}
	for _, mark := range []string{"'", "’", "＇"} {
		if bytes.HasSuffix(term[:n-1], []byte(mark)) {
			return term[:n-1-len(mark)]
		}
	}
	return term
}

// lightSpanish also removes accents, of words that are long enough to be changed.
func lightSpanish(s *stream, term []byte) []byte {
	if utf8.RuneCount(term) < 5 {
		return term
	}
	return spanishEndings(s, spanishAccents(s, term))
}

var (
	spanishAccents = fromBleve(es.NewSpanishNormalizeFilter())
	spanishEndings = fromBleve(es.NewSpanishLightStemmerFilter())
)

// russianStem writes ё as е first, as newer versions of the stemmer do.
func russianStem(s *stream, term []byte) []byte {
	return snowball(russian.Stem)(s, bytes.ReplaceAll(term, []byte("ё"), []byte("е")))
}

// undoubled is a stemmer that takes one of two equal consonants away: older versions of
// it did so with digits and letters of other scripts too.
func undoubled(stem stemmer) stemmer {
	return func(s *stream, term []byte) []byte {
		out := stem(s, term)
		last, size := utf8.DecodeLastRune(out)
		if next := len(out) + size; next <= len(term) && (last < 'a' || last > 'z') && bytes.HasPrefix(term, out) && bytes.HasSuffix(term[:next], out[len(out)-size:]) {
			return term[:next]
		}
		return out
	}
}

// snowballs are the languages of filter snowball.
var snowballs = map[string]stemmer{
	"Danish": undoubled(snowball(danish.Stem)), "Dutch": snowball(dutch.Stem), "English": snowball(english.Stem),
	"Finnish": undoubled(snowball(finnish.Stem)), "French": snowball(french.Stem), "German": snowball(german.Stem),
	"Hungarian": snowball(hungarian.Stem), "Irish": snowball(irish.Stem), "Italian": snowball(italian.Stem),
	"Norwegian": snowball(norwegian.Stem), "Porter": porterStem, "Portuguese": snowball(portuguese.Stem),
	"Romanian": snowball(romanian.Stem), "Russian": russianStem, "Spanish": snowball(spanish.Stem),
	"Swedish": snowball(swedish.Stem), "Turkish": snowball(turkish.Stem),
}

// stemmers are the languages of filter stemmer.
var stemmers = map[string]filter{
	"english": stemmer(porterStem), "porter": stemmer(porterStem), "porter2": snowballs["English"],
	"possessive_english": each(possessive), "possessiveEnglish": each(possessive),
	"arabic": stemmer(fromBleve(ar.NewArabicStemmerFilter())),
	"danish": snowballs["Danish"], "dutch": snowballs["Dutch"], "finnish": snowballs["Finnish"],
	"french": snowballs["French"], "light_french": stemmer(fromBleve(fr.NewFrenchLightStemmerFilter())),
	"minimal_french": stemmer(fromBleve(fr.NewFrenchMinimalStemmerFilter())),
	"german":         snowballs["German"], "light_german": stemmer(fromBleve(de.NewGermanLightStemmerFilter())),
	"hindi":     stemmer(fromBleve(hi.NewHindiStemmerFilter())),
	"hungarian": snowballs["Hungarian"], "irish": snowballs["Irish"],
	"italian": snowballs["Italian"], "light_italian": stemmer(fromBleve(it.NewItalianLightStemmerFilterFilter())),
	"norwegian":  snowballs["Norwegian"],
	"portuguese": snowballs["Portuguese"], "light_portuguese": stemmer(fromBleve(pt.NewPortugueseLightStemmerFilter())),
	"romanian": snowballs["Romanian"], "russian": snowballs["Russian"],
	"sorani":  stemmer(fromBleve(ckb.NewSoraniStemmerFilter())),
	"spanish": snowballs["Spanish"], "light_spanish": stemmer(lightSpanish),
	"swedish": snowballs["Swedish"], "tamil": snowball(tamil.Stem), "turkish": snowballs["Turkish"],
}

func newStemmer(p *part) filter {
	language := p.text("language", p.text("name", "porter"))
	f, ok := stemmers[lowerText(language)]
	if !ok {
		p.illegal("stemmer [%s] is not supported", language)
	}
	return f
}

func newSnowball(p *part) filter {
	language := p.text("language", p.text("name", "English"))
	f, ok := snowballs[language]
	if !ok {
		p.illegal("snowball stemmer [%s] is not supported", language)
	}
	return f
}

// Normalizations of languages.
var (
	arabicNormal  = each(fromBleve(ar.NewArabicNormalizeFilter()))
	germanNormal  = each(fromBleve(de.NewGermanNormalizeFilter()))
	hindiNormal   = each(fromBleve(hi.NewHindiNormalizeFilter()))
	indicNormal   = each(fromBleve(indic.NewIndicNormalizeFilter()))
	persianNormal = each(fromBleve(fa.NewPersianNormalizeFilter()))
	soraniNormal  = each(fromBleve(ckb.NewSoraniNormalizeFilter()))
)

// addLanguageFilters adds the filters that are of one language.
func addLanguageFilters(kinds map[string]filterKind) {
	for name, f := range map[string]filter{
		"arabic_normalization": arabicNormal, "german_normalization": germanNormal, "hindi_normalization": hindiNormal,
		"indic_normalization": indicNormal, "persian_normalization": persianNormal, "sorani_normalization": soraniNormal,
		"scandinavian_folding": each(scandinavianFolding), "scandinavian_normalization": each(scandinavianNormal),
	} {
		kinds[name] = filterKind{make: always(f), normalizing: true}
	}
	for name, language := range map[string]string{
		"arabic_stem": "arabic", "dutch_stem": "dutch", "french_stem": "french", "porter_stem": "porter",
		"russian_stem": "russian",
	} {
		kinds[name] = filterKind{make: always(stemmers[language])}
	}
	kinds["stemmer"] = filterKind{make: newStemmer}
	kinds["snowball"] = filterKind{make: newSnowball}
	for _, name := range []string{"bengali_normalization", "brazilian_stem", "czech_stem", "german_stem", "persian_stem", "serbian_normalization"} {
		kinds[name] = filterKind{}
	}
}
