package placement

import (
	"sort"

	"github.com/reshelve/reshelve/internal/store/routing"
)

// Weight is what documents at one order key, or near it, weigh.
type Weight struct {
	Key       routing.Key
	Documents int64
	Bytes     int64
}

// Weights tell where the documents of an index are: by key, in order. Nil is not known;
// none is an index without documents.
type Weights []Weight

// Load is the weight of one routing hash: what no cut between hashes can part.
type Load struct {
	Hash      uint32 `json:"hash"`
	Documents int64  `json:"documents"`
	Bytes     int64  `json:"bytes"`
}

// within are the weights in r.
func (w Weights) within(r routing.Range) Weights {
	first := sort.Search(len(w), func(i int) bool { return w[i].Key >= r.From })
	last := sort.Search(len(w), func(i int) bool { return w[i].Key > r.To })
	return w[first:last]
}

// in counts what is in r.
func (w Weights) in(r routing.Range) (documents, bytes int64) {
	for _, one := range w.within(r) {
		documents += one.Documents
		bytes += one.Bytes
	}
	return documents, bytes
}

// loads are the routing hashes in r with what they weigh, in order.
func (w Weights) loads(r routing.Range) (loads []Load) {
	for _, one := range w.within(r) {
		hash := uint32(one.Key >> 32)
		if n := len(loads); n == 0 || loads[n-1].Hash != hash {
			loads = append(loads, Load{Hash: hash})
		}
		last := &loads[len(loads)-1]
		last.Documents += one.Documents
		last.Bytes += one.Bytes
	}
	return loads
}
