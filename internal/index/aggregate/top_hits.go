package aggregate

import (
	"cmp"
	"slices"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// maxHits is the server's default of index.max_inner_result_window.
const maxHits = 100

// topHits is top_hits: a bucket keeps as many documents as are told.
type topHits struct {
	n       *node
	of      *TopHits
	scored  bool // hits are told with their scores
	at      search.Place
	buckets []*search.Best
	made    int // of them
}

func newTopHits(n *node, k *TopHits, scored *bool) worker {
	w := &topHits{n: n, of: k, scored: len(k.Sort) == 0 || k.TrackScores}
	*scored = *scored || w.scored || slices.ContainsFunc(k.Sort, func(s search.Sort) bool { return s.Field == "_score" })
	return w
}

func (w *topHits) prepare(all []search.Index) error {
	size := w.of.From + w.of.Size
	for i := range all {
		if most := cmp.Or(all[i].Limits.Inner, maxHits); size > most {
			return exception.New(exception.IllegalArgument, "Top hits result window is too large, the top hits aggregator [%s]'s from + size must be "+
				"less than or equal to: [%d] but was [%d]. This limit can be set by changing the [index.max_inner_result_window] index level setting.",
				w.n.name, most, size)
		}
	}
	if size == 0 {
		return exception.New(exception.IllegalArgument, "numHits must be > 0; please use TotalHitCountCollectorManager if you just need the total hit count")
	}
	return nil
}

func (w *topHits) begin(at search.Place) error { w.at = at; return nil }
func (w *topHits) end() error                  { return nil }
func (w *topHits) typed() string               { return "top_hits" }

// collect gives each bucket the docs of a run that are for it.
func (w *topHits) collect(b batch) error {
	zero := [1]float32{}
	for i := range b.docs {
		bucket := int(b.around[i])
		if bucket >= len(w.buckets) {
			w.buckets = grown(w.buckets, bucket+1)
		}
		if w.buckets[bucket] == nil {
			w.made++
			var err error
			if w.buckets[bucket], err = w.at.Context.Best(w.of.Sort, w.of.From+w.of.Size, w.scored, w.n.scope()); err != nil {
				return err
			}
		}
		scores := zero[:]
		if b.scores != nil {
			scores = b.scores[i : i+1]
		}
		if err := w.buckets[bucket].Take(w.at, []segment.Doc{b.docs[i]}, scores); err != nil {
			return err
		}
	}
	return nil
}

func (w *topHits) append(t *telling, dst []byte, around uint32) ([]byte, error) {
	found := search.Result{Scored: w.scored}
	if int(around) < len(w.buckets) && w.buckets[around] != nil {
		var err error
		if found, err = w.buckets[around].Result(); err != nil {
			return dst, err
		}
	}
	return t.hits(member(dst, "hits"), w.of, w.n.scope(), found)
}
