package migrate

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/reshelve/reshelve/cluster"
	"github.com/reshelve/reshelve/document"
	"github.com/reshelve/reshelve/drive"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/reconcile"
	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/work"
	"golang.org/x/sync/errgroup"
)

// Bounds of comparing one index.
const (
	compareAtOnce = 4       // shards, or slices of the target, that are read at the same time
	secondPass    = 100_000 // documents that the second pass holds
	examples      = 10      // of each class
)

// compare reads both sides of an index: first into tables of hash buckets, then, of buckets
// that are unequal, document by document. Each, when it is not nil, is told of every
// document that differs, of which the result names only some.
func (t *turn) compare(ctx context.Context, v Verified, each func(reconcile.Example) error) (*Verified, error) {
	idx, err := t.snapshot.Index(ctx, v.Index)
	if err != nil {
		return nil, err
	}
	if err := t.checkSame(ctx, v.Target); err != nil {
		return nil, err
	}
	run := reconcile.NewRun(t.expected(v.Index), secondPass, examples)
	scan, err := t.target.OpenScan(ctx, v.Target, cluster.ScanOptions{Slices: compareAtOnce})
	if err != nil {
		return nil, err
	}
	defer func() { _ = scan.Close(context.WithoutCancel(ctx)) }()
	steps := &stepCount{sides: t.sides, index: v.Index}
	both := compared{sides: t.sides, index: idx, scan: scan, steps: steps, partial: t.plan.AllowPartial, belongs: t.belongs(v.Index, v.Target)}
	since := t.plan.since(v.Index)
	if since != nil {
		if both.older, err = t.olderIndex(ctx, since, v.Index); err != nil {
			return nil, err
		}
	}
	for side := range run.Tables {
		run.Tables[side], err = both.sum(ctx, reconcile.Side(side), t.expected(v.Index))
		if err != nil {
			return nil, err
		}
		run.Summed[side] = true
	}
	v.Steps, both.steps = steps.sum, nil // of the first pass: the second reads some documents again
	expected, found := run.Tables[reconcile.Expected].Total(), run.Tables[reconcile.Found].Total()
	v.Expected, v.Found = expected.String(), found.String()
	groups, err := run.Groups()
	for _, g := range groups {
		if err != nil {
			break
		}
		var r reconcile.Report
		if r, err = both.look(ctx, g, each != nil); err != nil {
			break
		}
		for i := range r.Examples {
			if each != nil && err == nil {
				err = each(r.Examples[i])
			}
		}
		run.Looked(g, r)
	}
	v.Result = run.Report
	if err != nil || since != nil && since.Whole {
		return &v, err
	}
	existed, err := t.existed(ctx, v.Index)
	if existed {
		v.Others = v.Result.Counts[reconcile.Ghost]
	}
	return &v, err
}

// expected is how many documents an index is thought to hold.
func (t *turn) expected(index string) int64 {
	for i := range t.plan.Indices {
		if t.plan.Indices[i].Source == index {
			return t.plan.Indices[i].Documents
		}
	}
	return 0
}

// existed tells whether the target had the index before the movement.
func (t *turn) existed(ctx context.Context, index string) (bool, error) {
	e, err := drive.Read[entry](ctx, t.Driver, t.key("index", work.Safe(index)))
	if fault.Is(err, fault.NotFound) { // its record was lost: what else is there counts as a difference
		return false, nil
	}
	return e.Existed, err
}

// compared is an index of the snapshot and what is to be like it.
type compared struct {
	*sides
	index   *snapshot.Index
	scan    *cluster.Scan
	partial bool
	belongs func(*document.Document) bool // nil: all documents of the index
	older   *snapshot.Index               // what the target held before a delta; nil: it is none
	steps   *stepCount                    // counts what the transformation does; nil: nothing
}

// sum is the first pass over one side. Its parts are read at the same time.
func (s compared) sum(ctx context.Context, side reconcile.Side, documents int64) (*reconcile.Table, error) {
	var mu sync.Mutex
	whole := reconcile.NewTable(reconcile.Bits(documents))
	err := s.each(ctx, side, func() (func(reconcile.Entry) error, func() error) {
		t := reconcile.NewTable(reconcile.Bits(documents))
		add := func(e reconcile.Entry) error {
			if e.Unreadable {
				t.Suspect(e.Key)
			} else {
				t.Add(e.Fingerprint)
			}
			return nil
		}
		return add, func() error {
			mu.Lock()
			defer mu.Unlock()
			return whole.Merge(t)
		}
	})
	return whole, err
}

