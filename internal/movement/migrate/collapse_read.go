package migrate

import (
	"context"
	"slices"
	"sync"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot"
	"golang.org/x/sync/errgroup"
)

// idRecord stands for a document while ids are compared: the hash of its id, that of its id and its place, of which an id has
// one document, and its version. At is where the snapshot holds it: the number of its type, of its shard, and in the shard.
type idRecord struct {
	id, place uint64
	version   int64
	at        uint64
}

func (r *idRecord) kind() uint64     { return r.at >> 48 }
func (r *idRecord) shard() int       { return int(r.at >> 32 & 0xffff) }
func (r *idRecord) position() uint32 { return uint32(r.at) }

// idReading reads the ids of an index.
type idReading struct {
	*sides
	index   *snapshot.Index
	partial bool // shards may be missing
	// place is the place of a document, in a form that ids have no part in.
	place func(id, routing []byte) []byte
	told  func(int64) // how many were read; nil: nobody

	mu    sync.Mutex // of what follows, and of the calls of take
	types []string   // by their number in records
	read  int64
}

// toldEvery is how many documents are read between two words about it.
const toldEvery = 4096

// all hands a record of each document to take, one at a time, until it returns an error.
func (r *idReading) all(ctx context.Context, take func(record idRecord, id []byte) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(compareAtOnce)
	for n := range r.index.Shards {
		group.Go(func() error { return r.readShard(ctx, n, take) })
	}
	return group.Wait()
}

func (r *idReading) readShard(ctx context.Context, n int, take func(idRecord, []byte) error) error {
	sh, err := r.index.Shard(ctx, n)
	if r.partial && fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return errDamaged(r.index.Name, n, err)
	}
	// sources are needed only where the transformation looks at them
	docs, err := sh.Documents(ctx, snapshot.ReadOptions{IDsOnly: r.shapes[r.index.Name] == nil, Versions: true})
	if err != nil {
		return errDamaged(r.index.Name, n, err)
	}
	defer docs.Close()
	var keys document.Fingerprinter
	for docs.Next() {
		doc := docs.Document()
		if kept, _ := r.shape(doc, nil); !kept {
			continue
		}
		record := idRecord{id: keys.Key(doc.ID, nil), at: uint64(n&0xffff)<<32 | uint64(uint32(doc.Position.Number))}
		record.place = keys.Key(doc.ID, r.place(doc.ID, doc.Routing))
		if doc.Versions != nil {
			record.version = doc.Versions.Version
		}
		if err := r.hand(&record, doc, take); err != nil {
			return err
		}
	}
	if docs.Err() != nil {
		return errDamaged(r.index.Name, n, docs.Err())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tell()
	return nil
}

// tell hands the caller the number of documents that were read. The mutex is held.
func (r *idReading) tell() {
	if r.told != nil {
		r.told(r.read)
	}
}

// hand completes the record of a document with its type.
func (r *idReading) hand(record *idRecord, doc *document.Document, take func(idRecord, []byte) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	kind := slices.Index(r.types, string(doc.Type))
	if kind < 0 {
		kind = len(r.types)
		r.types = append(r.types, string(doc.Type))
	}
	record.at |= uint64(kind) << 48
	if r.read++; r.read%toldEvery == 0 {
		r.tell()
	}
	return take(*record, doc.ID)
}
