package mapping

// Grown is a mapping after an update, as it is when its JSON was stored and is read again.
type Grown struct {
	*Mapping
	// Changed are the fields that are new or not what they were, multi-fields and the objects around included;
	// all others are those of the mapping before.
	Changed []*Field
	// Whole: everything may be other than before, and Changed says nothing.
	Whole bool

	before, told *Field // the root before, and that of the update; nil where the whole is other
}

// Grow is Merge, for a mapping that is stored: what reading its JSON gives. An update that has fields
// alone costs what these fields cost, and a copy of the lists that they are in.
func (m *Mapping) Grow(update []byte, l Limits) (Grown, error) {
	from, err := readUpdate(update, &l)
	if err != nil {
		return Grown{}, err
	}
	merged, err := m.merge(from, &l, false)
	if err != nil {
		return Grown{}, err
	}
	stored := Unlimited(l)
	if !from.fieldsAlone() || m.root.withoutRedundantIncludes(true) != m.root {
		read, err := Parse(merged.JSON(), stored)
		return Grown{Mapping: read, Whole: true}, err
	}
	g := Grown{Mapping: merged, before: m.root, told: from.root}
	return g, g.readAgain(&reading{limits: &stored}, merged.root, from.root)
}

// fieldsAlone reports whether an update has properties and nothing else.
func (m *Mapping) fieldsAlone() bool {
	return m.meta == nil && !m.formatsSet && !m.templateSet && m.dates == unset && m.numbers == unset && len(m.own) == 0 &&
		m.root.dynamic == inherited && !m.root.set.enabled
}

// readAgain reads the fields of an object that an update has told out of what they are rendered as: not all that a
// definition says is kept.
func (g *Grown) readAgain(r *reading, o, told *Field) error {
	o.set.enabled, o.set.inParent, o.set.inRoot = o.disabled, o.includeInParent, o.includeInRoot
	g.Changed = append(g.Changed, o)
	for _, one := range told.order {
		f := o.children[one.name]
		if f.IsObject() {
			if err := g.readAgain(r, f, one); err != nil {
				return err
			}
			continue
		}
		tree, err := parseTree(f.append(nil, false))
		if err != nil {
			return err
		}
		again, err := r.field(f.kind, f.name, o.path, tree)
		if err != nil {
			return failedToParse(err)
		}
		o.put(again)
		at, _ := spot(o.order, f.name)
		o.order[at] = again
		g.Changed = append(g.Changed, again)
		again.all(func(multi *Field) bool { g.Changed = append(g.Changed, multi); return true })
	}
	return nil
}

// completeAfter is complete for what a complete mapping has become by an update, where that can be
// told from what was added: it refuses the same, and says so in the same words, by looking at all of it.
func (m *Mapping) completeAfter(before, from *Mapping, l *Limits) error {
	check := checking{mapping: m, limits: l, extent: before.extent}
	if before.extent.crosses || m.untaken() != nil || check.added(before.root, m.root, from.root, "") != nil ||
		check.longest > l.FieldNameLength || check.deepest > l.Depth || check.total() != nil {
		return m.complete(l)
	}
	m.extent, m.stamp = check.extent, m.Timestamp()
	return nil
}

// added checks and counts what an update has added to an object, or replaced there.
func (c *checking) added(before, after, told *Field, scope string) error {
	for _, one := range told.order {
		was, is := before.children[one.name], after.children[one.name]
		if was != nil && was.IsObject() {
			if err := c.added(was, is, one, is.scopeBelow(scope)); err != nil {
				return err
			}
			continue
		}
		if was != nil {
			old := checking{mapping: c.mapping, limits: c.limits}
			_ = old.field(was, scope) // it is complete
			c.fields -= old.fields
		}
		if err := c.field(is, scope); err != nil {
			return err
		}
	}
	return nil
}
