package analysis

import (
	"bytes"
	"strings"
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
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/porter"
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
	"Armenian": byTable("armenian", armenianStem), "Basque": byTable("basque", basqueStem),
	"Catalan": byTable("catalan", catalanStem), "Danish": undoubled(snowball(danish.Stem)), "Dutch": dutchStem,
	"English": snowball(english.Stem), "Estonian": byTable("estonian", estonianStem),
	"Finnish": byTable("finnish", finnishStem), "French": byTable("french", frenchStem), "German": snowball(german.Stem),
	"German2": german2Stem, "Hungarian": snowball(hungarian.Stem), "Irish": snowball(irish.Stem),
	"Italian": snowball(italian.Stem), "Lithuanian": byTable("lithuanian", lithuanianStem),
	"Norwegian": snowball(norwegian.Stem), "Porter": snowball(porter.Stem), "Portuguese": snowball(portuguese.Stem),
	"Romanian": snowball(romanian.Stem), "Russian": russianStem, "Spanish": snowball(spanish.Stem),
	"Swedish": snowball(swedish.Stem), "Tamil": snowball(tamil.Stem), "Turkish": snowball(turkish.Stem),
}

// stemmers are the languages of filter stemmer, in lower case; those of Snowball's own that
// are not here are called by their names there.
var stemmers = map[string]filter{
	"english": stemmer(porterStem), "porter": stemmer(porterStem), "porter2": snowballs["English"],
	"minimal_english": lightStep("en_minimal"), "minimalenglish": lightStep("en_minimal"),
	"plural_english": lightStep("en_plural"), "pluralenglish": lightStep("en_plural"),
	"possessive_english": each(possessive), "possessiveenglish": each(possessive),

	"arabic":  stemmer(fromBleve(ar.NewArabicStemmerFilter())),
	"bengali": byTable("bengali", bengaliStem), "brazilian": byTable("brazilian", brazilianStem),
	"bulgarian": byTable("bulgarian", bulgarianStem), "czech": byTable("czech", czechStem),
	"galician": byTable("galician", galicianStem), "minimal_galician": byTable("galician", plurals),
	"greek": byTable("greek", greekStem), "hindi": stemmer(fromBleve(hi.NewHindiStemmerFilter())),
	"indonesian": onLetters(indonesianStem), "latvian": byTable("latvian", latvianStem),
	"persian": onLetters(persianStem), "sorani": stemmer(fromBleve(ckb.NewSoraniStemmerFilter())),

	"light_finnish": byTable("light", lightFinnish), "lightfinnish": byTable("light", lightFinnish),
	"light_finish": byTable("light", lightFinnish), "lightfinish": byTable("light", lightFinnish),
	"light_french": lightFrench, "lightfrench": lightFrench, "minimal_french": minimalFrench, "minimalfrench": minimalFrench,
	"light_german": lightGerman, "lightgerman": lightGerman,
	"minimal_german": byTable("light", minimalGerman), "minimalgerman": byTable("light", minimalGerman),
	"light_hungarian": byTable("light", lightHungarian), "lighthungarian": byTable("light", lightHungarian),
	"light_italian": lightItalian, "lightitalian": lightItalian,
	"light_norwegian": lightStep("sv_genitive", "nb"), "lightnorwegian": lightStep("sv_genitive", "nb"),
	"minimal_norwegian": lightStep("sv_genitive", "nb_minimal"),
	"light_nynorsk":     lightStep("sv_genitive", "nn"), "lightnynorsk": lightStep("sv_genitive", "nn"),
	"minimal_nynorsk": lightStep("sv_genitive", "nn_minimal"), "minimalnynorsk": lightStep("sv_genitive", "nn_minimal"),
	"light_portuguese": lightPortuguese, "lightportuguese": lightPortuguese,
	"minimal_portuguese": byTable("portuguese", plurals), "minimalportuguese": byTable("portuguese", plurals),
	"portuguese_rslp": byTable("portuguese", portugueseStem),
	"light_russian":   lightStep("ru", "ru_normal"), "lightrussian": lightStep("ru", "ru_normal"),
	"light_spanish": stemmer(lightSpanish), "lightspanish": stemmer(lightSpanish),
	"light_swedish": lightStep("sv_genitive", "sv"), "lightswedish": lightStep("sv_genitive", "sv"),
}

