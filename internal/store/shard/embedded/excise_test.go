package embedded

import (
	"testing"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	"pgregory.net/rapid"
)

// TestKeysThatNothingHas are on either side of any key that there may be, and are none.
func TestKeysThatNothingHas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := shard.ID{Index: rapid.Uint32().Draw(t, "index"), Number: rapid.Uint32().Draw(t, "shard")}
		row := appendName(nil, id.Index, routing.Key(rapid.Uint64().Draw(t, "key")), rapid.StringN(1, 5, 512).Draw(t, "id"))
		row = appendHead(row, head{Versions: document.Versions{SeqNo: rapid.Int64Min(0).Draw(t, "seqNo"), PrimaryTerm: 1, Version: 1}})
		keys := [][]byte{
			row, appendRunKey(nil, id, rapid.Int64Min(0).Draw(t, "first")), stateKey(id),
			holdKey(id, rapid.StringN(1, 5, 64).Draw(t, "hold")), manifestKey(id), maskKey(id, rapid.Uint64().Draw(t, "mask")),
		}
		for _, key := range keys {
			before, behind := unusedBefore(key), unusedBehind(key)
			if compare(before, key) >= 0 || compare(key, behind) >= 0 {
				t.Fatalf("% x is not between % x and % x", key, before, behind)
			}
			for _, unused := range [][]byte{before, behind} {
				if unused[0] == rowSpace && split(unused) < len(unused) {
					t.Fatalf("% x may be a row", unused)
				}
				if unused[0] == runSpace && len(unused) == runPrefix+1 {
					t.Fatalf("% x may be a run", unused)
				}
				if key[0] != rowSpace && key[0] != runSpace && len(unused) > shardPrefix {
					t.Fatalf("% x may be of a shard", unused)
				}
			}
		}
	})
}
