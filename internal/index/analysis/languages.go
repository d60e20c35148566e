package analysis

import "slices"

// language is an analyzer of one language: what stands around its stop words, the words
// that settings keep its stemmer off, and its stemmer.
type language struct {
	spaces string   // letters that are spaces before the tokenizer
	stops  string   // the name of the list of stop words
	before []filter // the stop words
	normal []filter // before the stop words too, but behind the words to leave alone
	after  []filter // between the stop words and the words to leave alone
	marked []filter // behind the words to leave alone
	stem   string   // the language of the stemmer, or none
}

// languageKinds are the analyzers of languages; nil: not supported.
func languageKinds() map[string]func(*part) *chain {
	elided := func(articles []string) filter {
		return elision{words: wordSet(articles), ignoreCase: true}
	}
	lower := []filter{lowercase}
	plain := func(stops, stem string) language { return language{stops: stops, before: lower, stem: stem} }
	kinds := map[string]func(*part) *chain{
		"thai":    nil, // its words are those of a dictionary
		"chinese": func(*part) *chain { return words(standard{max: 255, lower: true}, stopWords(englishStops)) },
		"cjk": func(p *part) *chain {
			list, ok := p.words("stopwords", true)
			if !ok {
				list = cjkStops
			}
			return words(standard{max: 255}, each(cjkWidth), lowercase, newCJKBigram(emptyPart("cjk")), stopWords(list))
		},
	}
	for name, l := range map[string]language{
		"arabic":     {stops: "_arabic_", before: []filter{lowercase, each(decimalDigits)}, after: []filter{arabicNormal}, stem: "arabic"},
		"bengali":    {stops: "_bengali_", before: []filter{lowercase, each(decimalDigits)}, normal: []filter{indicNormal, bengaliNormal}, stem: "bengali"},
		"catalan":    {stops: "_catalan_", before: []filter{elided(catalanArticles), lowercase}, stem: "catalan"},
		"dutch":      {stops: "_dutch_", before: lower, marked: []filter{dutchOverride}, stem: "dutch"},
		"english":    {stops: "_english_", before: []filter{each(possessive), lowercase}, stem: "english"},
		"french":     {stops: "_french_", before: []filter{elided(frenchArticles), lowercase}, stem: "light_french"},
		"german":     {stops: "_german_", before: lower, marked: []filter{germanNormal}, stem: "light_german"},
		"greek":      {stops: "_greek_", before: []filter{each(lowerGreek)}, stem: "greek"},
		"hindi":      {stops: "_hindi_", before: []filter{lowercase, each(decimalDigits)}, normal: []filter{indicNormal, hindiNormal}, stem: "hindi"},
		"irish":      {stops: "_irish_", before: []filter{stop{wordSet([]string{"h", "n", "t"}), true}, elided(irishArticles), each(lowerIrish)}, stem: "irish"},
		"italian":    {stops: "_italian_", before: []filter{elided(italianArticles), lowercase}, stem: "light_italian"},
		"persian":    {spaces: "\u200c", stops: "_persian_", before: []filter{lowercase, each(decimalDigits), arabicNormal, persianNormal}},
		"portuguese": plain("_portuguese_", "light_portuguese"),
		"sorani":     {stops: "_sorani_", before: []filter{soraniNormal, lowercase, each(decimalDigits)}, stem: "sorani"},
		"spanish":    plain("_spanish_", "light_spanish"),
		"turkish":    {stops: "_turkish_", before: []filter{each(cutAtApostrophe), each(lowerTurkish)}, stem: "turkish"},
	} {
		kinds[name] = l.build
	}
	for _, name := range []string{"armenian", "basque", "brazilian", "bulgarian", "czech", "danish", "estonian", "finnish",
		"galician", "hungarian", "indonesian", "latvian", "lithuanian", "norwegian", "romanian", "russian", "swedish"} {
		kinds[name] = plain("_"+name+"_", name).build
	}
	return kinds
}

var cjkStops = []string{"a", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of", "on", "or", "s", "such", "t", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with", "www"}

// dutchOverride are the words that the Dutch analyzer does not leave to its stemmer.
var dutchOverride = stemmerOverride{"fiets": "fiets", "bromfiets": "bromfiets", "ei": "eier", "kind": "kinder"}

// build makes the analyzer with the stop words, and the words to leave alone, of settings.
func (l language) build(p *part) *chain {
	exclusion, _ := p.words("stem_exclusion", false)
	var keep []filter
	if len(exclusion) > 0 && l.stem != "" && l.stem != "greek" { // the Greek and Persian ones do not read it
		keep = []filter{keywordMarker{words: wordSet(exclusion)}}
	}
	stops := []filter{stopWords(stopWordsOf(p, l.stops))}
	stem := []filter{}
	if f, ok := stemmerOf(l.stem); ok {
		stem = append(stem, f)
	}
	filters := slices.Concat(l.before, stops, l.after, keep, l.marked, stem)
	if len(l.normal) > 0 {
		filters = slices.Concat(l.before, keep, l.normal, stops, stem)
	}
	c := words(standard{max: 255}, filters...)
	for _, r := range l.spaces {
		f := mapping{root: &mappingNode{}}
		f.add(string(r), " ")
		c.charFilters = append(c.charFilters, f)
	}
	return c
}
