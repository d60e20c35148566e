package migrate

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// care is what an operation has to heed that goes where others may have written: see beside.
type care struct {
	want  uint64                     // the content that the document is to have; of a deletion 0
	fresh int64                      // the version that it gets where no document is; negative: the server's first
	blind bool                       // nothing should be there, so that nobody looks at first
	ties  bool                       // where the target remembers a deletion in the version fresh, that gives way
	gone  bool                       // it was there: where it is not, others have deleted it, and it stays deleted
	mine  func(there *standing) bool // whether what is there is the movement's, and may be replaced
	// unseen: what is there, and is not mine, cannot be told from what others have written
	unseen bool
	// overwrite: whatever is there is replaced, and what is not there is created, whatever deletion the target remembers
	overwrite bool
}

// standing is a document of the target with its content.
type standing struct {
	cluster.Standing
	content uint64
}

// nothing of what is there may be replaced.
func nothing(*standing) bool { return false }

// contentOf is the first half of a content's fingerprint.
func contentOf(f document.Fingerprint) uint64 { return binary.BigEndian.Uint64(f.Content[:8]) }

// The types of conflicts of operations that are sent with care.
const (
	changedByOthers = "changed_by_others"
	deletedByOthers = "deleted_by_others"
	notCompared     = "not_compared"
	writtenSince    = "written_since" // the comparison; see sighted
)

// Other is a document that others have written on the target, and that was left as it is, or was
// met in the moment in which it was written.
type Other struct {
	ID      string `json:"id"`
	Routing string `json:"routing,omitempty"`
	// What is "changed_by_others", "deleted_by_others" (both are left so), "not_compared" (left too: it
	// differs, and nothing tells whether others have changed it), "written_since" (left too: it is not what the
	// comparison saw by which the repair was ordered), or "replaced": in the very moment in
	// which a document was created again that had been missing; "perhaps_replaced" when the answer that would
	// have told was lost.
	What string `json:"what"`
}

const (
	replaced        = "replaced"
	perhapsReplaced = "perhaps_replaced"
)

// maxOthers is how many of them are named: of a piece, and of an index.
const maxOthers = 20

// othersOf names the first of those that an answer tells of.
func othersOf(r *cluster.Result) (all []Other) {
	for _, f := range r.Replaced {
		all = addOthers(all, []Other{{ID: f.ID, Routing: f.Routing, What: f.Type}})
	}
	for _, f := range r.Conflicts {
		all = addOthers(all, []Other{{ID: f.ID, Routing: f.Routing, What: f.Type}})
	}
	return all
}

// addOthers keeps the first ones, each once, and before all others those that were replaced: they are nowhere else.
func addOthers(all, more []Other) []Other {
	all = slices.Clip(all)
	for _, o := range more {
		if !slices.Contains(all, o) {
			all = append(all, o)
		}
	}
	slices.SortStableFunc(all, func(a, b Other) int {
		switch {
		case a.What == replaced && b.What != replaced:
			return -1
		case a.What != replaced && b.What == replaced:
			return 1
		}
		return 0
	})
	return all[:min(len(all), maxOthers)]
}

// beside sends the operations of a batch where others may have written. It looks at what the target
// has, and replaces or deletes that only where it is the movement's, on the condition that it is
// still the very same write; a document is created only where none is. What changes meanwhile is
// looked at again. All else is a conflict in the result, and left.
func (t *turn) beside(ctx context.Context, b *cluster.Batch, cares []care) (cluster.Result, error) {
	c := &careful{turn: t, batch: b, cares: cares, created: make([]int, len(cares))}
	var pending []int
	for i := range cares {
		pending = append(pending, i)
	}
	for round := 0; len(pending) > 0; round++ {
		there, err := c.look(ctx, pending, round == 0)
		if err != nil {
			return c.result, err
		}
		var next cluster.Batch
		var sent []int
		for n, i := range pending {
			op := b.Op(i)
			if !c.decide(&op, i, there[n], round) {
				continue
			}
			if err := next.Add(op); err != nil {
				return c.result, err
			}
			sent = append(sent, i)
		}
		if pending, err = c.send(ctx, &next, sent); err != nil {
			return c.result, err
		}
	}
	return c.result, nil
}

// careful is a batch that is sent with care.
type careful struct {
	*turn
	batch   *cluster.Batch
	cares   []care
	created []int // how often it was tried to create it
	result  cluster.Result
	printer document.Fingerprinter
}

// rounds is how often a document is looked at that changes each time before it is written.
const rounds = 5

