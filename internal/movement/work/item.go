package work

import (
	"fmt"
	"slices"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

// ToEnd is the End of an item that reaches to the end of its shard.
const ToEnd = -1

// Item is one range of positions of a shard of a snapshot.
type Item struct {
	Lease
	Index string `json:"index"`
	Shard int    `json:"shard"`
	Start int64  `json:"start"` // the first position
	End   int64  `json:"end"`   // the position after the last; ToEnd
	// Cursor is the first position that is not acknowledged.
	Cursor             int64    `json:"cursor"`
	SuccessorWorkItems []string `json:"successorWorkItems,omitempty"`
	// SuccessorLeaseExponent is that of the successor's first lease, so that whoever creates
	// it creates the same.
	SuccessorLeaseExponent int `json:"successorLeaseExponent,omitempty"`
	// SuccessorAttempts are those that the successor begins with: the claims of this item
	// since its cursor moved.
	SuccessorAttempts int `json:"successorAttempts,omitempty"`
	Counts
}

// Counts are what has become of the documents before the cursor.
type Counts struct {
	Read         int64 `json:"read"`         // live documents
	Acknowledged int64 `json:"acknowledged"` // by the target
	Conflicts    int64 `json:"conflicts"`    // a newer version stood there
	Failed       int64 `json:"failed"`       // in the list of failures
	Dropped      int64 `json:"dropped"`      // by a transformation, or because a document of another mapping type has their place
	Bytes        int64 `json:"bytes"`        // of sources, as read
	Retries      int64 `json:"retries"`      // of requests and documents
}

// Add adds what others counted.
func (c *Counts) Add(o Counts) {
	c.Read += o.Read
	c.Acknowledged += o.Acknowledged
	c.Conflicts += o.Conflicts
	c.Failed += o.Failed
	c.Dropped += o.Dropped
	c.Bytes += o.Bytes
	c.Retries += o.Retries
}

// fewer tells whether one of the counts is less than before.
func (c *Counts) fewer(before *Counts) bool {
	return c.Read < before.Read || c.Acknowledged < before.Acknowledged || c.Conflicts < before.Conflicts ||
		c.Failed < before.Failed || c.Dropped < before.Dropped || c.Bytes < before.Bytes || c.Retries < before.Retries
}

// Balanced tells whether every document that was read is accounted for, once.
func (c *Counts) Balanced() bool { return c.Read == c.Acknowledged+c.Conflicts+c.Failed+c.Dropped }

// Name is the item's: index__shard__start.
func (i *Item) Name() string { return fmt.Sprintf("%s__%d__%d", i.Index, i.Shard, i.Start) }

// Check is fault.Bug for an item that nobody can have stored.
func (i *Item) Check() error {
	switch {
	case i.Index == "" || i.Shard < 0 || i.Start < 0:
		return fault.New(fault.Bug, "%s is no item", i.Name())
	case i.Cursor < i.Start || i.End != ToEnd && (i.End < i.Start || i.Cursor > i.End):
		return fault.New(fault.Bug, "the cursor of %s is %d, outside of %d to %d", i.Name(), i.Cursor, i.Start, i.End)
	}
	return nil
}

// Advance stores how far worker has come, and what became of the documents of the item up
// to there: counts are those of all holders together.
func (i Item) Advance(worker string, now time.Time, cursor int64, counts Counts) (Item, error) {
	l, err := i.Beat(worker, now, cursor > i.Cursor)
	switch {
	case err != nil:
		return i, err
	case i.Named():
		return i, fault.New(fault.Bug, "%s goes on in its successor %q", i.Name(), i.SuccessorWorkItems)
	case cursor < i.Cursor || cursor > i.End && i.End != ToEnd:
		return i, fault.New(fault.Bug, "the cursor of %s would go from %d to %d", i.Name(), i.Cursor, cursor)
	case counts.fewer(&i.Counts):
		return i, fault.New(fault.Bug, "the counts of %s would go back", i.Name())
	}
	i.Lease, i.Cursor, i.Counts = l, cursor, counts
	return i, nil
}

// Successor is the item that goes on at i's cursor, named in i. The four steps are:
//
//  1. the successor's name is computed: it is [Item.Name] at the cursor;
//  2. store named: nobody works on i any more;
//  3. create successor under its name, if it is not there;
//  4. complete i.
//
// Who claims an item that is [Item.Named] gets the same successor again, and does 3 and 4.
// Setup is how long it took from the claim to the first document: longer than a tenth of
// the lease, and the successor's lease is longer; shorter than a fortieth, and it is shorter.
// A holder that has come no further than where it began hands its attempts over too: a
// position that nobody gets past does not become new with each successor.
// It is fault.Refused where there is nothing to hand over: when nothing of the item is
// acknowledged (release it, with the cause: the next lease is longer), and when it has come
// to the end (complete it).
func (i Item) Successor(p Policy, worker string, now time.Time, setup time.Duration) (named, successor Item, err error) {
	if err := i.Held(worker, now); err != nil {
		return i, Item{}, err
	}
	successor = Item{Index: i.Index, Shard: i.Shard, Start: i.Cursor, End: i.End, Cursor: i.Cursor}
	successor.CreatorID = i.LeaseHolderID
	switch {
	case i.Named() && !slices.Equal(i.SuccessorWorkItems, []string{successor.Name()}):
		return i, Item{}, fault.New(fault.Bug, "%s names the successor %q already", i.Name(), i.SuccessorWorkItems)
	case i.Named():
	case i.Cursor == i.End:
		return i, Item{}, fault.New(fault.Refused, "%s has come to its end", i.Name())
	case i.Cursor == i.Start:
		return i, Item{}, fault.New(fault.Refused, "%s has not come further", i.Name())
	default:
		i.SuccessorWorkItems = []string{successor.Name()}
		i.SuccessorLeaseExponent = nextExponent(p, i.NextAcquisitionLeaseExponent-1, setup)
		if i.Attempts > 1 {
			i.SuccessorAttempts = i.Attempts
		}
		i.Attempts = 1 // to have a name for what is left is progress: the steps after it get all attempts
	}
	successor.NextAcquisitionLeaseExponent, successor.Attempts = i.SuccessorLeaseExponent, i.SuccessorAttempts
	return i, successor, nil
}

// Unfinished is fault.Bug while something of the item is left to do, and it names nobody who
// does it: such an item must not be completed. Where the end of a shard was not known before
// it was read, whoever read it stores it as End.
func (i *Item) Unfinished() error {
	if !i.Named() && i.Cursor != i.End {
		return fault.New(fault.Bug, "%s is at %d of %d, and names no successor", i.Name(), i.Cursor, i.End)
	}
	return nil
}

// Complete says that worker has done it; see [Item.Unfinished].
func (i Item) Complete(worker string, now time.Time) (Item, error) {
	l, err := i.Lease.Complete(worker, now)
	if err == nil {
		err = i.Unfinished()
	}
	if err != nil {
		return i, err
	}
	i.Lease = l
	return i, nil
}

// nextExponent is that of a successor of a lease with exponent used.
func nextExponent(p Policy, used int, setup time.Duration) int {
	lease := p.Duration(used)
	switch {
	case setup > lease/10:
		used++
	case setup < lease/40:
		used--
	}
	return min(max(used, 0), maxExponent)
}

// Named is whether the item ends in a successor: what is left to do is to create it, and to
// complete the item.
func (i *Item) Named() bool { return len(i.SuccessorWorkItems) > 0 }
