package control

import (
	"context"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot"
)

// Documents is one pass over the selection of a [ReadRequest]. Not safe for
// concurrent use.
type Documents struct {
	ctx      context.Context
	req      ReadRequest
	watch    Watch
	snapshot *snapshot.Snapshot
	from     *document.Position // where the request begins; nil: at the beginning

	indices []*snapshot.Index // of the selection
	index   int               // of the current index in indices
	shard   int               // current shard, or the next one to open

	pass   *snapshot.Documents // over the current shard; nil between shards
	ahead  *shardAhead         // the shard after the current one
	before int64               // source bytes of the shards that were read
	first  int                 // shard of the first index with which the pass begins
	opened int                 // shards opened or passed over

	totals    Totals
	stopped   bool // the limit was reached
	err       error
	unreached []Unreached
}

// Totals tell what a pass met so far.
type Totals struct {
	Documents   int64 // yielded
	SourceBytes int64 // of those and of what was passed over
	// Sourceless documents by index, in the order of the pass; only indices that
	// have some.
	Sourceless []Sourceless
}

// Sourceless counts what an index lacks.
type Sourceless struct {
	Index     string
	Documents int64 // without source
	// Recoverable documents have their complete original beside a disabled or
	// filtered source, and it was not asked for.
	Recoverable int64
}

// Unreached is a file that was read, but not to a checksum.
type Unreached struct {
	Index string
	Shard int
	File  string // in the shard's Lucene index
}

// Next moves to the next document; false at the end, at the limit, or on an
// error, which Err tells.
func (d *Documents) Next() bool {
	for d.err == nil && !d.stopped {
		if d.err = d.ctx.Err(); d.err != nil {
			return false // looked at here, since not every document is yielded
		}
		if d.req.Limit != nil && d.totals.Documents >= *d.req.Limit {
			d.stopped = true
			return false
		}
		if d.pass == nil {
			if !d.nextShard() {
				return false
			}
			continue
		}
		if !d.pass.Next() {
			d.endShard()
			continue
		}
		doc := d.pass.Document()
		if doc.Source == nil && !d.req.IDsOnly && !d.req.AllowMissingSource {
			if d.watch.Sourceless != nil {
				d.watch.Sourceless(doc)
			}
			continue
		}
		d.totals.Documents++
		return true
	}
	return false
}

// Document is the current document: a view, valid until the next call of Next.
func (d *Documents) Document() *document.Document { return d.pass.Document() }

// Err tells why Next returned false: nil at the end and at the limit. When all
// was read but documents without source were not allowed, it is fault.Refused.
func (d *Documents) Err() error { return d.err }

// nextShard opens the next shard of the selection; false at the end, and on an
// error.
func (d *Documents) nextShard() bool {
	for d.index < len(d.indices) {
		idx := d.indices[d.index]
		if d.shard >= idx.Shards {
			d.index, d.shard = d.index+1, 0
			continue
		}
		if f, absent := d.absent(idx.Name, d.shard); absent {
			d.passOver(f)
			continue
		}
		d.err = d.open(idx)
		if !d.mayLack(d.err) {
			return d.err == nil
		}
		d.passOver(Failure{Index: idx.Name, Shard: d.shard, Reason: d.err.Error()})
		d.err = nil
	}
	d.err = d.missingSources()
	return false
}

// absent finds the shard among those that the snapshot says it does not hold.
func (d *Documents) absent(index string, shard int) (Failure, bool) {
	f, absent := d.snapshot.Failure(index, shard)
	return Failure(f), absent
}

func (d *Documents) passOver(f Failure) {
	if d.watch.Absent != nil {
		d.watch.Absent(f)
	}
	d.shard++
	d.opened++
}

// open begins the pass over the current shard.
func (d *Documents) open(idx *snapshot.Index) error {
	opts := snapshot.ReadOptions{
		Versions: d.req.Versions, RecoverySource: d.req.UseRecoverySource, IDsOnly: d.req.IDsOnly,
	}
	sh, err := d.take(idx)
	if err != nil {
		return err
	}
	if d.from != nil && d.index == 0 && d.shard == d.from.Shard {
		opts.From = d.from.Number
	}
	d.pass, err = sh.Documents(d.ctx, opts)
	d.lookAhead()
	return err
}

