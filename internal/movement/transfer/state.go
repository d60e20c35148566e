package transfer

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// Kind says what a reshaping does with shards.
type Kind string

// The kinds. A reshaping that is reversed becomes one of the latter two.
const (
	Split     Kind = "split"
	Merge     Kind = "merge"
	SplitBack Kind = "reverse-of-split"
	MergeBack Kind = "reverse-of-merge"
)

// Back tells whether it leads back what was handed off.
func (k Kind) Back() bool { return k == SplitBack || k == MergeBack }

// merges tells whether groups have several sources and one target.
func (k Kind) merges() bool { return k == Merge || k == SplitBack }

// TargetState is where a target is.
type TargetState string

// The states of a target, in their order.
const (
	Clone   TargetState = "CLONE"   // it gets what the sources have; nobody asks it
	Handoff TargetState = "HANDOFF" // its range is its own; it opens
	InSplit TargetState = "SPLIT"   // it answers; the way back is open
	Done    TargetState = "DONE"    // it holds nothing that is not its own
)

// TargetStates are all of them, in their order.
var TargetStates = []TargetState{Clone, Handoff, InSplit, Done}

// SourceState is where a source is.
type SourceState string

// The states of a source, in their order.
const (
	Source     SourceState = "SOURCE" // it may hold what is a target's
	SourceDone SourceState = "DONE"
)

// Course is where a whole reshaping goes.
type Course string

// The courses.
const (
	Onward    Course = "onward"
	Finishing Course = "finishing" // nothing leads back: what is not owned is shed
	Aborting  Course = "aborting"
)

// GroupStatus says whether the work for a group continues.
type GroupStatus string

// Statuses of groups.
const (
	Goes     GroupStatus = "" // it goes on
	Dropping GroupStatus = "dropping"
	Dropped  GroupStatus = "dropped" // nothing of its targets is left
)

// Record is the reshaping of one index, as its placement holds it. Treat it as
// immutable.
type Record struct {
	Movement string    `json:"movement"` // the id of the movement whose work it is
	Kind     Kind      `json:"kind"`
	Index    uint32    `json:"index"`
	Name     string    `json:"name"`   // of the index, when it began
	Before   int       `json:"before"` // shards of the index
	After    int       `json:"after"`
	Next     uint32    `json:"next"` // as in the placement: the number of the next new shard
	By       string    `json:"by"`
	Why      string    `json:"why"`
	At       time.Time `json:"at"` // when it was asked for
	Course   Course    `json:"course"`
	Groups   []Group   `json:"groups"`
	Past     []Group   `json:"past,omitempty"` // of a reversed one: the groups as they stood
}

// Group is what is handed off in one step: the targets of one source, or the one target
// of several sources. Sources and targets are by range.
type Group struct {
	Status  GroupStatus  `json:"fate,omitempty"`
	Sources []SourceLine `json:"sources"`
	Targets []TargetLine `json:"targets"`
	Left    []LeftLine   `json:"left,omitempty"`  // of a merge that is led back: sources that had vanished
	Cloned  Verdict      `json:"cloned,omitzero"` // the newest comparison in CLONE
	AtH     Verdict      `json:"atH,omitzero"`    // and at H
}

// Shape is what a shard owns between two changes of its ownership.
type Shape struct {
	Range routing.Range `json:"range"`
	Epoch int64         `json:"epoch"`
	Term  int64         `json:"term"`
}

// SourceLine is a source: what it was before the hand-off, and what it keeps of it.
type SourceLine struct {
	Shard  uint32      `json:"shard"`
	State  SourceState `json:"state"`
	Before Shape       `json:"before"`
	Keeps  *Shape      `json:"keeps,omitempty"` // epoch and term are 0 until the hand-off; nil: nothing, a target has all
	S      Position    `json:"s,omitzero"`      // what the targets were cloned at
	H      Position    `json:"h,omitzero"`      // its last change as the owner of all
}

// TargetLine is a target and its range; epoch and term are 0 until the hand-off.
type TargetLine struct {
	Shard uint32      `json:"shard"`
	State TargetState `json:"state"`
	Shape
}

// LeftLine is a shard that owns nothing any more, and is not given its range back: it is
// retired with the sources.
type LeftLine struct {
	Shard uint32      `json:"shard"`
	State SourceState `json:"state"`
}

// Position is a point in the changes of one incarnation of a shard: all up to SeqNo, which
// is -1 for none. Terms begin at 1, so the zero value is no position.
type Position struct {
	Shard uint32 `json:"shard"`
	Term  int64  `json:"term"`
	SeqNo int64  `json:"seqNo"`
}

// Verdict is what a comparison of sources and targets has found. Runs count from 1; one
// without At no longer counts, because the targets were cloned again.
type Verdict struct {
	Run         int        `json:"run"`
	At          []Position `json:"at,omitempty"` // one for each source
	Differences int64      `json:"differences"`
}

// Equal tells whether it was made, and has found nothing.
func (v Verdict) Equal() bool { return len(v.At) > 0 && v.Differences == 0 }

// HandedOff tells whether the targets own their ranges.
func (g *Group) HandedOff() bool { return g.Targets[0].State != Clone }

// in tells whether every target is in s.
func (g *Group) in(s TargetState) bool {
	for i := range g.Targets {
		if g.Targets[i].State != s {
			return false
		}
	}
	return true
}

// over tells whether nothing is left to do for the group.
func (g *Group) over() bool {
	if g.Status != Goes {
		return g.Status == Dropped
	}
	for i := range g.Sources {
		if g.Sources[i].State != SourceDone {
			return false
		}
	}
	return !slices.ContainsFunc(g.Left, func(l LeftLine) bool { return l.State != SourceDone })
}

// Over tells whether nothing is left to do: the record may be taken out of the placement.
func (r Record) Over() bool {
	for i := range r.Groups {
		if !r.Groups[i].over() {
			return false
		}
	}
	return true
}

// clone is r with groups of its own.
func (r Record) clone() Record {
	groups := make([]Group, len(r.Groups))
	for i, g := range r.Groups {
		g.Sources = append([]SourceLine{}, g.Sources...)
		g.Targets = append([]TargetLine{}, g.Targets...)
		g.Left = slices.Clone(g.Left)
		groups[i] = g
	}
	r.Groups = groups
	return r
}

// Encode is the JSON form, as it is stored.
func (r Record) Encode() []byte {
	data, err := json.Marshal(r)
	if err != nil {
		panic("transfer: " + err.Error()) // numbers, strings and times always encode
	}
	return data
}

// Decode reads the JSON form and checks it.
func Decode(data []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return Record{}, fault.At(fault.New(fault.Corrupt, "%w", err), "transfer")
	}
	return r, r.Check()
}