var (
	lightFrench     = stemmer(fromBleve(fr.NewFrenchLightStemmerFilter()))
	minimalFrench   = stemmer(fromBleve(fr.NewFrenchMinimalStemmerFilter()))
	lightGerman     = stemmer(fromBleve(de.NewGermanLightStemmerFilter()))
	lightItalian    = stemmer(fromBleve(it.NewItalianLightStemmerFilterFilter()))
	lightPortuguese = stemmer(fromBleve(pt.NewPortugueseLightStemmerFilter()))
)

// elsewhere are the languages that the server knows and that are not here; the first four
// are those of filter snowball, which are others than those of stemmer.
var elsewhere = wordSet([]string{"arabic", "greek", "hindi", "indonesian", "dutch_kp", "dutchkp", "kp", "kstem", "light_english", "lightenglish", "lovins", "nepali", "serbian", "yiddish"})

// stemmerOf is the stemmer of a language, whose name may be in any case where the server
// knows it by itself.
func stemmerOf(language string) (filter, bool) {
	lower := lowerText(language)
	if f, ok := stemmers[lower]; ok {
		return f, true
	}
	if lower == "tamil" {
		lower = language
	}
	f, ok := snowballs[capital(lower)]
	return f, ok
}

// capital is a name with a capital letter.
func capital(name string) string {
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

func newStemmer(p *part) filter {
	language := p.text("language", p.text("name", "porter"))
	f, ok := stemmerOf(language)
	if !ok {
		p.noStemmer(capital(language))
	}
	return f
}

func newSnowball(p *part) filter {
	language := capital(p.text("language", p.text("name", "English")))
	f, ok := snowballs[language]
	if !ok {
		p.noStemmer(language)
	}
	return f
}

func (p *part) noStemmer(language string) {
	if elsewhere[lowerText(language)] {
		p.illegal("stemmer [%s] is not supported", language)
		return
	}
	p.illegal("Invalid stemmer class specified: %s", language)
}

// Normalizations of languages; those of Hindi and Bengali leave the words alone that
// stemmers do.
var (
	arabicNormal  = each(fromBleve(ar.NewArabicNormalizeFilter()))
	bengaliNormal = stemmer(bengaliNormalized)
	germanNormal  = each(fromBleve(de.NewGermanNormalizeFilter()))
	hindiNormal   = stemmer(fromBleve(hi.NewHindiNormalizeFilter()))
	indicNormal   = each(fromBleve(indic.NewIndicNormalizeFilter()))
	persianNormal = each(fromBleve(fa.NewPersianNormalizeFilter()))
	soraniNormal  = each(fromBleve(ckb.NewSoraniNormalizeFilter()))
)

// addLanguageFilters adds the filters that are of one language.
func addLanguageFilters(kinds map[string]filterKind) {
	for name, f := range map[string]filter{
		"arabic_normalization": arabicNormal, "bengali_normalization": bengaliNormal, "german_normalization": germanNormal, "hindi_normalization": hindiNormal,
		"indic_normalization": indicNormal, "persian_normalization": persianNormal, "serbian_normalization": each(serbianNormal), "sorani_normalization": soraniNormal,
		"scandinavian_folding": each(scandinavianFolding), "scandinavian_normalization": each(scandinavianNormal),
	} {
		kinds[name] = filterKind{make: always(f), normalizing: true}
	}
	for name, language := range map[string]string{
		"arabic_stem": "arabic", "brazilian_stem": "brazilian", "czech_stem": "czech", "dutch_stem": "dutch",
		"french_stem": "french", "persian_stem": "persian", "porter_stem": "porter", "russian_stem": "russian",
	} {
		f, _ := stemmerOf(language)
		kinds[name] = filterKind{make: always(f)}
	}
	kinds["stemmer"] = filterKind{make: newStemmer}
	kinds["snowball"] = filterKind{make: newSnowball}
	kinds["german_stem"] = filterKind{make: always(onLetters(caumannsStem))}
}
