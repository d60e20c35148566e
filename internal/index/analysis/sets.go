package analysis

import (
	"bytes"
	"slices"
	"sort"

	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// Filters that look at several tokens.

// unique removes terms that were there before; the tokens after them move up.
type unique struct{ samePosition bool }

func newUnique(p *part) filter { return unique{p.boolean("only_on_same_position", false)} }

func (f unique) filter(s *stream) {
	seen := map[string]bool{}
	kept := s.tokens[:0]
	position, last := -1, -1 // of what is kept, and of what was read
	for _, t := range s.tokens {
		step := t.Position - last
		last = t.Position
		if f.samePosition && step > 0 {
			clear(seen)
		}
		term := string(t.Term)
		again := seen[term] && (!f.samePosition || step == 0)
		seen[term] = true
		if again {
			continue
		}
		position += step
		t.Position = position
		kept = append(kept, t)
	}
	s.next += position - last
	s.tokens = kept
}

// removeDuplicates removes equal terms of one position.
type removeDuplicates struct{}

func (removeDuplicates) filter(s *stream) {
	seen := map[string]bool{}
	last := -1
	s.remove(func(t *Token) bool {
		if t.Position != last {
			clear(seen)
			last = t.Position
		}
		again := seen[string(t.Term)]
		seen[string(t.Term)] = true
		return again
	})
}

// limit keeps the first tokens.
type limit struct {
	most int
	all  bool // what was cut off still counts for where the text ends
}

func newLimit(p *part) filter {
	f := limit{p.number("max_token_count", 1), p.boolean("consume_all_tokens", false)}
	if p.err == nil && f.most < 1 {
		p.illegal("maxTokenCount must be greater than zero")
	}
	return f
}

func (f limit) filter(s *stream) {
	if len(s.tokens) <= f.most {
		return
	}
	s.tokens = s.tokens[:f.most]
	s.next = s.tokens[f.most-1].Position + 1
	if !f.all {
		s.end = s.tokens[f.most-1].End
	}
}

// keywordRepeat puts each token twice, the first time so that stemmers leave it alone.
type keywordRepeat struct{}

func (keywordRepeat) filter(s *stream) {
	s.spread(func(t *Token) {
		again := *t
		t.Keyword, again.Keyword = true, false
		s.spare = append(s.spare, *t, again)
	})
}

// fingerprint makes one token of all terms, sorted, each once.
type fingerprint struct {
	separator string
	most      int
}

func newFingerprint(p *part) filter {
	f := fingerprint{p.text("separator", " "), p.number("max_output_size", 255)}
	if units([]byte(f.separator)) != 1 {
		p.illegal("Setting [separator] must be a single, non-null character. [%s] was provided.", f.separator)
	}
	return f
}

func (f fingerprint) filter(s *stream) {
	if len(s.tokens) == 0 {
		s.next = 1
		return
	}
	terms := make([][]byte, 0, len(s.tokens))
	for _, t := range s.tokens {
		terms = append(terms, t.Term)
	}
	sort.Slice(terms, func(i, j int) bool { return java.Less(string(terms[i]), string(terms[j])) })
	terms = slices.CompactFunc(terms, bytes.Equal)
	out := bytes.Join(terms, []byte(f.separator))
	end := s.end
	s.tokens = s.tokens[:0]
	s.next = 1 // beside the token itself, as Lucene counts
	if len(terms) == 1 {
		out = terms[0]
	}
	if units(out) > f.most {
		return
	}
	s.add(out, 0, end, "fingerprint")
	s.tokens[0].Position = 0
}
