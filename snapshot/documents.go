package snapshot

import (
	"context"
	"fmt"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/internal/lucene"
)

// ReadOptions say which documents of a shard are wanted, and what of them. The
// zero value reads all documents with their sources.
type ReadOptions struct {
	// From and To are shard-wide document numbers [From, To); To ≤ 0 stands for the
	// end, and nothing lies in a range that ends before it begins.
	From, To int64
	Versions bool // fill Document.Versions from doc values
	// RecoverySource takes the complete original where the index stores one
	// beside a disabled or filtered source.
	RecoverySource bool
	IDsOnly        bool // leave Document.Source nil; nothing counts as sourceless
	// Parts are the segments that are read, and what of them; nil: all of all.
	Parts map[string]Part
}

// Counts tell what a pass over a shard met. All count documents but the last.
type Counts struct {
	Documents   int64 // handed out, those without source included
	Sourceless  int64 // handed out with Source == nil although sources were wanted
	Recoverable int64 // their complete original lies beside as _recovery_source, and was not asked for
	Nested      int64 // children that belong to a document and are none
	Deleted     int64 // by live-docs files
	SoftDeleted int64 // by doc values; tombstones included
	SourceBytes int64 // of sources as handed out
}

// Documents is one pass over the live documents of a shard in commit order. It
// opens the next segment while it reads one. Not safe for concurrent use.
type Documents struct {
	ctx    context.Context
	cancel context.CancelFunc
	shard  *Shard
	opts   ReadOptions
	commit *lucene.Commit

	cur   *openSegment      // being read; nil between segments
	ahead chan *openSegment // the next one, as soon as it is open; nil at the end

	doc document.Document
	// impliedType is the type of documents that store none but have one: those of
	// indices that 6.x created, with their single mapping type.
	impliedType []byte
	bareNames   bool // sources may have names without quotation marks
	versions    document.Versions
	id          []byte // buffers that hold doc's values where they are not stored as such
	source      []byte
	childless   int   // nested documents since the last parent
	handed      int64 // first position handed out of the current segment; -1: none
	next        int64 // shard-wide number after the last document handed out
	end         int64 // shard-wide number after the last segment that was opened
	counts      Counts
	steps       int // documents passed, for looks at the context
	unreached   []string
	parts       []part // segments that were read in part, to the end of that part
	err         error
}

// Documents opens a pass over the shard. The pass must be closed.
func (sh *Shard) Documents(ctx context.Context, opts ReadOptions) (*Documents, error) {
	commit, err := sh.commit(ctx)
	if err != nil {
		return nil, err
	}
	return newDocuments(ctx, sh, commit, opts), nil
}

func newDocuments(ctx context.Context, sh *Shard, commit *lucene.Commit, opts ReadOptions) *Documents {
	ctx, cancel := context.WithCancel(ctx)
	d := &Documents{ctx: ctx, cancel: cancel, shard: sh, opts: opts, commit: commit, handed: -1, next: opts.From}
	d.doc.Index = sh.Index.Name
	if len(sh.Index.Types) == 1 {
		d.impliedType = []byte(sh.Index.Types[0])
	}
	d.bareNames = sh.Index.created.bareNames()
	d.openAhead(0, 0)
	return d
}

// openAhead opens segment i, whose first document has the shard-wide number
// base, in the background.
func (d *Documents) openAhead(i int, base int64) {
	d.ahead = nil
	if i >= len(d.commit.Segments) || (d.opts.To > 0 && base >= d.opts.To) {
		return
	}
	ahead := make(chan *openSegment, 1)
	d.ahead = ahead
	go func() { ahead <- d.shard.openSegment(d.ctx, d.commit.Segments[i], i, base, d.opts) }()
}

// Next moves to the next live document; false at the end or on an error, which
// Err tells.
func (d *Documents) Next() bool {
	for d.err == nil {
		if d.steps++; d.steps%stepsBetweenLooks == 0 && d.ctx.Err() != nil {
			d.err = d.ctx.Err() // long runs of deleted documents must be stoppable, too
			return false
		}
		switch {
		case d.cur == nil:
			if !d.nextSegment() {
				return false
			}
		case !d.cur.stored.Next():
			d.endSegment()
		case d.fill():
			return true
		}
	}
	return false
}

// stepsBetweenLooks is how many documents are passed between two looks at the
// context.
const stepsBetweenLooks = 1024

// nextSegment takes the segment that was opened ahead, and makes it the current
// one if any document of it is wanted; false at the end or on an error.
func (d *Documents) nextSegment() bool {
	if d.ahead == nil {
		d.checkFrom()
		return false
	}
	s := <-d.ahead
	d.ahead = nil
	if s.err != nil {
		d.err = s.err
		s.close()
		return false
	}
	d.end = s.base + int64(s.seg.MaxDoc)
	d.openAhead(s.index+1, d.end)
	if s.stored == nil { // nothing of it is wanted, or nothing lives
		d.count(s)
		d.next = max(d.next, s.base+int64(s.to))
		return true
	}
	d.cur, d.handed, d.childless = s, -1, 0
	return true
}

