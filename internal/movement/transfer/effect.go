package transfer

// Deed is a thing to be done.
type Deed string

// The deeds. Each may be done again, by another process, when it is not known whether it
// was done; it ends with the event that is named.
const (
	// MakeClone makes the targets of a group beside their sources, at a position, and lets
	// them follow: WasCloned. What was not open when it was reversed stays closed until the
	// hand-off back: nothing waits for it to open.
	MakeClone Deed = "clone"
	// Compare compares targets in CLONE with their sources at a pinned position: Verified.
	Compare Deed = "verify"
	// HandOff tries, within the pause budget: fence the sources, drain the permits, bring the
	// targets up to H, refresh and sync them, then one compare-and-set of the placement by
	// WasHanded; release. A try that failed has recorded nothing, and the sources go on.
	HandOff Deed = "hand-off"
	// OpenTarget lets a target answer who waits, when it has all up to H: Opened.
	OpenTarget Deed = "open"
	// CompareAtH compares at H, on views that are pinned there: VerifiedAtH.
	CompareAtH Deed = "verify-at-h"
	// Shed removes from a target what is not its own: WasShed.
	Shed Deed = "shed"
	// Retire removes from a source what is a target's; of one that keeps nothing, the rest
	// of it: Retired.
	Retire Deed = "retire"
	// Drop removes the targets of a group that were never asked: WasDropped.
	Drop Deed = "drop"
)

// Deeds are all of them, in the order of a life.
var Deeds = []Deed{MakeClone, Compare, HandOff, OpenTarget, CompareAtH, Shed, Retire, Drop}

// Effect is a deed for a group, or for one target or source of it.
type Effect struct {
	Do    Deed
	Group int
	Shard uint32 // with OpenTarget, Shed and Retire
}

// Owed is what is to be done in r's state, by group, while nobody does it: what a runner
// does first when it comes to a record, whoever stored it. A group of which a comparison
// has found differences owes nothing: it waits to be compared or cloned again. A group
// that is equal at H waits for Finish.
func (r Record) Owed() []Effect {
	var owed []Effect
	for i := range r.Groups {
		owed = append(owed, r.Groups[i].owed(i, r.Course)...)
	}
	return owed
}

func (g *Group) owed(i int, course Course) []Effect {
	one := func(d Deed) []Effect { return []Effect{{Do: d, Group: i}} }
	switch {
	case g.Status == Dropping:
		return one(Drop)
	case g.Status == Dropped:
		return nil
	case !g.HandedOff() && g.Sources[0].S == Position{}:
		return one(MakeClone)
	case !g.HandedOff() && len(g.Cloned.At) == 0:
		return one(Compare)
	case !g.HandedOff() && g.Cloned.Equal():
		return one(HandOff)
	case !g.HandedOff():
		return nil
	case course == Finishing:
		return g.cleanup(i)
	case !g.in(InSplit):
		return g.each(i, OpenTarget, Handoff)
	case g.AtH.Run == 0:
		return one(CompareAtH)
	}
	return nil
}

// cleanup is what is to be done after Finish: the targets first.
func (g *Group) cleanup(i int) (owed []Effect) {
	if !g.in(Done) {
		return g.each(i, Shed, InSplit)
	}
	for s := range g.Sources {
		if g.Sources[s].State == Source {
			owed = append(owed, Effect{Do: Retire, Group: i, Shard: g.Sources[s].Shard})
		}
	}
	for _, l := range g.Left {
		if l.State == Source {
			owed = append(owed, Effect{Do: Retire, Group: i, Shard: l.Shard})
		}
	}
	return owed
}

// each is d for every target in s.
func (g *Group) each(i int, d Deed, s TargetState) (owed []Effect) {
	for t := range g.Targets {
		if g.Targets[t].State == s {
			owed = append(owed, Effect{Do: d, Group: i, Shard: g.Targets[t].Shard})
		}
	}
	return owed
}
