package sim

import (
	"encoding/json"
	"slices"
	"strings"
)

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
