package migrate

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/snapshot"
	"golang.org/x/sync/errgroup"
)

// print is what is compared of a document: its key, its content, and its version.
type print struct {
	key     uint64 // of the id alone, which names a document within a shard
	place   uint64 // of the id and the routing, which name it within an index
	content uint64 // see contentOf
	version int64
	sum     document.Fingerprint // with the version in it
	failure *Failure             // of its transformation
}

// printOf is fault.Refused for a document of which no version is known: what was deleted, or
// is older than what others have written, could not be told.
func printOf(f *document.Fingerprinter, doc *document.Document) (print, error) {
	if doc.Versions == nil || doc.Versions.Version < 0 {
		return print{}, fault.WithNext(fault.New(fault.Refused, "the snapshot holds no version of document %q: what has changed cannot be brought in order", doc.ID), "migrate the index in full")
	}
	p := print{sum: f.Of(doc.ID, doc.Routing, doc.Source), version: doc.Versions.Version}
	p.place, p.content = p.sum.Key, contentOf(p.sum)
	p.key = f.Key(doc.ID, nil)
	p.sum.Key = p.key
	low := binary.BigEndian.Uint64(p.sum.Content[8:])
	binary.BigEndian.PutUint64(p.sum.Content[8:], low^scattered(uint64(p.version)))
	return p, nil
}

// scattered is a number whose bits all depend on all bits of v, so that versions that go up
// and down do not cancel each other out in sums.
func scattered(v uint64) uint64 {
	v = (v + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// pass reads what may have changed of one side, checksums included; wants narrows it down to
// documents with some keys, nil to none.
func (c *changing) pass(ctx context.Context, side reconcile.Side, each func(doc *document.Document, p print) error) error {
	shard, parts := c.newer, c.parts.Newer
	if side == reconcile.Found {
		shard, parts = c.older, c.parts.Older
	}
	if shard == nil {
		return nil
	}
	docs, err := shard.Documents(ctx, snapshot.ReadOptions{Versions: true, Parts: parts})
	if err != nil {
		return errDamaged(c.index, c.shard, err)
	}
	defer docs.Close()
	var f document.Fingerprinter
	for docs.Next() {
		doc := docs.Document()
		kept, failure := c.shape(doc, nil)
		if !kept {
			continue
		}
		p, err := printOf(&f, doc)
		p.failure = failure
		if err == nil {
			err = each(doc, p)
		}
		if err != nil {
			return err
		}
	}
	if err := docs.Err(); err != nil {
		return errDamaged(c.index, c.shard, err)
	}
	return nil
}

// groups reads both sides once, into tables of buckets, and gives the groups of buckets that
// are unequal from bucket next on. The newer snapshot is what is expected.
func (c *changing) groups(ctx context.Context, next uint32) ([]reconcile.Group, error) {
	tables := [2]*reconcile.Table{reconcile.NewTable(c.bits), reconcile.NewTable(c.bits)}
	group, ctx := errgroup.WithContext(ctx)
	for side, table := range tables {
		group.Go(func() error {
			return c.pass(ctx, reconcile.Side(side), func(_ *document.Document, p print) error {
				table.Add(p.sum)
				return nil
			})
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	c.compared = tables[reconcile.Expected].Total().Count
	return reconcile.Groups(tables[reconcile.Expected], tables[reconcile.Found], next, changeGroup)
}

// before is a document as the older snapshot holds it.
type before struct {
	place, content uint64
	version        int64
	met            bool // the newer snapshot holds it too, in the same place
}

// stands reports whether the target has exactly that document: its id, its routing and its source.
func (b *before) stands(there *standing) bool { return there.content == b.content }

// group brings the documents of one group of buckets to the target.
func (c *changing) group(ctx context.Context, g *reconcile.Group) error {
	was := map[uint64]*before{}
	err := c.pass(ctx, reconcile.Found, func(_ *document.Document, p print) error {
		if g.Wants(p.key) {
			was[p.key] = &before{place: p.place, content: p.content, version: p.version}
		}
		return nil
	})
	if err != nil {
		return err
	}
	out := c.newOutgoing(ctx, was, int64(g.From)<<32)
	err = c.pass(ctx, reconcile.Expected, func(doc *document.Document, p print) error {
		if !g.Wants(p.key) {
			return nil
		}
		old := was[p.key]
		if old != nil {
			old.met = old.place == p.place
			if old.content == p.content && old.version == p.version {
				return nil
			}
		}
		return out.write(doc, &p)
	})
	if err := out.end(err); err != nil {
		return err
	}
	return c.deletions(ctx, g, was)
}

// deletions deletes what the newer snapshot does not hold any more. Nothing is deleted on the
// word of a file whose checksum has not been reached.
func (c *changing) deletions(ctx context.Context, g *reconcile.Group, was map[uint64]*before) error {
	gone := 0
	for _, old := range was {
		if !old.met {
			gone++
		}
	}
	if gone == 0 {
		return nil
	}
	type name struct {
		was         *before
		id, routing string
	}
	names := make([]name, 0, gone)
	err := c.pass(ctx, reconcile.Found, func(doc *document.Document, p print) error {
		if old := was[p.key]; g.Wants(p.key) && old != nil && !old.met {
			names = append(names, name{old, string(doc.ID), string(doc.Routing)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	out := c.newOutgoing(ctx, was, 0)
	for _, n := range names {
		if err = out.remove(n.id, n.routing, n.was); err != nil {
			break
		}
	}
	return out.end(err)
}

// caresOf is with what care documents of a delta's shard are sent again, by their positions; nil
// where all was copied.
func (t *turn) caresOf(ctx context.Context, index string, n int, positions []int64) (map[int64]care, error) {
	if t.plan.since(index) == nil {
		return nil, nil
	}
	c, err := t.changingOf(ctx, index, n)
	if err != nil {
		return nil, err
	}
	prints, was := map[int64]print{}, map[uint64]*before{}
	err = c.pass(ctx, reconcile.Expected, func(doc *document.Document, p print) error {
		if _, wanted := slices.BinarySearch(positions, doc.Position.Number); wanted {
			prints[doc.Position.Number], was[p.key] = p, nil
		}
		return nil
	})
	if err == nil {
		err = c.pass(ctx, reconcile.Found, func(_ *document.Document, p print) error {
			if _, wanted := was[p.key]; wanted {
				was[p.key] = &before{place: p.place, content: p.content, version: p.version}
			}
			return nil
		})
	}
	cares := map[int64]care{}
	for position, p := range prints {
		cares[position] = c.care(&p, was[p.key])
	}
	return cares, err
}
