package analysis

import (
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// Filters that tell stemmers what to do.

// keywordMarker keeps stemmers off some words.
type keywordMarker struct {
	words      map[string]bool
	ignoreCase bool
	pattern    *javaRegexp
}

func newKeywordMarker(p *part) filter {
	f := keywordMarker{ignoreCase: p.boolean("ignore_case", false)}
	if pattern := p.text("keywords_pattern", ""); pattern != "" {
		if p.has("keywords") || p.has("keywords_path") {
			p.illegal("cannot specify both `keywords_pattern` and `keywords` or `keywords_path`")
		}
		f.pattern = p.wholePattern(pattern)
		return f
	}
	words, ok := p.words("keywords", false)
	if !ok {
		p.illegal("keyword filter requires either `keywords`, `keywords_path`, or `keywords_pattern` to be configured")
	}
	f.words = wordSet(folded(words, f.ignoreCase))
	return f
}

func (f keywordMarker) filter(s *stream) {
	for i := range s.tokens {
		t := &s.tokens[i]
		switch {
		case f.pattern != nil:
			t.Keyword = t.Keyword || f.pattern.first.Match(t.Term)
		case f.words[string(t.Term)] || f.ignoreCase && f.words[lowerText(string(t.Term))]:
			t.Keyword = true
		}
	}
}

// stemmerOverride gives some words stems of their own, at which stemmers leave them.
type stemmerOverride map[string]string

func newStemmerOverride(p *part) filter {
	rules, ok := p.values["rules"]
	if p.has("rules_path") {
		p.illegal("IOException while reading rules_path: file not readable")
	} else if !ok {
		p.illegal("stemmer override filter requires either `rules` or `rules_path` to be configured")
	}
	f := stemmerOverride{}
	for i, rule := range rules {
		left, right, ok := strings.Cut(rule, "=>")
		keys := strings.Split(left, ",")
		stem := strings.TrimSpace(right)
		if !ok || strings.Contains(right, "=>") || strings.Contains(right, ",") {
			p.refuse(exception.Runtime, "Line [%d]: Invalid keyword override rule: %s", i+1, rule)
			break
		}
		for _, key := range keys {
			key = strings.TrimSpace(key)
			if key == "" || stem == "" {
				p.refuse(exception.Runtime, "Line [%d]: Invalid keyword override rule: %s", i+1, rule)
				break
			}
			if _, again := f[key]; !again {
				f[key] = stem
			}
		}
	}
	return f
}

func (f stemmerOverride) filter(s *stream) {
	for i := range s.tokens {
		t := &s.tokens[i]
		if stem, ok := f[string(t.Term)]; ok && !t.Keyword {
			t.Term, t.Keyword = s.keep([]byte(stem)), true
		}
	}
}
