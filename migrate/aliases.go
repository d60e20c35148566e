package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/reshelve/reshelve/cluster"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/translate"
)

// aliases makes the aliases of the indices that the movement has made, all at one instant and
// after everything was compared: whoever reads or writes by an alias never meets an index that
// is not complete. They need no entries in the ledger: they go away with their indices.
func (t *turn) aliases(ctx context.Context) (string, error) {
	if t.plan.Metadata.NoAliases {
		return "none were to be made", nil
	}
	ledger, err := t.Driver.Ledger(ctx, t.movement.ID)
	if err != nil {
		return "", err
	}
	made := map[string]bool{}
	for i := range ledger {
		made[ledger[i].Name] = made[ledger[i].Name] || ledger[i].Kind == kindIndex && ledger[i].Made
	}
	var actions []cluster.AliasAction
	left := 0
	for _, index := range t.plan.Indices {
		if !slices.ContainsFunc(index.Targets(), func(name string) bool { return made[name] }) {
			continue
		}
		bodies, err := Translate(ctx, t.snapshot, t.target, t.plan.Metadata, index, func(name string) (bool, error) { return made[name], nil })
		if err != nil {
			return "", err
		}
		for i := range bodies {
			if !made[bodies[i].Name] {
				continue
			}
			more, err := aliasesOf(&bodies[i])
			if err != nil {
				return "", err
			}
			actions = append(actions, more...)
			left += taken(bodies[i].Changes)
		}
	}
	text := counted(len(actions), "aliases") + " made"
	if left > 0 {
		text += fmt.Sprintf(", %d left out: the target has something of their names", left)
	}
	if len(actions) == 0 {
		return text, nil
	}
	return text, t.target.ChangeAliases(ctx, actions)
}

// aliasesOf are the steps that make the aliases of a body.
func aliasesOf(body *translate.Body) (actions []cluster.AliasAction, err error) {
	var parts struct {
		Aliases map[string]json.RawMessage `json:"aliases"`
	}
	if err := json.Unmarshal(body.JSON, &parts); err != nil {
		return nil, fault.Wrap(fault.Bug, err)
	}
	for _, alias := range slices.Sorted(maps.Keys(parts.Aliases)) {
		actions = append(actions, cluster.AliasAction{Index: body.Name, Alias: alias, More: parts.Aliases[alias]})
	}
	return actions, nil
}

// taken counts the aliases that are left out because their names are taken.
func taken(changes []translate.Change) (n int) {
	for _, c := range changes {
		if c.Rule == RuleAliasTaken {
			n++
		}
	}
	return n
}
