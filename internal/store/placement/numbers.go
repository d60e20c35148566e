package placement

import (
	"slices"
	"strconv"
	"strings"
)

// Numbers is a set of shards, ascending, as people read it and as --shards takes it: "0,1,5", and three
// or more in a row as "0-255".
func Numbers(shards []uint32) string {
	all := slices.Compact(slices.Sorted(slices.Values(shards)))
	var parts []string
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n] == all[n-1]+1 {
			n++
		}
		if n < 3 {
			n = 1
			parts = append(parts, number(all[0]))
		} else {
			parts = append(parts, number(all[0])+"-"+number(all[n-1]))
		}
		all = all[n:]
	}
	return strings.Join(parts, ",")
}

// NumbersOf are those of some shards of a placement.
func NumbersOf(shards []Shard) string {
	all := make([]uint32, len(shards))
	for i := range shards {
		all[i] = shards[i].Number
	}
	return Numbers(all)
}

func number(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
