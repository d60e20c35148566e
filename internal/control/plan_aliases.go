package control

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// aliasOfPlan is an alias that the movement gives to indices of the plan at the switch.
type aliasOfPlan struct {
	name    string
	indices map[string]json.RawMessage // its properties by index of the target
	givenBy map[string]string          // the template of the target that gives it, by index; "": the snapshot has it
}

// lookAliases refuses aliases that the target cannot have, and those of the target by which clients could not write any
// more as they do now.
func lookAliases(ctx context.Context, l *looking) (string, error) {
	if l.Plan.Metadata.NoAliases {
		return "none are made", nil
	}
	l.lookShownAliases(ctx)
	all, err := l.aliasesOfPlan(ctx)
	if err != nil {
		return "", err
	}
	made := map[string]bool{}
	for i := range l.Plan.Indices {
		for _, name := range l.Plan.Indices[i].Targets() {
			made[name] = true
		}
	}
	count := 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		a := all[name]
		count += len(a.indices)
		l.lookWriteIndices(a)
		if made[name] {
			l.refuse("give index "+name+" another name with --rename, or make no aliases: --no-aliases", "%s would be both an alias of %s and an index", name, listed(slices.Sorted(maps.Keys(a.indices))))
		}
	}
	if err := l.lookLostAliases(ctx); err != nil {
		return "", err
	}
	return have(count, "alias is made", "aliases are made") + " at the switch", nil
}

// aliasesOfPlan are the aliases of the snapshot, and those that templates of the target give, by name. It adds the changes
// that the target makes necessary to the indices of the preview.
func (l *looking) aliasesOfPlan(ctx context.Context) (map[string]*aliasOfPlan, error) {
	all := map[string]*aliasOfPlan{}
	add := func(index, alias, template string, properties json.RawMessage) {
		if all[alias] == nil {
			all[alias] = &aliasOfPlan{alias, map[string]json.RawMessage{}, map[string]string{}}
		}
		all[alias].indices[index], all[alias].givenBy[index] = properties, template
	}
	for i := range l.Indices {
		index := &l.Indices[i]
		for _, body := range index.bodies {
			var parts struct {
				Aliases map[string]json.RawMessage `json:"aliases"`
			}
			if err := json.Unmarshal(body.JSON, &parts); err != nil {
				return nil, fault.Wrap(fault.Bug, err)
			}
			for alias, properties := range parts.Aliases {
				add(body.Name, alias, "", properties)
			}
			for _, a := range index.Applied {
				if a.Index != body.Name {
					continue
				}
				given := maps.Clone(a.Aliases)
				maps.DeleteFunc(given, func(alias string, _ json.RawMessage) bool { _, has := parts.Aliases[alias]; return has })
				fitted, changes, err := migrate.FitAliases(ctx, l.side.client, body.Name, given, nil)
				if err != nil {
					return nil, err
				}
				for alias, properties := range fitted {
					add(body.Name, alias, templateOf(&a, alias), properties)
				}
				l.lookGiven(&a, changes)
				index.Changes = append(index.Changes, changes...)
			}
		}
		l.lookStreamAliases(index)
	}
	return all, nil
}

// templateOf names the template that gives an index an alias.
func templateOf(a *migrate.Applied, alias string) string {
	for _, add := range a.Adds {
		if add.Where == "aliases."+alias {
			return add.Template
		}
	}
	return ""
}

// lookGiven refuses aliases of templates that keep the target from making the index at all.
func (l *looking) lookGiven(a *migrate.Applied, changes []Change) {
	for _, c := range changes {
		if alias := strings.TrimPrefix(c.Where, "aliases."); c.Rule == migrate.RuleAliasTaken {
			l.refuse("take the alias out of the template until the index is made, or give the index another name with --rename",
				"index %s: template %s of the target gives it the alias %s, which is the name of an index or a data stream: the target refuses to make it", a.Index, templateOf(a, alias), alias)
		} else if c.Rule == migrate.RuleAliasWrites && strings.Contains(c.What, "becomes false") {
			l.refuse("take is_write_index out of the template until the index is made, or give the index another name with --rename",
				"index %s: template %s of the target gives it the alias %s as its write index, and it has one: the target refuses to make it", a.Index, templateOf(a, alias), alias)
		}
	}
}

