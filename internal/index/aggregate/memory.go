package aggregate

import "github.com/reshelve/reshelve/internal/opensearch/exception"

// memory bounds what the buckets of a request take. The number of values does not: a
// field with a thousand values in one document is a billion buckets, three levels deep.
// How many of them are told is bounded elsewhere, and too late for that.
type memory struct {
	most, taken int64
	stop        func() error // why the search is to end; nil before its first view
	steps       int
}

// defaultMemory is the limit when the options tell none, in bytes.
const defaultMemory = 128 << 20

// tooMuch is the HTTP status of what no search will ever have room for. That of the type, 429,
// would have its client try again.
const tooMuch = 413

// eachNode is what an aggregation takes before it has buckets: what it reads of a block of
// docs, above all.
const eachNode = 8 << 10

// sized are workers that know how much they take for buckets: bytes, nearly. It must take
// a short time: it is asked after each batch.
type sized interface{ size() int64 }

// node adds an aggregation.
func (m *memory) node() error {
	if m.taken += eachNode; m.taken > m.most {
		return m.tooLarge()
	}
	return nil
}

// step is one of very many that a document may take. Once in a while it looks whether
// anybody still waits for the answer.
func (m *memory) step() error {
	if m.steps++; m.steps&(1<<12-1) != 0 || m.stop == nil {
		return nil
	}
	return m.stop()
}

// weigh adds what a node has come to take since it was weighed.
func (m *memory) weigh(n *node) error {
	w, ok := n.worker.(sized)
	if !ok {
		return m.step()
	}
	size := w.size()
	m.taken += size - n.weight
	n.weight = size
	if m.taken > m.most {
		return m.tooLarge()
	}
	return m.step()
}

func (m *memory) tooLarge() error {
	return exception.New(exception.CircuitBreaking, "Data too large: the buckets of the aggregations take more than the limit of [%d] bytes; "+
		"ask for fewer of them, or with a query that finds less", m.most).WithStatus(tooMuch)
}

// inside is the number of the i-th of several buckets in one around. These numbers have
// gaps, and everything below is kept in arrays by number: before they grow, it looks
// whether such arrays may be.
func (n *node) inside(around uint32, several, i int) (uint32, error) {
	bucket := uint64(around)*uint64(several) + uint64(i)
	if each := uint64(8 + 40*len(n.subs.nodes)); bucket >= uint64(n.memory.most)/each {
		return 0, n.memory.tooLarge()
	}
	return uint32(bucket), nil
}

func (n *numbering) size() int64 {
	return int64(4*cap(n.around) + 8*cap(n.keys) + 4*len(n.table) + 4*cap(n.firsts) + 4*cap(n.sorted))
}

func (t tally) size() int64 { return int64(8 * cap(t)) }

func (p *paged) size() int64 { return int64(p.made*4*len(page{}) + 8*cap(p.pages)) }

func (s *single) size() int64        { return s.count.size() }
func (w *filtersWorker) size() int64 { return w.count.size() }
func (w *rangesWorker) size() int64  { return w.count.size() }
func (w *addressRanges) size() int64 { return w.count.size() }
func (w *valueCount) size() int64    { return w.count.size() }
func (w *geoCentroid) size() int64   { return w.count.size() + int64(16*cap(w.lat)+16*cap(w.lon)) }
func (w *statistic) size() int64     { return int64(48*cap(w.moments) + 16*cap(w.squares)) }
func (w *topHits) size() int64       { return int64(8*cap(w.buckets) + 512*w.made) }

func (w *cardinality) size() int64 {
	size := int64(8*cap(w.buckets)+8*cap(w.hashes)) + w.taken
	for _, l := range w.seen.of {
		size += int64(8 * cap(l.by))
	}
	return size
}

func (w *percentilesWorker) size() int64 { return int64(8*cap(w.digests)) + w.taken }

func (w *compositeWorker) size() int64 { return w.count.size() + int64(128*len(w.kept)) }

func (w *histogramWorker[K]) size() int64 { return w.buckets.size() + w.count.size() }

func (w *termsWorker) size() int64 {
	size := w.buckets.size() + w.count.size()
	if k, ok := w.keys.(*textKeys); ok {
		size += k.numbers.size() + k.buckets.size() + int64(24*cap(k.texts)+48*len(k.ids)) + k.arena.kept
		for _, v := range k.tallies.views {
			size += v.docs.size()
		}
		for _, l := range k.tallies.lexica {
			size += int64(8 * cap(l.docs))
		}
		for _, l := range k.seen.of {
			size += int64(4 * cap(l.by))
		}
	}
	return size
}

func (d *distinct) size() int64 { return int64(64 + 8*len(d.exact.table) + len(d.registers)) }

func (d *digest) size() int64 { return int64(112 + 8*(cap(d.means)+cap(d.weights)+cap(d.marks))) }
