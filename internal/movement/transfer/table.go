package transfer

// Operation is what clients and the store do with the keys of a range that is a target's.
type Operation string

// The operations.
const (
	Write   Operation = "write"   // index, update, delete, one by one or in a bulk
	Get     Operation = "get"     // in real time
	Search  Operation = "search"  // count, aggregations, terms and scans too
	Refresh Operation = "refresh" // of what was written into the range
	Follow  Operation = "follow"  // the changes of the range after a position
	Pinned  Operation = "pinned"  // a PIT or scroll that was opened in the state before
)

// Operations are all of them.
var Operations = []Operation{Write, Get, Search, Refresh, Follow, Pinned}

// Role is a side of a group.
type Role string

// The roles.
const (
	TheSource Role = "source"
	TheTarget Role = "target"
	Both      Role = "both" // each for its part: changes up to H here, after it there
)

// Filter says what keeps a shard from showing what is another's.
type Filter string

// The filters.
const (
	NoFilter   Filter = "-"     // it holds nothing else
	OwnRange   Filter = "range" // it holds more than it shows: its range, by masks
	NeverAsked Filter = "asked by nobody"
)

// Answer is a cell of the table: who answers for a key that is in a target's range.
type Answer struct {
	State     TargetState
	Operation Operation
	By        Role
	Waits     bool   // until the target is open, within the request's deadline
	Source    Filter // while the source is in SOURCE
	Target    Filter
	OldEpoch  string // what a request with the epoch of the state before gets; in CLONE, of the map before this one
}

// Answers is the table, state by state, in the order of [TargetStates] and [Operations].
// The fence is no state: within a try to hand off, writes, gets, searches and refreshes of
// the group's shards wait at the source, and are answered by the state that comes of it.
func Answers() []Answer {
	var table []Answer
	for _, s := range TargetStates {
		for _, o := range Operations {
			table = append(table, WhoAnswers(s, o))
		}
	}
	return table
}

// WhoAnswers is one cell.
func WhoAnswers(s TargetState, o Operation) Answer {
	a := Answer{State: s, Operation: o, By: TheTarget, Source: OwnRange, Target: OwnRange, OldEpoch: "stale"}
	switch s {
	case Clone:
		a.By, a.Source, a.Target = TheSource, NoFilter, NeverAsked
	case Handoff:
		a.Waits = true
	case Done:
		a.Target = NoFilter
	}
	switch o {
	case Follow:
		if s != Clone {
			a.By, a.Waits = Both, false
		}
		a.OldEpoch = "goes on" // a position names its incarnation
	case Pinned:
		a.By, a.Waits, a.Source, a.Target = TheSource, false, NoFilter, NeverAsked
		a.OldEpoch = "goes on" // it has pinned what it reads
	}
	return a
}
