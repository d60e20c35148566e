package transfer

// positions are what of gives for each source.
func (g *Group) positions(of func(*SourceLine) Position) []Position {
	at := make([]Position, len(g.Sources))
	for i := range g.Sources {
		at[i] = of(&g.Sources[i])
	}
	return at
}

// fits is fault.Conflict unless at has one position for each source, in the incarnation
// that hands off: what comes from another one comes too late.
func (g *Group) fits(at []Position) error {
	if len(at) != len(g.Sources) {
		return late("%d positions for %d sources", len(at), len(g.Sources))
	}
	for i, p := range at {
		s := &g.Sources[i]
		if p.Shard != s.Shard || p.Term != s.Before.Term || p.SeqNo < -1 {
			return late("position %s is none of source %d in term %d", p, s.Shard, s.Before.Term)
		}
	}
	return nil
}

// reaches tells whether no position of at is before that of the same source in low.
func reaches(at, low []Position) bool {
	for i := range at {
		if at[i].SeqNo < low[i].SeqNo {
			return false
		}
	}
	return true
}
