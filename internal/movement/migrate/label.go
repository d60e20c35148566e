package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
)

// labelKey is the key of the movement's label in the _meta of the mapping of an index that it
// makes. The label comes with the request that makes the index: so an index that bears it was made
// by that request, also when the answer was lost, and what somebody else makes bears none. It stays.
const labelKey = "reshelve_movement"

// label names a movement, and no other that had, or will have, its id.
func label(m *movement.Record) string {
	return m.ID + " " + m.Created.UTC().Format(time.RFC3339Nano)
}

// labelled adds a label to the body of a request that makes an index, beside all that its _meta holds.
func labelled(body json.RawMessage, label string) (json.RawMessage, error) {
	mark, err := json.Marshal(label)
	if err != nil {
		return nil, fault.Wrap(fault.Bug, err)
	}
	return within(body, []string{"mappings", "_meta", labelKey}, mark)
}

// within puts a value into an object, at a path of which objects that are missing are made.
func within(object json.RawMessage, path []string, value json.RawMessage) (json.RawMessage, error) {
	if len(path) == 0 {
		return value, nil
	}
	members := map[string]json.RawMessage{}
	if object != nil {
		if err := json.Unmarshal(object, &members); err != nil {
			return nil, fault.New(fault.Corrupt, "the place of %s is not an object: %w", path[0], err)
		}
	}
	if members == nil { // of null
		members = map[string]json.RawMessage{}
	}
	var err error
	if members[path[0]], err = within(members[path[0]], path[1:], value); err != nil {
		return nil, err
	}
	whole, err := json.Marshal(members)
	return whole, fault.Wrap(fault.Bug, err)
}

// errNoIndex is the cause of whose, of a name that has become an alias or a data stream.
var errNoIndex = errors.New("not an index")

// whose is the identity of an index of the target, and whether it bears the movement's label, both
// of one instant. One that is not there is fault.NotFound.
func (t *turn) whose(ctx context.Context, name string) (identity string, ours bool, err error) {
	all, err := t.target.Indices(ctx, name)
	if err != nil {
		return "", false, err
	}
	index, there := all[name]
	switch identity, _ = index.Settings["index.uuid"].(string); {
	case len(all) == 0:
		return "", false, fault.At(fault.New(fault.NotFound, "the target has no such index"), name)
	case !there:
		return "", false, fault.New(fault.Refused, "%s is %w, but a name of %d", name, errNoIndex, len(all))
	case identity == "":
		return "", false, fault.At(fault.New(fault.Corrupt, "the target's answer holds no index.uuid"), name)
	}
	var mapping struct {
		Meta map[string]any `json:"_meta"`
	}
	if len(index.Mappings) > 0 {
		if err := json.Unmarshal(index.Mappings, &mapping); err != nil {
			return "", false, fault.At(fault.New(fault.Corrupt, "the target's mapping is not understood: %w", err), name)
		}
	}
	return identity, mapping.Meta[labelKey] == label(t.movement), nil
}