// look is the second pass: over both sides, for one group of buckets.
func (s compared) look(ctx context.Context, g reconcile.Group, all bool) (reconcile.Report, error) {
	var mu sync.Mutex
	limit := examples
	if all {
		limit = 2*secondPass + int(g.Documents)
	}
	keys := [2]map[uint64]bool{{}, {}} // of a delta
	c := reconcile.NewCollector(g, 3*secondPass+2*int(g.Documents))
	for _, side := range []reconcile.Side{reconcile.Expected, reconcile.Found} {
		err := s.each(ctx, side, func() (func(reconcile.Entry) error, func() error) {
			return func(e reconcile.Entry) error {
				if !g.Wants(e.Key) {
					return nil
				}
				mu.Lock()
				defer mu.Unlock()
				if s.older != nil {
					keys[side][e.Key] = true
				}
				return c.Add(side, e)
			}, func() error { return nil }
		})
		if err != nil {
			return reconcile.Report{}, err
		}
	}
	if s.older != nil {
		if err := s.gone(ctx, g, c, &keys); err != nil {
			return reconcile.Report{}, err
		}
	}
	return c.Compare(limit), nil
}

// gone tells the collector which documents of the target the older snapshot held, and the newer
// does not: they are not somebody else's, but deletions that did not come through. Keys are
// those of both sides.
func (s compared) gone(ctx context.Context, g reconcile.Group, c *reconcile.Collector, keys *[2]map[uint64]bool) error {
	var mu sync.Mutex
	before := compared{sides: s.sides, index: s.older, scan: s.scan, partial: true}
	return before.each(ctx, reconcile.Expected, func() (func(reconcile.Entry) error, func() error) {
		return func(e reconcile.Entry) error {
			if !g.Wants(e.Key) || keys[reconcile.Expected][e.Key] || !keys[reconcile.Found][e.Key] {
				return nil
			}
			e.Deleted, e.Unreadable, e.Where = true, false, ""
			e.Version++ // the deletion comes after what it deletes
			mu.Lock()
			defer mu.Unlock()
			return c.Add(reconcile.Expected, e)
		}, func() error { return nil }
	})
}

// each reads all documents of a side, in parts that are read at the same time: begin gives
// what takes the documents of a part, and what ends it.
func (s compared) each(ctx context.Context, side reconcile.Side, begin func() (add func(reconcile.Entry) error, end func() error)) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(compareAtOnce)
	parts := s.scan.Slices()
	if side == reconcile.Expected {
		parts = s.index.Shards
	}
	for n := range parts {
		group.Go(func() error {
			add, end := begin()
			err := s.part(ctx, side, n, add)
			if err == nil {
				err = end()
			}
			return err
		})
	}
	return group.Wait()
}

func (s compared) part(ctx context.Context, side reconcile.Side, n int, add func(reconcile.Entry) error) error {
	if side == reconcile.Found {
		return s.slice(ctx, n, add)
	}
	err := s.shard(ctx, n, add)
	if s.partial && fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return errDamaged(s.index.Name, n, err)
	}
	return nil
}

// shard reads a shard of the snapshot to its end, checksums included.
func (s compared) shard(ctx context.Context, n int, add func(reconcile.Entry) error) error {
	shard, err := s.index.Shard(ctx, n)
	if err != nil {
		return err
	}
	docs, err := shard.Documents(ctx, snapshot.ReadOptions{Versions: true})
	if err != nil {
		return err
	}
	defer docs.Close()
	var f document.Fingerprinter
	tally := s.steps.begin()
	for docs.Next() {
		doc := docs.Document()
		if s.belongs != nil && !s.belongs(doc) {
			continue
		}
		kept, failure := s.shape(doc, tally)
		if !kept {
			continue
		}
		e := entryOf(&f, doc)
		e.Where, e.Unreadable = doc.Position.String(), doc.Source == nil || failure != nil
		if err := add(e); err != nil {
			return err
		}
	}
	s.steps.end(tally)
	return docs.Err()
}

// slice reads a slice of the target.
func (s compared) slice(ctx context.Context, n int, add func(reconcile.Entry) error) error {
	slice := s.scan.Slice(n, "")
	var f document.Fingerprinter
	for {
		doc, err := slice.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = add(entryOf(&f, doc))
		}
		if err != nil {
			return err
		}
	}
}

func entryOf(f *document.Fingerprinter, doc *document.Document) reconcile.Entry {
	e := reconcile.Entry{Fingerprint: f.Of(doc.ID, doc.Routing, doc.Source), ID: string(doc.ID), Routing: string(doc.Routing), Version: reconcile.UnknownVersion}
	if doc.Versions != nil {
		e.Version = doc.Versions.Version
	}
	return e
}
