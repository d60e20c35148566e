package analysis

// language is an analyzer of one language: the filters around its stop words, and its
// stemmer.
type language struct {
	stops  string   // the name of the list
	before []filter // the stop words
	after  []filter // before the stemmer
	stem   filter
}

// languageKinds are the analyzers of languages; nil: not supported.
func languageKinds() map[string]func(*part) *chain {
	elided := func(articles []string) filter {
		return elision{words: wordSet(articles), ignoreCase: true}
	}
	lower := []filter{lowercase}
	plain := func(stops, stem string) language { return language{stops: stops, before: lower, stem: stemmers[stem]} }
	kinds := map[string]func(*part) *chain{
		"armenian": nil, "basque": nil, "bengali": nil, "brazilian": nil, "bulgarian": nil, "catalan": nil, "czech": nil,
		"estonian": nil, "galician": nil, "greek": nil, "indonesian": nil, "latvian": nil, "lithuanian": nil, "thai": nil,
		"persian": nil,
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
		"arabic":     {stops: "_arabic_", before: []filter{lowercase, each(decimalDigits)}, after: []filter{arabicNormal}, stem: stemmers["arabic"]},
		"danish":     plain("_danish_", "danish"),
		"dutch":      {stops: "_dutch_", before: lower, after: []filter{dutchOverride}, stem: stemmers["dutch"]},
		"english":    {stops: "_english_", before: []filter{each(possessive), lowercase}, stem: stemmers["english"]},
		"finnish":    plain("_finnish_", "finnish"),
		"french":     {stops: "_french_", before: []filter{elided(frenchArticles), lowercase}, stem: stemmers["light_french"]},
		"german":     {stops: "_german_", before: lower, after: []filter{germanNormal}, stem: stemmers["light_german"]},
		"hindi":      {stops: "_hindi_", before: []filter{lowercase, each(decimalDigits)}, after: []filter{indicNormal, hindiNormal}, stem: stemmers["hindi"]},
		"hungarian":  plain("_hungarian_", "hungarian"),
		"irish":      {stops: "_irish_", before: []filter{stopWords([]string{"h", "n", "t"}), elided(irishArticles), each(lowerIrish)}, stem: stemmers["irish"]},
		"italian":    {stops: "_italian_", before: []filter{elided(italianArticles), lowercase}, stem: stemmers["light_italian"]},
		"norwegian":  plain("_norwegian_", "norwegian"),
		"portuguese": plain("_portuguese_", "light_portuguese"),
		"romanian":   plain("_romanian_", "romanian"),
		"russian":    plain("_russian_", "russian"),
		"sorani":     {stops: "_sorani_", before: []filter{soraniNormal, lowercase, each(decimalDigits)}, stem: stemmers["sorani"]},
		"spanish":    plain("_spanish_", "light_spanish"),
		"swedish":    plain("_swedish_", "swedish"),
		"turkish":    {stops: "_turkish_", before: []filter{each(cutAtApostrophe), each(lowerTurkish)}, stem: stemmers["turkish"]},
	} {
		kinds[name] = l.build
	}
	return kinds
}

var cjkStops = []string{"a", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of", "on", "or", "s", "such", "t", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with", "www"}

// dutchOverride are the words that the Dutch analyzer does not leave to its stemmer.
var dutchOverride = stemmerOverride{"fiets": "fiets", "bromfiets": "bromfiets", "ei": "eier", "kind": "kinder"}

// build makes the analyzer with the stop words, and the words to leave alone, of settings.
func (l language) build(p *part) *chain {
	filters := append([]filter{}, l.before...)
	filters = append(filters, stopWords(stopWordsOf(p, l.stops)))
	exclusion, _ := p.words("stem_exclusion", false)
	keep := keywordMarker{words: wordSet(exclusion)}
	// Arabic and Hindi normalize after the words to leave alone are marked or before, which
	// makes no difference to other languages: see the proof in testdata.
	filters = append(filters, l.after...)
	if len(exclusion) > 0 {
		filters = append(filters, keep)
	}
	if l.stem != nil {
		filters = append(filters, l.stem)
	}
	return words(standard{max: 255}, filters...)
}