// checkFrom refuses a beginning behind the shard's last document. The number
// right after it is where a pass goes on that was stopped at the shard's end.
func (d *Documents) checkFrom() {
	if d.opts.To > 0 && d.opts.To <= d.opts.From {
		return // and d.end need not be the shard's
	}
	if d.opts.From > d.end {
		from := document.Position{Index: d.doc.Index, Shard: d.shard.Number, Number: d.opts.From}
		err := fault.New(fault.NotFound, "position %s lies beyond the end of the shard", from)
		if d.end == 0 {
			d.err = fault.WithNext(err, "the shard is empty")
			return
		}
		d.err = fault.WithNext(err, "the shard has the numbers 0 to %d", d.end-1)
	}
}

// endSegment closes the current segment after its last document, and keeps what
// could not be confirmed.
func (d *Documents) endSegment() {
	s := d.cur
	if err := s.finish(); err != nil {
		d.err = s.place(d.shard, err)
		return
	}
	if s.to == s.seg.MaxDoc && d.childless > 0 {
		d.err = s.place(d.shard, fault.New(fault.Corrupt, "the last %d documents are nested ones without the document that they belong to", d.childless))
		return
	}
	d.count(s)
	d.unreached = append(d.unreached, s.unreached()...)
	if !s.whole() {
		d.parts = append(d.parts, part{s.seg.Name, s.stored})
	}
	d.next = max(d.next, s.base+int64(s.to))
	d.handed = -1
	s.close()
	d.cur = nil
}

func (d *Documents) count(s *openSegment) {
	d.counts.Deleted += int64(s.live.Deleted)
	d.counts.SoftDeleted += int64(s.live.SoftDeleted)
}

// fill makes the current stored document d.doc; false when it is none to hand
// out (deleted or nested) or d.err is set.
func (d *Documents) fill() bool {
	s := d.cur
	n := s.stored.Doc()
	if s.live.Docs != nil && !s.live.Docs.Has(n) {
		return false
	}
	if s.part.Has != nil && !s.part.Has(n) {
		return false
	}
	values, err := s.stored.Values()
	if err == nil {
		err = d.take(values)
	}
	number := s.base + int64(n)
	if err != nil {
		d.err = s.place(d.shard, fault.At(err, fmt.Sprintf("document %d", n)))
		return false
	}
	s.met++
	if d.doc.ID == nil {
		d.counts.Nested++
		d.childless++
		return false
	}
	if d.err = d.takeVersions(n); d.err != nil {
		return false
	}
	d.childless = 0
	d.doc.Position = document.Position{Index: d.doc.Index, Shard: d.shard.Number, Number: number}
	d.counts.Documents++
	d.counts.SourceBytes += int64(len(d.doc.Source))
	if d.handed < 0 {
		d.handed = number
	}
	d.next = number + 1
	return true
}

func (d *Documents) takeVersions(n int) error {
	s := d.cur
	if s.columns == nil {
		return nil
	}
	d.versions = document.Versions{Version: -1, SeqNo: -1, PrimaryTerm: -1}
	err := s.columns.At(n, func(column int, value int64) {
		*s.versionSlot(&d.versions, column) = value
	})
	if err != nil {
		return s.place(d.shard, err)
	}
	d.doc.Versions = &d.versions
	return nil
}

// Document is the current document; valid until the next call of Next.
func (d *Documents) Document() *document.Document { return &d.doc }

// Err tells why Next returned false; nil at the end.
func (d *Documents) Err() error { return d.err }

// Counts tell what was met so far; Deleted and SoftDeleted are those of the
// segments that were read to their end.
func (d *Documents) Counts() Counts { return d.counts }

// Position is the shard-wide number at which another pass goes on after the
// last document handed out.
func (d *Documents) Position() int64 { return d.next }

// Confirmed is the shard-wide number before which every file was read to its end, and its
// checksum was right, when the pass began at a number that another has told so, or at 0: it is
// where the current segment begins.
func (d *Documents) Confirmed() int64 {
	if d.cur != nil {
		return d.cur.base
	}
	return d.end
}

// Unconfirmed tells the first and last position handed out since the last file
// whose checksum was right. A caller that meets an error or stops early has
// shown these documents on the word of no checksum.
func (d *Documents) Unconfirmed() (first, last int64, ok bool) {
	return d.handed, d.next - 1, d.handed >= 0
}

// Unreached names the files, below the shard, that were read but not to their
// checksum, because of From, To or an early Close.
func (d *Documents) Unreached() []string { return d.unreached }

// Close ends the pass and releases its streams.
func (d *Documents) Close() error {
	d.cancel()
	if d.cur != nil {
		d.unreached = append(d.unreached, d.cur.unreached()...)
		d.cur.close()
		d.cur = nil
	}
	if d.ahead != nil {
		s := <-d.ahead
		s.close()
		d.ahead = nil
	}
	return nil
}
