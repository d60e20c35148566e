package migrate

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
)

// kindSettings is the kind of ledger entries of settings that an index has only for the time
// of the copy. Before is what it gets afterwards; null is the server's default.
const kindSettings = "settings"

// reduced are the settings that an index has while it is filled, by those that they stand for.
func (m *Metadata) reduced(settings map[string]any) map[string]any {
	less := map[string]any{}
	if m.ReduceReplicas {
		less["index.number_of_replicas"] = "0"
		if settings["index.auto_expand_replicas"] != nil {
			less["index.auto_expand_replicas"] = "false"
		}
	}
	if m.ReduceRefresh {
		less["index.refresh_interval"] = "-1"
	}
	return less
}

// Reduce is a body that makes an index with the settings of the time of the copy, and what
// puts back those that it asks for; nil when there is nothing to put back.
func (m *Metadata) Reduce(body json.RawMessage) (reduced, before json.RawMessage, err error) {
	var parts map[string]json.RawMessage
	settings := map[string]any{}
	if err := json.Unmarshal(body, &parts); err != nil {
		return nil, nil, fault.Wrap(fault.Bug, err)
	}
	if s, ok := parts["settings"]; ok {
		if err := json.Unmarshal(s, &settings); err != nil {
			return nil, nil, fault.Wrap(fault.Bug, err)
		}
	}
	asked := map[string]any{}
	for name, value := range m.reduced(settings) {
		if settings[name] != value {
			asked[name] = settings[name]
			settings[name] = value
		}
	}
	if len(asked) == 0 {
		return body, nil, nil
	}
	if parts["settings"], err = json.Marshal(settings); err == nil {
		reduced, err = json.Marshal(parts)
	}
	if err == nil {
		before, err = json.Marshal(asked)
	}
	return reduced, before, fault.Wrap(fault.Bug, err)
}

// intendSettings writes down what an index that is about to be made gets when it is filled.
func (t *turn) intendSettings(ctx context.Context, index string, before json.RawMessage) error {
	if before == nil {
		return nil
	}
	return t.Driver.Intend(ctx, t.movement.ID, movement.Entry{Kind: kindSettings, Name: index, Before: before, By: t.Worker})
}

// putBack gives the indices that were filled the settings that they were to have, of one kind of entries.
func (t *turn) putBack(ctx context.Context, kind string) error {
	ledger, err := t.Driver.Ledger(ctx, t.movement.ID)
	for i := range ledger {
		if err == nil && ledger[i].Kind == kind {
			if _, err = t.restoreSettings(ctx, &ledger[i]); err == nil {
				err = t.Driver.Strike(ctx, t.movement.ID, ledger[i])
			}
		}
	}
	return err
}

// restoreSettings puts back the settings of an index, if it is the one that the movement made.
func (t *turn) restoreSettings(ctx context.Context, e *movement.Entry) (left string, err error) {
	index, err := t.inLedger(ctx, kindIndex, e.Name)
	if err != nil || index == nil { // somebody else's, which never had others
		return "", err
	}
	there, ours, err := t.isOurs(ctx, index)
	switch {
	case err != nil || !there:
		return "", err
	case !ours:
		return fmt.Sprintf("index %s is not the one that the movement made: its settings were left alone", e.Name), nil
	}
	var before map[string]any
	if err := json.Unmarshal(e.Before, &before); err != nil {
		return "", fault.New(fault.Corrupt, "the settings of %s are not understood: %w", e.Name, err)
	}
	return "", t.target.PutSettings(ctx, e.Name, before)
}

// ready gives the indices their settings, and makes searchable what was copied.
func (t *turn) ready(ctx context.Context) error {
	if err := t.putBack(ctx, kindSettings); err != nil {
		return err
	}
	return t.refresh(ctx)
}
