package sim

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/movement"
)

// ofTemplate is the alias that a template of the target gives to every index that a request makes.
const ofTemplate = "reading"

// aliasNamed is the answer to which indices an alias leads to.
func (t *target) aliasNamed(alias string) any {
	all := map[string]any{}
	for called, i := range t.indices {
		if i.aliases[alias] {
			all[called] = map[string]any{"aliases": map[string]any{alias: map[string]any{}}}
		}
	}
	if len(all) == 0 {
		return refusal(404, "aliases_not_found_exception", "alias ["+alias+"] missing")
	}
	out, _ := json.Marshal(all) // strings
	return reply{200, out}
}

// mayShow is the law of aliases: no document is brought by a movement into an index that an alias of a template shows,
// before the movement has begun to make its aliases.
func (w *migration) mayShow(asked string, i *index) {
	m := w.movement()
	if strings.ToLower(asked) != asked && i.aliases[ofTemplate] && i.madeFor == w.id && !aliased(&m) {
		w.violate("aliases", "documents come to an index that the alias of a template shows, half full")
	}
}

// aliased tells whether a movement has begun to make its aliases.
func aliased(m *movement.Record) bool {
	return slices.ContainsFunc(m.Phases, func(p movement.Phase) bool { return p.Name == "aliases" && !p.Started.IsZero() })
}

// shownAtTheEnd is the law of aliases, too: what a template gives to an index that the movement has made, that has in the end.
func (w *migration) shownAtTheEnd() {
	for called, i := range w.target.indices {
		if i.madeFor == w.id && !i.aliases[ofTemplate] {
			w.violate("aliases", "it is finished, and the alias of a template does not show %s", called)
		}
	}
}

// find is the index that a name leads to, its own or an alias, with its own name; nil when there is none.
func (t *target) find(called string) (string, *index) {
	if i := t.indices[called]; i != nil {
		return called, i
	}
	if i := t.indices[t.aliases[called]]; i != nil && i.aliases[called] {
		return t.aliases[called], i
	}
	return called, nil
}

// ways are the aliases under whose names no index can be made: movements write through them.
func (t *target) ways() (all []string) {
	for _, i := range t.indices {
		for alias := range i.aliases {
			if strings.ToLower(alias) != alias {
				all = append(all, alias)
			}
		}
	}
	slices.Sort(all)
	return all
}

// came counts a document that came by a name that is gone, when the index that it led to has it no more.
func (t *target) came(alias string, n name) {
	t.world.report.Nameless++
	i := t.indices[t.aliases[alias]]
	if i == nil {
		return
	}
	if has := i.remembered(n); has != nil && !has.deleted.IsZero() {
		t.world.report.Kept++
	}
}

// changeAliases takes all steps, or none.
func (t *target) changeAliases(body []byte) any {
	type step struct{ Index, Alias string }
	var asked struct {
		Actions []struct{ Add, Remove *step }
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		return refusal(400, "illegal_argument_exception", err.Error())
	}
	for _, a := range asked.Actions {
		if a.Add != nil && t.indices[a.Add.Index] == nil {
			return notFound(a.Add.Index)
		}
		if a.Remove == nil {
			continue
		}
		if i := t.indices[a.Remove.Index]; i == nil {
			return notFound(a.Remove.Index)
		} else if !i.aliases[a.Remove.Alias] {
			return refusal(404, "aliases_not_found_exception", "aliases ["+a.Remove.Alias+"] missing")
		}
	}
	for _, a := range asked.Actions {
		if a.Add != nil {
			t.indices[a.Add.Index].aliases[a.Add.Alias], t.aliases[a.Add.Alias] = true, a.Add.Index
		}
		if a.Remove != nil {
			delete(t.indices[a.Remove.Index].aliases, a.Remove.Alias)
		}
	}
	return reply{200, []byte(`{"acknowledged":true}`)}
}
