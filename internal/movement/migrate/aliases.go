package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// aliases makes the aliases of the indices that the movement has made, all at one instant and
// after everything was compared: whoever reads or writes by an alias never meets an index that
// is not complete. They need no entries in the ledger: they go away with their indices. What
// others have of an alias stays as it is.
func (t *turn) aliases(ctx context.Context) (string, error) {
	ledger, err := t.Driver.Ledger(ctx, t.movement.ID)
	if err == nil {
		err = t.putOn(ctx, ledger)
	}
	if err != nil || t.plan.Metadata.NoAliases {
		return "none were to be made", err
	}
	made := map[string]bool{}
	for i := range ledger {
		made[ledger[i].Name] = made[ledger[i].Name] || ledger[i].Kind == kindIndex && ledger[i].Made
	}
	away, err := t.takenAway(ctx)
	if err != nil {
		return "", err
	}
	var actions []cluster.AliasAction
	var changes []translate.Change
	for _, index := range t.plan.Indices {
		if !slices.ContainsFunc(index.Targets(), func(name string) bool { return made[name] }) {
			continue
		}
		ours := func(name string) (bool, error) { return made[name], nil }
		bodies, err := Translate(ctx, t.snapshot, t.target, t.plan.Metadata, index, ours)
		if err != nil {
			return "", err
		}
		for i := range bodies {
			if !made[bodies[i].Name] {
				continue
			}
			more, changed, err := t.aliasesOf(ctx, &bodies[i], away[bodies[i].Name], ours)
			if err != nil {
				return "", err
			}
			actions, changes = append(actions, more...), append(changes, changed...)
		}
	}
	if err := t.refuseLosses(changes); err != nil {
		return "", err
	}
	text := counted(len(actions), "aliases") + " made" + told(changes)
	if len(actions) == 0 {
		return text, nil
	}
	if err := t.Driver.Put(ctx, t.key("returned"), returnedOf(actions, away)); err != nil {
		return "", err
	}
	return text, t.target.ChangeAliases(ctx, actions)
}

// aliasesOf are the steps that make the aliases of a body, and those that templates of the target gave its index; and
// what of them is changed since the target has something of their names.
func (t *turn) aliasesOf(ctx context.Context, body *translate.Body, away map[string]json.RawMessage, ours func(string) (bool, error)) (actions []cluster.AliasAction, changes []translate.Change, err error) {
	var parts struct {
		Aliases map[string]json.RawMessage `json:"aliases"`
	}
	if err := json.Unmarshal(body.JSON, &parts); err != nil {
		return nil, nil, fault.Wrap(fault.Bug, err)
	}
	for _, c := range body.Changes {
		if OfAliases(c.Rule) {
			changes = append(changes, c)
		}
	}
	all := maps.Clone(away)
	maps.DeleteFunc(all, func(alias string, _ json.RawMessage) bool { _, has := parts.Aliases[alias]; return has })
	all, more, err := FitAliases(ctx, t.target, body.Name, all, ours)
	if err != nil {
		return nil, nil, err
	}
	maps.Copy(all, parts.Aliases)
	for _, alias := range slices.Sorted(maps.Keys(all)) {
		actions = append(actions, cluster.AliasAction{Index: body.Name, Alias: alias, More: all[alias]})
	}
	return actions, append(changes, more...), nil
}

// refuseLosses refuses aliases that lose meaning since the plan was made, unless such losses were accepted with it.
func (t *turn) refuseLosses(changes []translate.Change) error {
	if !t.plan.Lossless {
		return nil
	}
	for _, c := range changes {
		if c.Loses {
			err := fault.New(fault.Refused, "%s: %s", c.Where, c.What)
			return fault.WithNext(err, "it was not so when the movement was planned: put the target's alias or index of that name in order, then reshelve movement resume")
		}
	}
	return nil
}

// told says how many aliases were made in another way than the snapshot has them; "" when none.
func told(changes []translate.Change) (text string) {
	count := map[string]int{}
	for _, c := range changes {
		count[c.Rule]++
	}
	for _, of := range []struct{ rule, says string }{
		{RuleAliasShared, ", %d of them beside indices of others"},
		{RuleAliasTaken, ", %d left out: the target has something of their names"},
	} {
		if n := count[of.rule]; n > 0 {
			text += fmt.Sprintf(of.says, n)
		}
	}
	return text
}
