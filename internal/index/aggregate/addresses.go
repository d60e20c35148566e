package aggregate

import (
	"bytes"
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// addressRanges is ip_range.
type addressRanges struct {
	n      *node
	of     *AddressRanges
	values values
	read   terms
	ranges []addressRange // by their ends
	count  tally

	// of the view: the ordinals of each range, from the first to before the last
	from, to []uint32
	matches  []bool // whether what stands for a missing value lies in each
}

// addressRange is from ≤ v < to; nil: no end.
type addressRange struct {
	key      string
	from, to []byte
}

// newAddressRanges reads the addresses, as the server does before it looks at indices.
func newAddressRanges(n *node, k *AddressRanges, o Options) (worker, error) {
	w := &addressRanges{n: n, of: k, values: values{of: k.Values, now: o.Now}}
	for _, asked := range k.Ranges {
		r, err := asked.resolve()
		if err != nil {
			return nil, err
		}
		w.ranges = append(w.ranges, r)
	}
	slices.SortStableFunc(w.ranges, func(a, b addressRange) int {
		return cmp.Or(bytes.Compare(a.from, b.from), compareEnds(a.to, b.to))
	})
	return w, nil
}

// compareEnds puts no end behind all.
func compareEnds(a, b []byte) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return bytes.Compare(a, b)
}

// Check reads the addresses. The error is the server's.
func (r AddressRange) Check() error {
	_, err := r.resolve()
	return err
}

func (r AddressRange) resolve() (out addressRange, err error) {
	out.key = r.Key
	if r.Mask != "" {
		if out.from, out.to, err = network(r.Mask); out.key == "" {
			out.key = r.Mask
		}
		return out, err
	}
	for _, end := range []struct {
		text string
		into *[]byte
	}{{r.From, &out.from}, {r.To, &out.to}} {
		if end.text == "" {
			continue
		}
		a, err := address(end.text)
		if err != nil {
			return out, err
		}
		*end.into = a[:]
	}
	if out.key == "" {
		out.key = endText(out.from) + "-" + endText(out.to)
	}
	return out, nil
}

func endText(end []byte) string {
	if end == nil {
		return "*"
	}
	return addressText(end)
}

// addressText is an address in the form of RFC 5952, IPv4 where it is one.
func addressText(term []byte) string {
	a, ok := netip.AddrFromSlice(term)
	if !ok {
		return ""
	}
	return a.Unmap().String()
}

// network is the range of a mask: its first address and the one behind its last. An end
// that all or no addresses are below is none.
func network(mask string) (from, to []byte, err error) {
	text, length, ok := strings.Cut(mask, "/")
	if !ok {
		return nil, nil, exception.New(exception.IllegalArgument, "Expected [ip/prefix] but was [%s]", mask)
	}
	a, err := address(text)
	if err != nil {
		return nil, nil, err
	}
	bits, bad := strconv.Atoi(length)
	if bad != nil {
		return nil, nil, exception.NotNumber(length)
	}
	most := 128
	if !strings.Contains(text, ":") {
		most = 32
	}
	if bits < 0 || bits > most {
		return nil, nil, exception.New(exception.IllegalArgument, "Illegal prefix length [%d] in [%s]. Must be 0-32 for IPv4 ranges, 0-128 for IPv6 ranges", bits, mask)
	}
	bits += 128 - most
	low, high := a, a
	for i := bits; i < 128; i++ {
		low[i/8] &^= 0x80 >> (i % 8)
		high[i/8] |= 0x80 >> (i % 8)
	}
	if low != ([16]byte{}) {
		from = low[:]
	}
	for i := 15; i >= 0; i-- {
		if high[i]++; high[i] != 0 {
			return from, high[:], nil
		}
	}
	return from, nil, nil
}

func (w *addressRanges) prepare(all []search.Index) error {
	w.read.values = &w.values
	if len(w.ranges) == 0 {
		return exception.New(exception.IllegalArgument, "No [ranges] specified for the [%s] aggregation", w.n.name)
	}
	w.values.of.Type = "ip"
	if err := w.values.resolve(w.n.kind, all, takesTexts, false); err != nil {
		return err
	}
	for _, r := range w.ranges {
		term := w.values.missingText
		w.matches = append(w.matches, (r.from == nil || bytes.Compare(term, r.from) >= 0) && (r.to == nil || bytes.Compare(term, r.to) < 0))
	}
	return nil
}

// begin finds the ordinals of the ends.
func (w *addressRanges) begin(at search.Place) error {
	n := uint32(w.read.begin(at))
	w.from, w.to = clearTo(w.from, len(w.ranges)), clearTo(w.to, len(w.ranges))
	if w.read.column == nil {
		return nil
	}
	rank := func(end []byte, none uint32) uint32 {
		if end == nil {
			return none
		}
		if t := w.read.field.From(end); t.Valid() {
			return t.Entry().Ord
		}
		return n
	}
	for i, r := range w.ranges {
		w.from[i], w.to[i] = rank(r.from, 0), rank(r.to, n)
	}
	return nil
}

func (w *addressRanges) end() error    { return nil }
func (w *addressRanges) typed() string { return "ip_range" }

func (w *addressRanges) in(ord uint32, k int) bool {
	if ord == absentTerm {
		return w.matches[k]
	}
	return ord >= w.from[k] && ord < w.to[k]
}

func (w *addressRanges) collect(b batch) error {
	at, ords := w.read.read(b.docs)
	for j, ord := range ords {
		i := at[j]
		for k := range w.ranges {
			if !w.in(ord, k) || j > 0 && at[j-1] == i && w.in(ords[j-1], k) {
				continue // once a doc
			}
			bucket, err := w.n.inside(b.around[i], len(w.ranges), k)
			if err != nil {
				return err
			}
			w.count.add(bucket, 1)
			if err := w.n.subs.add(&b, i, bucket); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *addressRanges) append(t *telling, dst []byte, around uint32) ([]byte, error) {
	if around == emptyBucket { // the server tells no range of a gap
		if w.of.Keyed {
			return append(member(dst, "buckets"), "{}"...), nil
		}
		return append(member(dst, "buckets"), "[]"...), nil
	}
	shape := rangeShape{n: len(w.ranges), keyed: w.of.Keyed, key: func(i int) string { return w.ranges[i].key }}
	return shape.append(t, dst, w.n, &w.count, around, func(dst []byte, i int) []byte {
		if from := w.ranges[i].from; from != nil {
			dst = appendAddress(member(dst, "from"), from)
		}
		if to := w.ranges[i].to; to != nil {
			dst = appendAddress(member(dst, "to"), to)
		}
		return dst
	})
}

// clearTo gives n zeros.
func clearTo(s []uint32, n int) []uint32 {
	if cap(s) < n {
		return make([]uint32, n)
	}
	s = s[:n]
	clear(s)
	return s
}
