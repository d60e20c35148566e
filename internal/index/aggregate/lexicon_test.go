package aggregate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// wordy makes a segment whose documents have one term each.
func wordy(t testing.TB, words ...string) *segment.Segment {
	b := segment.NewBuilder()
	for i, word := range words {
		f, err := b.Field("k", segment.Spec{Postings: segment.Docs, Column: segment.Ordinals})
		if err != nil {
			t.Fatal(err)
		}
		f.Term([]byte(word))
		id := fmt.Sprint(i)
		b.EndRoot(segment.Identity{Key: routing.KeyOf(id, "", 1), ID: id, SeqNo: int64(i)})
	}
	data, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	s, err := segment.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func drawWords(r *rand.Rand, n, of int) (words []string) {
	for range n {
		words = append(words, fmt.Sprint("word", r.IntN(of)))
	}
	return words
}

// wrong reports what is wrong about the numbers that a lexicon gives the terms of a segment.
func wrong(lex *lexicon, terms *segmentTerms, s *segment.Segment) error {
	order, texts := lex.order()
	f := s.Field("k")
	if len(terms.numbers) != f.Terms() || len(terms.docs) != f.Terms() {
		return fmt.Errorf("%d numbers, %d counts of %d terms", len(terms.numbers), len(terms.docs), f.Terms())
	}
	for walk := f.From(nil); walk.Valid(); walk.Next() {
		e := walk.Entry()
		if n := terms.numbers[e.Ord]; int(n) >= terms.end || !bytes.Equal(texts[n], walk.Term()) || terms.docs[e.Ord] != e.Docs {
			return fmt.Errorf("term %s has the number %d below %d, of %s, and %d docs instead of %d", walk.Term(), n, terms.end, texts[n], terms.docs[e.Ord], e.Docs)
		}
	}
	for i := 1; i < len(order); i++ {
		if bytes.Compare(texts[order[i-1]], texts[order[i]]) >= 0 {
			return fmt.Errorf("%s comes before %s", texts[order[i-1]], texts[order[i]])
		}
	}
	return nil
}

// TestLexicaWhileSegmentsComeAndGo: each search has the right numbers while others ask for other
// segments, segments go, lexica are replaced, and too large ones are done without.
func TestLexicaWhileSegmentsComeAndGo(t *testing.T) {
	BoundLexica(60_000)
	defer BoundLexica(0)
	var all lexiconCache
	var with, without [4]int
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(worker)))
			var segments []*segment.Segment
			for range 300 {
				if len(segments) < 6 || r.IntN(3) == 0 {
					segments = append(segments, wordy(t, drawWords(r, 1+r.IntN(200), 1500)...))
				}
				if len(segments) > 10 {
					segments = segments[5:]
					runtime.GC() // the lexica see that they are gone
				}
				s, name := segments[r.IntN(len(segments))], lexiconKey{"index", fmt.Sprint("k", r.IntN(2))}
				lex, terms := askedOf(&all, name, s, s.Field("k"))
				if lex == nil {
					without[worker]++
					continue
				}
				with[worker]++
				if err := wrong(lex, terms, s); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if sum(with) == 0 {
		t.Error("no search had a lexicon")
	}
}

func askedOf(l *lexiconCache, name lexiconKey, s *segment.Segment, f *segment.Field) (*lexicon, *segmentTerms) {
	lex := l.get(name)
	terms := l.terms(lex, s, f)
	if terms == nil {
		lex = nil
	}
	return lex, terms
}

func sum(n [4]int) int { return n[0] + n[1] + n[2] + n[3] }

// TestWhatLexicaTake: one that would take too much is done without, until it is tried again; what
// was not used for the longest time goes when all take too much; terms of segments that are no more
// do not stay for ever.
func TestWhatLexicaTake(t *testing.T) {
	BoundLexica(40_000)
	defer BoundLexica(0)
	defer func(before int64) { lexiconsLimit = before }(lexiconsLimit)
	lexiconsLimit = 60_000
	var all lexiconCache
	r := rand.New(rand.NewPCG(1, 1))
	large := wordy(t, drawWords(r, 1000, 1<<30)...)
	for range retryAfter + 1 {
		if lex, _ := askedOf(&all, lexiconKey{"index", "large"}, large, large.Field("k")); lex != nil {
			t.Fatalf("a lexicon of %d terms within %d bytes", large.Field("k").Terms(), lexiconLimit)
		}
	}
	small := wordy(t, "a")
	if lex, _ := askedOf(&all, lexiconKey{"index", "large"}, small, small.Field("k")); lex == nil {
		t.Error("what was too large is never tried again")
	}
	for i := range 50 {
		s := wordy(t, drawWords(r, 50, 1<<30)...)
		if lex, _ := askedOf(&all, lexiconKey{"index", fmt.Sprint(i)}, s, s.Field("k")); lex == nil {
			t.Fatal("no lexicon of 50 terms")
		}
		if taken := all.bytes(); taken > lexiconsLimit+lexiconLimit {
			t.Fatalf("lexica take %d bytes", taken)
		}
	}
	name := lexiconKey{"index", "churn"}
	first, _ := askedOf(&all, name, small, small.Field("k"))
	for range 20_000 / 100 {
		s := wordy(t, drawWords(r, 100, 150)...)
		askedOf(&all, name, s, s.Field("k"))
		runtime.GC()
	}
	if n := first.live; n > 2000 {
		t.Errorf("a lexicon still counts %d terms of segments, most of which are gone", n)
	}
}

func (l *lexiconCache) bytes() (taken int64) {
	for _, k := range l.kept {
		if k.lex != nil {
			taken += k.lex.bytes.Load()
		}
	}
	return taken
}
