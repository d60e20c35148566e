package control

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot"
)

// ReadRequest asks for the documents of a snapshot, in the order of index name
// (bytes), shard, segment and document number.
type ReadRequest struct {
	Selection
	From  string // first position wanted, index/shard/number; "": the beginning
	Limit *int64 // documents at most; nil: all

	Versions           bool // fill Document.Versions where the files hold them
	IDsOnly            bool // no sources; nothing counts as sourceless
	UseRecoverySource  bool // take _recovery_source where it lies beside
	AllowMissingSource bool // yield documents without source too
	Typeless           bool // refuse indices whose documents only their type tells apart
}

// Watch is told what a pass meets besides the documents that it yields. A nil
// function is not called. The functions run inside Next and Read.
type Watch struct {
	// Sourceless is told of a document that has no source and is not yielded
	// because the request does not allow it. The document is a view.
	Sourceless func(*document.Document)
	// Absent is told of a shard that is passed over because the snapshot, which
	// is not complete, does not hold it; of a whole index with shard -1.
	Absent func(Failure)
	// Filtered is told, before the first document, of an index whose mapping
	// keeps sources incomplete, and why; not when recovery sources are wanted.
	Filtered func(index, why string)
}

// Read checks the request and opens a pass. Everything that it refuses, it
// refuses here, before the first document. The pass must be closed.
func (c *Control) Read(ctx context.Context, req ReadRequest, watch Watch) (*Documents, error) {
	from, err := req.check()
	if err != nil {
		return nil, err
	}
	chosen, err := c.choose(ctx, req.Selection)
	names := chosen.names
	if err == nil && from != nil {
		names, err = beginAt(names, chosen.snapshot.Indices, *from)
	}
	if err != nil {
		return nil, err
	}
	d := &Documents{ctx: ctx, req: req, watch: watch, snapshot: chosen.snapshot, from: from}
	if d.indices, err = d.load(names); err != nil {
		return nil, err
	}
	return d, d.checkStart()
}

// check refuses what makes no sense whatever the repository holds.
func (r *ReadRequest) check() (*document.Position, error) {
	if r.Limit != nil && *r.Limit < 0 {
		return nil, fault.New(fault.Usage, "the limit %d is negative", *r.Limit)
	}
	if r.From == "" {
		return nil, nil
	}
	from, err := document.ParsePosition(r.From)
	return &from, err
}

// beginAt drops the names before the position's index, which must be one of
// them.
func beginAt(names, all []string, from document.Position) ([]string, error) {
	for i, name := range names {
		if name == from.Index {
			return names[i:], nil
		}
	}
	for _, name := range all {
		if name == from.Index {
			err := fault.New(fault.Usage, "position %s is in an index that was not asked for", from)
			return nil, fault.WithNext(err, "ask for one of %s, or for more indices", listed(names))
		}
	}
	err := fault.New(fault.NotFound, "position %s: the snapshot holds no index %q", from, from.Index)
	return nil, fault.WithNext(err, "it holds %s", listed(all))
}

// load reads the metadata of the named indices, several at a time, and refuses
// those whose documents cannot be read.
func (d *Documents) load(names []string) ([]*snapshot.Index, error) {
	const parallel = 8
	loaded := make([]*snapshot.Index, len(names))
	absent := make([]error, len(names))
	group, ctx := errgroup.WithContext(d.ctx)
	group.SetLimit(parallel)
	for i, name := range names {
		group.Go(func() (err error) {
			loaded[i], err = d.snapshot.Index(ctx, name)
			if d.mayLack(err) {
				absent[i], err = err, nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i, why := range absent {
		if why != nil && d.watch.Absent != nil {
			d.watch.Absent(Failure{Index: names[i], Shard: -1, Reason: why.Error()})
		}
	}
	loaded = slices.DeleteFunc(loaded, func(idx *snapshot.Index) bool { return idx == nil })
	if len(loaded) == len(d.snapshot.Indices) {
		if err := d.snapshot.CheckShards(loaded); err != nil {
			return nil, err
		}
	}
	if err := refuseElsewhere(loaded); err != nil {
		return nil, err
	}
	if d.req.Typeless {
		if err := refuseTypes(loaded); err != nil {
			return nil, err
		}
	}
	if !d.req.IDsOnly && !d.req.UseRecoverySource {
		if err := refuseSynthetic(loaded); err != nil {
			return nil, err
		}
	}
	d.tellFiltered(loaded)
	return loaded, nil
}

// tellFiltered tells the Watch which indices keep incomplete sources, and drops
// the mappings: a pass needs none, and a snapshot may hold thousands of large
// ones.
func (d *Documents) tellFiltered(indices []*snapshot.Index) {
	for _, idx := range indices {
		why, is := idx.SourceFiltered()
		if is && !d.req.IDsOnly && !d.req.UseRecoverySource && d.watch.Filtered != nil {
			d.watch.Filtered(idx.Name, why)
		}
		idx.Mappings = nil
	}
}

// mayLack tells whether the error says that a snapshot that is not complete, and
// was allowed, lacks something.
func (d *Documents) mayLack(err error) bool {
	return fault.Is(err, fault.NotFound) && d.req.AllowPartial && d.snapshot.State != snapshot.Success
}

// checkStart refuses a first position that does not exist.
func (d *Documents) checkStart() error {
	if d.from == nil || len(d.indices) == 0 || d.indices[0].Name != d.from.Index {
		return nil
	}
	idx := d.indices[0]
	if d.from.Shard >= idx.Shards {
		err := fault.New(fault.NotFound, "position %s: the index has no shard %d", d.from, d.from.Shard)
		return fault.WithNext(err, "its shards are 0 to %d", idx.Shards-1)
	}
	d.shard, d.first = d.from.Shard, d.from.Shard
	return nil
}