// look gives what the target has for each of the operations; nil for one that is sent blindly.
func (c *careful) look(ctx context.Context, pending []int, first bool) ([]*standing, error) {
	all := make([]*standing, len(pending))
	var names []cluster.Name
	var at []int
	for n, i := range pending {
		if first && c.cares[i].blind {
			continue
		}
		op := c.batch.Op(i)
		names, at = append(names, cluster.Name{Index: op.Index, ID: string(op.ID), Routing: string(op.Routing)}), append(at, n)
	}
	if len(names) == 0 {
		return all, nil
	}
	found, err := c.target.Look(ctx, names)
	for n := range found {
		s := &standing{Standing: found[n]}
		if s.Found {
			s.content = contentOf(c.printer.Of([]byte(names[n].ID), []byte(s.Routing), s.Source))
		}
		all[at[n]] = s
	}
	return all, err
}

// decide makes an operation the one to be sent, or settles it. There is what the target has; nil:
// nobody has looked, and nothing should be there.
func (c *careful) decide(op *cluster.Op, i int, there *standing, round int) (send bool) {
	care := &c.cares[i]
	remove := op.Action == cluster.Delete
	switch {
	case there == nil || !there.Found && !remove && care.mayCreate(c.created[i]):
		op.Version, op.Above = care.fresh, c.created[i] == 0
		op.Names = true
		if !care.versioned(c.created[i]) { // the server's next version is above that of a deletion, which it remembers for a while
			op.Version = -1
		}
		if c.created[i]++; op.Version < 0 {
			op.Action, op.Above, op.Names = cluster.Create, false, false
		}
		return true
	case !there.Found && remove, remove && there.Routing != string(op.Routing): // in its place another document may be
		c.result.Acknowledged++
	case !there.Found: // nothing is there, and nothing may be, or can be: the target remembers its deletion
		c.conflict(op, i, deletedByOthers)
	case !remove && there.content == care.want: // by an attempt before, whose answer was lost
		c.result.Acknowledged++
		if c.created[i] > 0 && care.fresh > leastVersion {
			c.replaced(cluster.Failure{Item: i, Action: op.Action, Index: op.Index, ID: string(op.ID), Routing: string(op.Routing)}, perhapsReplaced)
		}
	case care.unseen && !care.mine(there):
		c.conflict(op, i, notCompared)
	case !care.mine(there) || round >= rounds:
		c.conflict(op, i, changedByOthers)
	default:
		op.Version, op.Above, op.Seen = -1, false, there.Seen
		return true
	}
	return false
}

// leastVersion is the first that servers give: a document that is created in it replaces none but one of version 0,
// which only clients with versions of their own make.
const leastVersion = 1

// replaced names a document that was replaced, or perhaps, in the moment in which it was created again.
func (c *careful) replaced(f cluster.Failure, kind string) {
	f.Type = kind
	c.result.Replaced = append(c.result.Replaced, f)
}

// mayCreate tells whether a document that is not there is created, after so many attempts.
func (c *care) mayCreate(attempts int) bool {
	return !c.gone && c.versioned(attempts) || c.overwrite && attempts < rounds
}

// versioned tells whether it is then created in the version fresh.
func (c *care) versioned(attempts int) bool { return attempts == 0 || attempts == 1 && c.ties }

func (c *careful) conflict(op *cluster.Op, i int, kind string) {
	c.result.Conflicts = append(c.result.Conflicts, cluster.Failure{Item: i, Action: op.Action, Index: op.Index, ID: string(op.ID), Routing: string(op.Routing),
		Type: kind, Reason: "others have written on the target since"})
}

// send sends what was decided, and gives those that have to be looked at again.
func (c *careful) send(ctx context.Context, next *cluster.Batch, sent []int) (again []int, err error) {
	if len(sent) == 0 {
		return nil, nil
	}
	r, err := c.writer.Write(ctx, next)
	if err != nil {
		return nil, err
	}
	c.result.Acknowledged += r.Acknowledged
	c.result.Requests += r.Requests
	c.result.Repeated += r.Repeated
	for _, f := range r.Failed {
		f.Item = sent[f.Item]
		c.result.Failed = append(c.result.Failed, f)
	}
	for _, f := range r.Replaced {
		kind := replaced
		if r.Repeated > 0 && !next.Op(f.Item).Above { // of the same version, so that what was there may be its own
			kind = perhapsReplaced
		}
		f.Item = sent[f.Item]
		c.replaced(f, kind)
	}
	for _, f := range r.Conflicts {
		again = append(again, sent[f.Item])
	}
	slices.Sort(again)
	return again, nil
}