// lookStreamAliases refuses aliases of templates of data streams: each new backing index is made with them.
func (l *looking) lookStreamAliases(index *PreviewIndex) {
	if index.Stream == "" || l.req.Yes {
		return
	}
	for _, a := range index.Applied {
		for _, alias := range slices.Sorted(maps.Keys(a.Aliases)) {
			l.refuse("take the alias out of the template until the movement has ended, or accept with --yes that it shows the data stream before it is complete",
				"data stream %s: template %s gives what backs it the alias %s, which shows it while it is filled", a.Index, templateOf(&a, alias), alias)
		}
	}
}

// lookWriteIndices refuses an alias of which several indices of the plan would be the write index.
func (l *looking) lookWriteIndices(a *aliasOfPlan) {
	var writing []string
	for _, index := range slices.Sorted(maps.Keys(a.indices)) {
		var p struct {
			Write bool `json:"is_write_index"`
		}
		if json.Unmarshal(a.indices[index], &p) == nil && p.Write {
			writing = append(writing, index)
		}
	}
	if len(writing) < 2 {
		return
	}
	next := "move them one after the other with --index, or make no aliases: --no-aliases"
	for _, index := range writing {
		if template := a.givenBy[index]; template != "" {
			next = "take is_write_index out of template " + template + " of the target until the indices are made"
		}
	}
	l.refuse(next, "alias %s would have several write indices: %s", a.name, listed(writing))
}

// lookLostAliases refuses aliases that lose meaning, since the target has an index, a data stream or an alias of that name.
func (l *looking) lookLostAliases(ctx context.Context) error {
	of, lost := map[Change][]string{}, []Change{}
	for i := range l.Indices {
		for _, c := range l.Indices[i].Changes {
			if !c.Loses || !migrate.OfAliases(c.Rule) || l.req.Yes {
				continue
			}
			if of[c] == nil {
				lost = append(lost, c)
			}
			of[c] = append(of[c], l.Indices[i].Index)
		}
	}
	for _, c := range lost {
		next := "delete or rename that, or accept with --yes that the alias is left out; --no-aliases leaves out all"
		alias := strings.TrimPrefix(c.Where, "aliases.")
		if c.Rule == migrate.RuleAliasWrites {
			var err error
			if next, err = l.keepsWriting(ctx, alias); err != nil {
				return err
			}
		}
		l.refuse(next, "index %s: alias %s: %s", listed(slices.Compact(of[c])), alias, c.What)
	}
	return nil
}

// keepsWriting is the remedy of an alias that the target has: a request that sets is_write_index explicitly for the index
// that clients write to by it.
func (l *looking) keepsWriting(ctx context.Context, alias string) (string, error) {
	there, err := l.side.client.AliasNamed(ctx, alias)
	if err != nil {
		return "", err
	}
	writer := slices.Sorted(maps.Keys(there))[0]
	explicit := false // is_write_index is true for writer
	for index, properties := range there {
		var p struct {
			Write bool `json:"is_write_index"`
		}
		if json.Unmarshal(properties, &p) == nil && p.Write {
			writer, explicit = index, true
		}
	}
	add := map[string]any{}
	if err := json.Unmarshal(there[writer], &add); err != nil {
		return "", fault.Wrap(fault.Corrupt, err)
	}
	add["index"], add["alias"], add["is_write_index"] = writer, alias, !explicit
	body, err := json.Marshal(map[string]any{"actions": []any{map[string]any{"add": add}}})
	if err != nil {
		return "", fault.Wrap(fault.Bug, err)
	}
	keep := "keep " + writer + " as the index that is written to by it: "
	if explicit {
		keep = "let nothing be written by it to " + writer + " any more: "
	}
	return keep + l.asks("POST", "_aliases", string(body)) + "; or accept it with --yes, or make no aliases: --no-aliases", nil
}

// lookShownAliases warns of empty indices of the target that aliases show while the movement fills them.
func (l *looking) lookShownAliases(ctx context.Context) {
	for i := range l.Indices {
		index := &l.Indices[i]
		if !index.There || index.Holds > 0 || index.Stream != "" || l.Plan.Indices[i].Since != nil {
			continue
		}
		for _, name := range l.Plan.Indices[i].Targets() {
			there, err := l.side.client.Glance(ctx, name)
			maps.DeleteFunc(there.Aliases, func(alias string, _ json.RawMessage) bool { // a movement's own
				return strings.HasPrefix(alias, strings.TrimSuffix(migrate.AliasPattern(name), "*"))
			})
			if err != nil || len(there.Aliases) == 0 {
				continue
			}
			l.warn("delete the empty index, so that the movement makes it, or remove the aliases until the movement has switched",
				"index %s of the target is there, and its aliases show it while it is filled: %s", name, listed(slices.Sorted(maps.Keys(there.Aliases))))
		}
	}
}
