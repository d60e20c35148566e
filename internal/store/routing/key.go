package routing

import (
	"fmt"
	"strconv"

	"github.com/reshelve/reshelve/internal/fault"
)

// Key is an order key: the place of a document in the high half, the second hash
// of its id in the low half.
type Key uint64

// MaxKey is the largest order key.
const MaxKey Key = 1<<64 - 1

// KeyOf is the order key of a document. An empty routing means that the id
// routes. Partitions is routing_partition_size; 1 and 0 mean none.
func KeyOf(id, routing string, partitions int) Key {
	value := routing
	if value == "" {
		value = id
	}
	place := Hash(value, 0)
	if partitions > 1 {
		place += shift(Hash(id, 0), partitions)
	}
	return Key(place)<<32 | Key(Hash(id, 1))
}

// shift is how far partitioned routing moves an id on the ring of hashes: floorMod
// of its hash in steps of a p-th of the ring. The servers' own shifts, 0 to p-1,
// would hardly ever leave a range.
func shift(hash uint32, partitions int) uint32 {
	p := int64(partitions)
	m := (int64(int32(hash))%p + p) % p
	return uint32(m * (1 << 32 / p))
}

// Places are the ranges that hold the documents of one routing value: one, or
// one for each partition.
func Places(routing string, partitions int) []Range {
	hash := Hash(routing, 0)
	var places []Range
	for i := range max(partitions, 1) {
		place := hash + uint32(int64(i)*(1<<32/int64(max(partitions, 1))))
		places = append(places, Range{Key(place) << 32, Key(place)<<32 | 0xffffffff})
	}
	return places
}

// String is 16 hexadecimal digits.
func (k Key) String() string { return fmt.Sprintf("%016x", uint64(k)) }

// MarshalText is String, so that JSON holds what people read.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads 16 hexadecimal digits.
func (k *Key) UnmarshalText(text []byte) error {
	key, err := ParseKey(string(text))
	*k = key
	return err
}

// ParseKey reads what String prints.
func ParseKey(text string) (Key, error) {
	n, err := strconv.ParseUint(text, 16, 64)
	if err != nil || len(text) != 16 {
		err := fault.New(fault.Usage, "%q is not an order key", text)
		return 0, fault.WithNext(err, "write 16 hexadecimal digits, for example 8000000000000000")
	}
	return Key(n), nil
}

// Range is an interval of order keys, both ends inclusive. It is never empty when
// From <= To.
type Range struct {
	From Key `json:"from"`
	To   Key `json:"to"`
}

// Whole is the range of all keys.
var Whole = Range{0, MaxKey}

// Contains reports whether k lies in r.
func (r Range) Contains(k Key) bool { return r.From <= k && k <= r.To }

// Meet is what r and o have in common; false when that is nothing.
func (r Range) Meet(o Range) (Range, bool) {
	m := Range{max(r.From, o.From), min(r.To, o.To)}
	return m, m.From <= m.To
}

// Middle is the first key of the upper half of r, which has two keys or more.
func (r Range) Middle() Key { return r.From + (r.To-r.From)/2 + 1 }

// String is "from-to".
func (r Range) String() string { return r.From.String() + "-" + r.To.String() }

// Equal are the n ranges of equal size in which an index begins, in order: the
// range of hash h is (uint64(h)·n)>>32. N is at least 1 and at most 65536.
func Equal(n int) []Range {
	ranges := make([]Range, n)
	for i := range ranges {
		ranges[i] = Range{from(i, n), from(i+1, n) - 1}
	}
	return ranges
}

// from is the first key of range i of n: the least hash h with h·n >= i<<32. The
// end of the last wraps to 0, whose predecessor is MaxKey.
func from(i, n int) Key {
	least := (uint64(i)<<32 + uint64(n) - 1) / uint64(n)
	return Key(least << 32)
}
