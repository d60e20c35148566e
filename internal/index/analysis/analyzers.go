package analysis

import (
	"maps"
	"math"
	"sync"
	"unicode"
)

// defaultGap is by how many positions values are apart in fields, unless an analyzer
// says otherwise.
const defaultGap = 100

// analyzerKinds are the server's analyzers; nil: not supported.
func analyzerKinds() map[string]func(*part) *chain {
	kinds := map[string]func(*part) *chain{
		"standard": func(p *part) *chain {
			return words(standard{max: p.tokenLength(), lower: true}, stopped(p, "_none_")...)
		},
		"default": func(*part) *chain { return words(standard{max: 255, lower: true}) },
		"simple":  func(*part) *chain { return words(newRuns(unicode.IsLetter, math.MaxInt, true)) },
		"stop": func(p *part) *chain {
			return words(newRuns(unicode.IsLetter, math.MaxInt, true), stopped(p, "_english_")...)
		},
		"whitespace":  func(*part) *chain { return words(newRuns(notSpace, 255, false)) },
		"keyword":     func(*part) *chain { return words(whole{}) },
		"pattern":     newPatternAnalyzer,
		"fingerprint": newFingerprintAnalyzer,
		"snowball":    newSnowballAnalyzer,
	}
	maps.Copy(kinds, languageKinds())
	return kinds
}

func words(t tokenizer, filters ...filter) *chain {
	c := &chain{tokenizer: t, filters: filters, gap: defaultGap}
	c.fuse()
	return c
}

// stopped is the filter of option stopwords, or none.
func stopped(p *part, fallback string) []filter {
	list := stopWordsOf(p, fallback)
	if len(list) == 0 {
		return nil
	}
	return []filter{stopWords(list)}
}

func newPatternAnalyzer(p *part) *chain {
	t := patternTokenizer{p.compile(p.text("pattern", `\W+`), p.text("flags", "")), -1}
	var filters []filter
	if p.boolean("lowercase", true) {
		filters = append(filters, lowercase)
	}
	return words(t, append(filters, stopped(p, "_none_")...)...)
}

func newFingerprintAnalyzer(p *part) *chain {
	filters := append([]filter{lowercase, asciiFolding{}}, stopped(p, "_none_")...)
	return words(standard{max: 255}, append(filters, newFingerprint(p))...)
}

func newSnowballAnalyzer(p *part) *chain {
	language := p.text("language", p.text("name", "English"))
	stem, ok := snowballs[language]
	if !ok {
		p.illegal("snowball stemmer [%s] is not supported", language)
	}
	lists := map[string]string{"English": "_english_", "Dutch": "_dutch_", "German": "_german_", "German2": "_german_", "French": "_french_"}
	fallback, ok := lists[language]
	if !ok {
		fallback = "_none_"
	}
	filters := append([]filter{lowercase}, stopped(p, fallback)...)
	return words(standard{max: 255}, append(filters, stem)...)
}

// builtin are the analyzers that need no settings.
var builtin = func() map[string]func() *chain {
	all := map[string]func() *chain{}
	for name, build := range analyzerKinds() {
		if build != nil {
			all[name] = sync.OnceValue(func() *chain { return build(emptyPart(name)) })
		}
	}
	return all
}()
