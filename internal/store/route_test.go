package store

import (
	"testing"

	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store/placement"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// TestWritesToOneDocumentGoOneWay: shards that change between two items of one bulk do not
// send the first to an old shard and the second to a new one, where it would be overtaken.
func TestWritesToOneDocumentGoOneWay(t *testing.T) {
	ctx := t.Context()
	s, err := Open(ctx, coordmemory.New(), shardmemory.New(shardmemory.Options{}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.CreateIndex(ctx, "i", []byte(`{"aliases":{"a":{}}}`)); err != nil {
		t.Fatal(err)
	}
	b := &bulk{store: s, ctx: ctx}
	r := routes{map[string]target{}, map[uint32]*index{}}
	var queues []queue
	for _, name := range []string{"i", "a"} { // an alias, as the second is looked up anew
		it := &item{write: &document.Write{Target: name, ID: "1", Source: []byte(`{}`), Condition: document.Always}, answer: &document.Written{}}
		q, err := b.queueOf(it, r)
		if err != nil {
			t.Fatal(err)
		}
		queues = append(queues, q)
		s.publish(func(v *view) { // as when somebody else has found it stale
			moved := *v.indices["i"]
			moved.placement = placement.New(moved.entry.Number, 1, placement.Local, placement.Change{})
			moved.placement.Version, moved.placement.Shards[0].Epoch = 2, 2
			v.indices["i"] = &moved
		})
	}
	if queues[0].shard != queues[1].shard || queues[0].epoch != queues[1].epoch {
		t.Errorf("the first goes by epoch %d, the second by %d", queues[0].epoch, queues[1].epoch)
	}
}
