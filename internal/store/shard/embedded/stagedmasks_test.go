package embedded_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/shardtest"
)

// TestWhatIsStagedIsReadOnce: shards that are opened while somebody looks at what was staged for
// them share its masks, which took a while to read, and requests wait meanwhile; and those that
// are opened later read the same ones.
func TestWhatIsStagedIsReadOnce(t *testing.T) {
	ctx := t.Context()
	r := newReshaped()
	if err := r.open(ctx, vfs.NewMem()); err != nil {
		t.Fatal(err)
	}
	defer r.close()
	for n := range 100 {
		id := fmt.Sprint(n)
		op := shard.Op{Key: routing.KeyOf(id, "", 0), ID: id, Condition: document.Always, Source: []byte("w n")}
		if result := r.shards[0].Write(ctx, 1, []shard.Op{op})[0]; result.Err != nil {
			t.Fatal(result.Err)
		}
	}
	if _, err := r.shards[0].Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	const third = 1 << 62
	to := []shard.Incarnation{{Number: 0, Term: 2, Range: routing.Range{From: 0, To: third - 1}},
		{Number: 1, Term: 2, Range: routing.Range{From: third, To: 2*third - 1}},
		{Number: 2, Term: 2, Range: routing.Range{From: 2 * third, To: ^routing.Key(0)}}}
	staged, err := r.engine.Stage(ctx, 7, []uint32{0}, to)
	if err != nil {
		t.Fatal(err)
	}
	r.place(shardtest.HandedOver(r.placed, []uint32{0}, to))
	shared := func(number uint32) (same, other int) {
		reader, err := r.shards[number].Acquire(ctx, 2)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		views := reader.Views()
		if len(views) == 0 || len(views) != len(staged.To[number]) {
			t.Fatalf("shard %d shows %d segments, and %d were staged", number, len(views), len(staged.To[number]))
		}
		for i, v := range views {
			was := staged.To[number][i].Hidden
			if was == nil || v.Hidden == nil || fmt.Sprint(v.Hidden.Words()) != fmt.Sprint(was.Words()) {
				t.Errorf("shard %d does not hide what was staged", number)
			} else if v.Hidden == was {
				same++
			} else {
				other++
			}
		}
		return same, other
	}
	if err := r.openShard(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if same, other := shared(1); same == 0 || other > 0 {
		t.Errorf("of the masks %d are shared, and %d were read again", same, other)
	}
	if err := r.shards[0].Reload(ctx); err != nil {
		t.Fatal(err)
	}
	if same, other := shared(0); same == 0 || other > 0 {
		t.Errorf("of the masks of the shard that goes on %d are shared, and %d were read again", same, other)
	}
	if err := staged.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.openShard(ctx, 2); err != nil {
		t.Fatal(err)
	}
	if same, other := shared(2); same > 0 || other == 0 {
		t.Errorf("of masks that nobody looks at any more %d were kept", same)
	}
}
