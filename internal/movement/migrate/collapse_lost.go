package migrate

import (
	"context"
	"encoding/binary"
	"strconv"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// collapsed are documents of an index of the snapshot that are not brought: its mapping types become one index, and a
// document of another type takes their place there. By shard, a bit for each position. Nil: there are none.
type collapsed map[int][]uint64

// has is for documents of that index.
func (c collapsed) has(doc *document.Document) bool {
	bits, at := c[doc.Position.Shard], doc.Position.Number
	return at>>6 < int64(len(bits)) && bits[at>>6]&(1<<(at&63)) != 0
}

func (c collapsed) add(r *idRecord) {
	bits, at := c[r.shard()], int(r.position())
	if more := at>>6 + 1 - len(bits); more > 0 {
		bits = append(bits, make([]uint64, more)...)
	}
	bits[at>>6] |= 1 << (at & 63)
	c[r.shard()] = bits
}

// collapsedOf are those of an index, which the first turn of the process that needs them finds out. Every process finds the
// same ones, so that copies, comparisons and repairs agree on them, in whatever order documents are sent.
func (t *turn) collapsedOf(ctx context.Context, name string) (collapsed, error) {
	if t.plan.Metadata.Types != translate.MergeTypes {
		return nil, nil
	}
	select {
	case t.collapsing <- struct{}{}:
		defer func() { <-t.collapsing }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if c, known := t.collapsed[name]; known {
		return c, nil
	}
	idx, err := t.snapshot.Index(ctx, name)
	if err != nil || len(idx.Types) < 2 {
		return nil, err
	}
	r := &idReading{sides: t.sides, index: idx, partial: t.plan.AllowPartial}
	if r.place, err = placesIn(ctx, t.target, t.targetOf(name)); err != nil || r.place == nil {
		return nil, err
	}
	c, err := r.giveWay(ctx)
	if err != nil {
		return nil, err
	}
	if t.collapsed == nil {
		t.collapsed = map[string]collapsed{}
	}
	t.collapsed[name] = c
	return c, nil
}

// giveWay finds out which documents do: of those of several types with one id and one place the one of the highest
// version stays, and of equal versions the one that the snapshot holds last.
func (r *idReading) giveWay(ctx context.Context) (collapsed, error) {
	s := &spill{}
	defer s.close()
	if err := r.all(ctx, func(record idRecord, _ []byte) error { return s.add(record) }); err != nil {
		return nil, err
	}
	c := collapsed{}
	return c, s.groups(func(group []idRecord) { // ordered by their places
		for len(group) > 0 {
			n, several := 1, false
			for ; n < len(group) && group[n].place == group[0].place; n++ {
				several = several || group[n].kind() != group[0].kind()
			}
			if several {
				c.addBut(group[:n])
			}
			group = group[n:]
		}
	})
}

// addBut adds all but the one that stays.
func (c collapsed) addBut(place []idRecord) {
	const held = 1<<48 - 1 // without the type, whose number is another in every process
	stays := 0
	for i := range place {
		a, b := &place[i], &place[stays]
		if a.version > b.version || a.version == b.version && a.at&held > b.at&held {
			stays = i
		}
	}
	for i := range place {
		if i != stays {
			c.add(&place[i])
		}
	}
}

// placesIn gives the place of a document in an index of the target, of which there is one for each id: in a store of ours
// that is the first half of the order key, elsewhere a shard. Nil where the target has no such index, so that nothing is brought.
func placesIn(ctx context.Context, target *cluster.Client, index string) (func(id, routed []byte) []byte, error) {
	server, err := target.Server(ctx)
	if err != nil {
		return nil, err
	}
	settings, err := target.Settings(ctx, index)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, nil
	case fault.Is(err, fault.Unauthorised): // to compare, it is enough to read
		return byRouting, nil
	case err != nil:
		return nil, err
	}
	number := func(name string, fallback int) int {
		if text, is := settings[name].(string); is {
			if n, err := strconv.Atoi(text); err == nil && n > 0 {
				return n
			}
		}
		return fallback
	}
	partitions := number("index.routing_partition_size", 1)
	if server.Product == cluster.Reshelve {
		return func(id, routed []byte) []byte {
			return binary.BigEndian.AppendUint32(nil, uint32(routing.KeyOf(string(id), string(routed), partitions)>>32))
		}, nil
	}
	for _, resized := range []string{"index.resize.source.name", "index.shrink.source.name"} {
		if settings[resized] != nil { // how documents were spread before is not in the settings
			return byRouting, nil
		}
	}
	shards := number("index.number_of_shards", 1)
	spread := number("index.number_of_routing_shards", routing.Spread(shards))
	return func(id, routed []byte) []byte {
		return binary.BigEndian.AppendUint32(nil, uint32(routing.ServerShard(string(id), string(routed), partitions, shards, spread)))
	}, nil
}
