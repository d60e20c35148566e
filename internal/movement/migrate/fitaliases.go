package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// The rules of aliases whose names the target knows already.
const (
	// RuleAliasTaken leaves an alias out: the target has an index or a data stream of that name.
	RuleAliasTaken = "alias-taken"
	// RuleAliasShared adds an index to an alias that leads to other indices, which keep it as it is.
	RuleAliasShared = "alias-shared"
	// RuleAliasWrites changes a shared alias by which clients write: afterwards their writes go to another index,
	// or are refused; or they go to the same index as before, although the snapshot has its own as write index.
	RuleAliasWrites = "alias-writes"
)

// fitAliases applies [FitAliases] to the aliases of a body. Ours reports whether the movement has made an index of the
// target; nil: it has made none.
func fitAliases(ctx context.Context, target *cluster.Client, body *translate.Body, ours func(string) (bool, error)) error {
	var members map[string]json.RawMessage
	var parts struct {
		Aliases map[string]json.RawMessage `json:"aliases"`
	}
	if err := json.Unmarshal(body.JSON, &members); err != nil {
		return fault.Wrap(fault.Bug, err)
	}
	if err := json.Unmarshal(body.JSON, &parts); err != nil {
		return fault.Wrap(fault.Bug, err)
	}
	fitted, changes, err := FitAliases(ctx, target, body.Name, parts.Aliases, ours)
	if err != nil || len(changes) == 0 {
		return err
	}
	body.Changes = append(body.Changes, changes...)
	if members["aliases"], err = json.Marshal(fitted); err == nil {
		body.JSON, err = json.Marshal(members)
	}
	return fault.Wrap(fault.Bug, err)
}

// FitAliases are the aliases of an index as the target can have them, and the changes that this needs. An alias that leads
// to other indices gets one index more. Where clients could then not write by it as before, that is a change that loses
// meaning.
func FitAliases(ctx context.Context, target *cluster.Client, index string, aliases map[string]json.RawMessage, ours func(string) (bool, error)) (map[string]json.RawMessage, []translate.Change, error) {
	fitted := map[string]json.RawMessage{}
	var changes []translate.Change
	for _, name := range slices.Sorted(maps.Keys(aliases)) {
		theirs, taken, err := leadsTo(ctx, target, name, ours)
		if err != nil {
			return nil, nil, err
		}
		change := func(rule string, loses bool, format string, args ...any) {
			changes = append(changes, translate.Change{Rule: rule, Where: "aliases." + name, What: fmt.Sprintf(format, args...), Loses: loses})
		}
		if taken {
			change(RuleAliasTaken, true, "left out: the target has an index or a data stream of that name")
			continue
		}
		fitted[name] = aliases[name]
		if len(theirs) == 0 {
			continue
		}
		change(RuleAliasShared, false, "added beside %s, as the target has it", strings.Join(slices.Sorted(maps.Keys(theirs)), ", "))
		if fitted[name], err = hiddenAs(fitted[name], theirs); err != nil {
			return nil, nil, fault.At(err, "alias "+name)
		}
		mine, err := writesBy(fitted[name])
		if err != nil {
			return nil, nil, fault.At(err, "alias "+name)
		}
		switch writer, explicit := writerOf(theirs); {
		case writer == "":
		case mine && explicit:
			if fitted[name], err = within(fitted[name], []string{"is_write_index"}, json.RawMessage("false")); err != nil {
				return nil, nil, err
			}
			change(RuleAliasWrites, true, "is_write_index becomes false: what is written by it goes to %s", writer)
		case mine:
			change(RuleAliasWrites, true, "what is written by it goes to %s instead of %s when the movement switches", index, writer)
		case !explicit:
			change(RuleAliasWrites, true, "what is written by it is refused when the movement switches: it goes to %s now, which is its only index and has no is_write_index", writer)
		}
	}
	return fitted, changes, nil
}

// OfAliases reports whether a rule is one of those above.
func OfAliases(rule string) bool {
	return rule == RuleAliasTaken || rule == RuleAliasShared || rule == RuleAliasWrites
}

// leadsTo are the indices to which an alias of the target leads, with its properties on each, but for those of the
// movement. Taken: the name is not an alias, but an index or a data stream.
func leadsTo(ctx context.Context, target *cluster.Client, name string, ours func(string) (bool, error)) (theirs map[string]json.RawMessage, taken bool, err error) {
	theirs, err = target.AliasNamed(ctx, name)
	if err != nil {
		return nil, false, err
	}
	if len(theirs) == 0 {
		taken, err = target.IndexExists(ctx, name)
		return nil, taken, err
	}
	for _, index := range slices.Sorted(maps.Keys(theirs)) {
		if ours == nil {
			break
		}
		made, err := ours(index)
		if err != nil {
			return nil, false, err
		}
		if made {
			delete(theirs, index)
		}
	}
	return theirs, false, nil
}

// hiddenAs sets is_hidden as the alias has it on other indices: servers refuse an alias that is hidden on some of its
// indices and not on others.
func hiddenAs(mine json.RawMessage, theirs map[string]json.RawMessage) (json.RawMessage, error) {
	hidden := func(properties json.RawMessage) bool {
		var p struct {
			Hidden bool `json:"is_hidden"`
		}
		return json.Unmarshal(properties, &p) == nil && p.Hidden
	}
	for _, properties := range theirs {
		if is := hidden(properties); is != hidden(mine) {
			return within(mine, []string{"is_hidden"}, json.RawMessage(strconv.FormatBool(is)))
		}
	}
	return mine, nil
}

// writesBy reports whether the properties of an alias on an index make that its write index.
func writesBy(properties json.RawMessage) (bool, error) {
	write, err := writeIndex(properties)
	return write != nil && *write, err
}

// writeIndex is is_write_index among the properties of an alias; nil: it is not set.
func writeIndex(properties json.RawMessage) (*bool, error) {
	var p struct {
		Write *bool `json:"is_write_index"`
	}
	if len(properties) == 0 {
		return nil, nil
	}
	err := json.Unmarshal(properties, &p)
	return p.Write, fault.Wrap(fault.Corrupt, err)
}

// writerOf is the index that writes by an alias go to; "" when there is none. Explicit: is_write_index says so, and it is
// not only the single index of the alias.
func writerOf(indices map[string]json.RawMessage) (writer string, explicit bool) {
	for index, properties := range indices {
		write, err := writeIndex(properties)
		switch {
		case err != nil:
		case write != nil && *write:
			return index, true
		case write == nil && len(indices) == 1:
			writer = index
		}
	}
	return writer, false
}
