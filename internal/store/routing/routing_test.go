package routing_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"unicode/utf16"

	"github.com/twmb/murmur3"

	"github.com/reshelve/reshelve/internal/store/routing"
)

// The first seven are of Elasticsearch's own tests; the others are what its
// servers route by, characters beyond the basic plane among them.
func TestHashesAreThoseOfTheServers(t *testing.T) {
	for text, want := range map[string]uint32{
		"hell": 0x5a0cb7c3, "hello": 0xd7c31989, "hello w": 0x22ab2984, "hello wo": 0xdf0ca123, "hello wor": 0xe7744d61,
		"The quick brown fox jumps over the lazy dog": 0xe07db09c, "The quick brown fox jumps over the lazy cog": 0x4e63d2ad,
		"0": 0x16f162e0, "1": 0xf879cc33, "2": 0xede27053, "42": 0x2dc50d42, "doc-1": 0x029241ea,
		"é": 0x41e915ff, "日本": 0xa4a1f0f3, "😀": 0x56065e39, "": 0,
	} {
		if got := routing.Hash(text, 0); got != want {
			t.Errorf("%q: %08x, want %08x", text, got, want)
		}
		if got := routing.Hash([]byte(text), 0); got != want {
			t.Errorf("%q as bytes: %08x, want %08x", text, got, want)
		}
	}
}

func FuzzHash(f *testing.F) {
	f.Add("hello", uint32(0))
	f.Add("a😀b", uint32(1))
	f.Fuzz(func(t *testing.T, text string, seed uint32) {
		var bytes []byte
		for _, unit := range utf16.Encode([]rune(text)) {
			bytes = binary.LittleEndian.AppendUint16(bytes, unit)
		}
		if got, want := routing.Hash(text, seed), murmur3.SeedSum32(seed, bytes); got != want {
			t.Errorf("%q: %08x, want %08x", text, got, want)
		}
	})
}

func TestAKeyIsTheRoutingHashThenTheSecondHashOfTheID(t *testing.T) {
	if got := routing.KeyOf("doc-1", "", 0).String(); got[:8] != "029241ea" {
		t.Errorf("by id: %s", got)
	}
	byRouting := routing.KeyOf("doc-1", "42", 1)
	if byRouting>>32 != 0x2dc50d42 || uint32(byRouting) != routing.Hash("doc-1", 1) {
		t.Errorf("by routing: %s", byRouting)
	}
	var back routing.Key
	if err := back.UnmarshalText([]byte(byRouting.String())); err != nil || back != byRouting {
		t.Errorf("%v, %v", back, err)
	}
	for _, bad := range []string{"", "0", "00000000000000000", "000000000000000g", "+000000000000000"} {
		if _, err := routing.ParseKey(bad); err == nil {
			t.Errorf("%q is taken for a key", bad)
		}
	}
}

func TestPartitionedRoutingSpreadsOverTheRing(t *testing.T) {
	const partitions = 3
	places := routing.Places("tenant", partitions)
	met := map[int]int{}
	for i := range 3000 {
		key := routing.KeyOf(string(rune('a'+i%26))+string(rune(i)), "tenant", partitions)
		found := -1
		for p, place := range places {
			if place.Contains(key) {
				found = p
			}
		}
		met[found]++
	}
	if met[-1] > 0 || len(met) != partitions || min(met[0], met[1], met[2]) < 900 {
		t.Errorf("places %v hold %v", places, met)
	}
	eighths := map[int]bool{}
	for _, place := range places {
		for i, r := range routing.Equal(8) {
			if r.Contains(place.From) {
				eighths[i] = true
			}
		}
	}
	if len(eighths) != partitions {
		t.Errorf("three places fall into the eighths %v", eighths)
	}
}

func TestEqualRangesCoverEverythingAndNest(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 7, 64, 1000, 65536} {
		ranges := routing.Equal(n)
		if ranges[0].From != 0 || ranges[n-1].To != routing.MaxKey {
			t.Fatalf("%d ranges begin and end at %v and %v", n, ranges[0], ranges[n-1])
		}
		for i := 1; i < n; i++ {
			if ranges[i].From != ranges[i-1].To+1 || ranges[i].From > ranges[i].To {
				t.Fatalf("%d ranges: %v, then %v", n, ranges[i-1], ranges[i])
			}
		}
		for range 1000 {
			hash := rand.Uint32()
			if i := uint64(hash) * uint64(n) >> 32; !ranges[i].Contains(routing.Key(hash) << 32) {
				t.Fatalf("hash %08x is not in range %d of %d, %v", hash, i, n, ranges[i])
			}
		}
		if n > 7 {
			continue
		}
		for i, r := range routing.Equal(3 * n) {
			if whole, ok := r.Meet(ranges[i/3]); !ok || whole != r {
				t.Fatalf("part %v is not inside %v", r, ranges[i/3])
			}
		}
	}
}
