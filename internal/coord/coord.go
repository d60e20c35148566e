package coord

import (
	"context"
	"iter"
	"time"
)

// MaxKey and MaxValue bound a record, in bytes. More is fault.Limit. MaxValue
// suits the metadata of an index with a large mapping; documents are no records.
const (
	MaxKey   = 512
	MaxValue = 64 << 20
)

// Record is one entry. The value belongs to the receiver.
type Record struct {
	Key      string
	Value    []byte
	Revision int64
}

// Event is one change. When the key was deleted, Record.Value is nil and
// Record.Revision is that of the deletion.
type Event struct {
	Record
	Deleted bool
}

// Time is the store's clock: the true time of the store was between At-Error-Behind and
// At+Error when Now was answered.
type Time struct {
	At    time.Time
	Error time.Duration
	// Behind is by how much more the store's time may be behind At, since the clock of its server was
	// set back and At does not follow: others, which have not read At, get that earlier time.
	Behind time.Duration
	// Ahead is by how much At, which advances for every client alike, is ahead of the clock of the store's
	// machine, since that was set back. It makes nothing uncertain.
	Ahead time.Duration
}

// Store keeps records. Safe for concurrent use. Keys are non-empty UTF-8 without
// control characters, such as "index/7"; another key is fault.Refused. Listing is
// in the order of their bytes. A prefix is any bytes, none of them for everything.
//
// Values given are copied before a call returns, values got are copies, and an
// empty value stays apart from none: it is not nil. A call whose context has ended
// before it began changes nothing. After Close every call is fault.Unavailable.
type Store interface {
	// Get is the record; fault.NotFound when there is none.
	Get(ctx context.Context, key string) (Record, error)
	// List are the records whose keys begin with prefix, by key.
	List(ctx context.Context, prefix string) ([]Record, error)
	// Create makes a record and returns its revision; fault.Conflict when the key exists.
	Create(ctx context.Context, key string, value []byte) (int64, error)
	// Swap replaces the value of the record at revision and returns the new revision;
	// fault.Conflict when it has another revision or is gone. An equal value is a
	// change like another.
	Swap(ctx context.Context, key string, revision int64, value []byte) (int64, error)
	// Delete removes the record at revision; fault.Conflict when it has another
	// revision or is gone.
	Delete(ctx context.Context, key string, revision int64) error
	// Watch yields changes under prefix with revisions above after, until ctx ends or
	// the consumer stops; the last element is an error unless the consumer stopped.
	// A revision of which the changes are no longer known, or that the store has
	// not reached, is fault.Stale: ask for Revision, list again, and watch from that
	// revision. The consumer may use the store.
	Watch(ctx context.Context, prefix string, after int64) iter.Seq2[Event, error]
	// Revision is that of the last change of the store, deletions included; 0 when
	// there was none. A List begun after it misses no change up to it, so that a
	// Watch from it completes the List.
	Revision(ctx context.Context) (int64, error)
	// Now is the store's time. It never goes back, not even over a restart behind a
	// write.
	Now(ctx context.Context) (Time, error)
	// Close ends the store and its watches.
	Close() error
}

// Update reads the record, lets change decide on its new value and swaps it, again
// and again while others win. Change gets nil when there is no record, and then
// makes one; it may be called several times, and its error is Update's. When it
// returns the value it got (nil for no record), nothing is written. It returns the
// record as it now is, without a revision when there is none.
//
// It neither waits nor gives up between rounds: a round is lost only to a change
// that another caller made, so all together always get on, and a waiting time
// would only delay the one who alone is left. Whoever needs a bound has ctx.
func Update(ctx context.Context, s Store, key string, change func(value []byte) ([]byte, error)) (Record, error) {
	for {
		won, record, err := try(ctx, s, key, change)
		if won || err != nil {
			return record, err
		}
		if err := ctx.Err(); err != nil {
			return Record{}, err
		}
	}
}