// endShard closes the pass over the current shard at its end or on its error.
func (d *Documents) endShard() {
	if d.err = d.pass.Err(); d.err != nil {
		if d.ctx.Err() != nil {
			d.err = d.ctx.Err()
		}
		return // the pass stays, for Position and Unconfirmed
	}
	d.leaveShard()
	d.shard++
}

// leaveShard closes the current pass and keeps what it counted.
func (d *Documents) leaveShard() {
	d.pass.Close()
	for _, file := range d.pass.Unreached() {
		d.unreached = append(d.unreached, Unreached{Index: d.indices[d.index].Name, Shard: d.shard, File: file})
	}
	counts := d.pass.Counts()
	d.before += counts.SourceBytes
	d.addSourceless(counts)
	d.pass = nil
	d.opened++
}

func (d *Documents) addSourceless(c snapshot.Counts) {
	if d.req.IDsOnly || c.Sourceless+c.Recoverable == 0 {
		return
	}
	name := d.indices[d.index].Name
	list := d.totals.Sourceless
	if n := len(list); n == 0 || list[n-1].Index != name {
		list = append(list, Sourceless{Index: name})
	}
	last := &list[len(list)-1]
	last.Documents += c.Sourceless
	last.Recoverable += c.Recoverable
	d.totals.Sourceless = list
}

// missingSources is the error of a pass that was refused documents.
func (d *Documents) missingSources() error {
	if d.req.AllowMissingSource {
		return nil
	}
	var n, recoverable int64
	for _, s := range d.totals.Sourceless {
		n += s.Documents
		if s.Documents > 0 {
			recoverable += s.Recoverable
		}
	}
	if n == 0 {
		return nil
	}
	err := fault.New(fault.Refused, "%d documents have no _source and were not printed", n)
	if recoverable > 0 {
		return fault.WithNext(err, "the complete original of %d documents is kept beside the source: read it with --use-recovery-source", recoverable)
	}
	return fault.WithNext(err, "read them without their source with --allow-missing-source")
}

// Totals tell what was met so far.
func (d *Documents) Totals() Totals {
	t := d.totals
	t.SourceBytes = d.before
	if d.pass != nil {
		t.SourceBytes += d.pass.Counts().SourceBytes
	}
	return t
}

// Position is where another pass with the same request goes on: the number
// after the last document that was yielded or told to the Watch.
func (d *Documents) Position() (p document.Position, ok bool) {
	if d.index >= len(d.indices) {
		return p, false
	}
	p = document.Position{Index: d.indices[d.index].Name, Shard: d.shard}
	switch {
	case d.pass != nil:
		p.Number = d.pass.Position()
	case d.from != nil && d.index == 0 && d.shard == d.from.Shard:
		p.Number = d.from.Number
	}
	return p, d.shard < d.indices[d.index].Shards
}

// Unconfirmed are the first and last position that were yielded on the word of
// no checksum: their file's footer was not reached, or was wrong.
func (d *Documents) Unconfirmed() (first, last document.Position, ok bool) {
	if d.pass == nil {
		return first, last, false
	}
	from, to, ok := d.pass.Unconfirmed()
	first = document.Position{Index: d.indices[d.index].Name, Shard: d.shard, Number: from}
	last = first
	last.Number = to
	return first, last, ok
}

// Unreached are the files that were read but not to a checksum: the request
// began in their middle, the pass ended there, or they have none (Lucene before
// 4.8). Complete after Close.
func (d *Documents) Unreached() []Unreached { return d.unreached }

// Close ends the pass. It may be called more than once.
func (d *Documents) Close() error {
	if d.pass != nil {
		d.leaveShard()
	}
	d.ahead.drop()
	d.ahead = nil
	return nil
}
