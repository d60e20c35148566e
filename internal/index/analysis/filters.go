package analysis

// filterKind is a type of token filters.
type filterKind struct {
	make        func(*part) filter // nil: not supported
	bare        func() filter      // what the name means without settings, when that is not make of none; see bareFilter
	needs       bool               // there is no such filter without settings
	bareOnly    bool               // there is no such filter with settings
	normalizing bool               // normalizers may use it
}

// always is a filter without options.
func always(f filter) func(*part) filter { return func(*part) filter { return f } }

// filterKinds are the server's token filters.
func filterKinds() map[string]filterKind {
	kinds := map[string]filterKind{
		"apostrophe":        {make: always(each(cutAtApostrophe))},
		"asciifolding":      {make: newASCIIFolding, normalizing: true},
		"cjk_bigram":        {make: newCJKBigram},
		"cjk_width":         {make: always(each(cjkWidth)), normalizing: true},
		"classic":           {make: always(classicFilter{})},
		"common_grams":      {make: newCommonGrams, bare: func() filter { return &commonGrams{} }},
		"decimal_digit":     {make: always(each(decimalDigits)), normalizing: true},
		"edge_ngram":        {make: newEdgeNGrams, bare: func() filter { return &edgeNGrams{least: 1, most: 1} }},
		"edgeNGram":         {make: newEdgeNGrams, needs: true},
		"elision":           {make: newElision, bare: func() filter { return elision{words: wordSet(frenchArticles), ignoreCase: true} }, normalizing: true},
		"fingerprint":       {make: newFingerprint},
		"flatten_graph":     {},
		"keep":              {make: newKeep, needs: true},
		"keep_types":        {make: newKeepTypes, needs: true},
		"keyword_marker":    {make: newKeywordMarker, needs: true},
		"keyword_repeat":    {make: always(keywordRepeat{}), bareOnly: true},
		"length":            {make: newLength},
		"limit":             {make: newLimit},
		"lowercase":         {make: newLowercase, normalizing: true},
		"multiplexer":       {make: newMultiplexer},
		"ngram":             {make: newNGrams},
		"nGram":             {make: newNGrams, needs: true},
		"pattern_capture":   {make: newPatternCapture, needs: true},
		"pattern_replace":   {make: newPatternReplace, needs: true},
		"remove_duplicates": {make: always(removeDuplicates{})},
		"reverse":           {make: always(each(reversed))},
		"shingle":           {make: newShingles},
		"stemmer_override":  {make: newStemmerOverride, needs: true},
		"stop":              {make: newStop},
		"synonym":           {make: newSynonyms, needs: true},
		"synonym_graph":     {make: newSynonyms, needs: true},
		"trim":              {make: always(each(trimmed)), normalizing: true},
		"truncate":          {make: newTruncate, bare: func() filter { return truncate(10) }},
		"unique":            {make: newUnique},
		"uppercase":         {make: always(uppercase), normalizing: true},

		"word_delimiter":       {make: newWordDelimiter},
		"word_delimiter_graph": {make: newWordDelimiterGraph},

		"concatenate_graph": {}, "condition": {needs: true}, "delimited_payload": {}, "delimited_term_freq": {},
		"dictionary_decompounder": {make: newDecompounder, needs: true}, "hunspell": {needs: true}, "hyphenation_decompounder": {needs: true},
		"kstem": {}, "min_hash": {}, "predicate_token_filter": {needs: true}, "type_as_payload": {bareOnly: true},
	}
	addLanguageFilters(kinds)
	return kinds
}
