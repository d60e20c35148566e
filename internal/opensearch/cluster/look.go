package cluster

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/reshelve/reshelve/internal/fault"
)

// Name is that of a document. Documents of one id in one shard of an index are one document,
// whatever their routing values are.
type Name struct {
	Index   string `json:"_index"`
	ID      string `json:"_id"`
	Routing string `json:"routing,omitempty"`
}

// Standing is a document as a cluster has it now.
type Standing struct {
	Found   bool
	Routing string // its own, which may be another than that which led to its shard
	Version int64
	Seen    Seen // for a write on the condition that it is still the same
	Source  []byte
}

// lookAtOnce is how many documents one request asks for.
const lookAtOnce = 500

// Look gives the documents of these names as they are now, in their order: with all
// acknowledged writes, refreshed or not.
func (c *Client) Look(ctx context.Context, names []Name) ([]Standing, error) {
	var all []Standing
	for len(names) > 0 {
		n := min(len(names), lookAtOnce)
		found, err := c.lookAt(ctx, names[:n])
		if err != nil {
			return nil, err
		}
		all, names = append(all, found...), names[n:]
	}
	return all, nil
}

// lookAt asks once; in halves when the answer is too long.
func (c *Client) lookAt(ctx context.Context, names []Name) ([]Standing, error) {
	body, err := json.Marshal(map[string]any{"docs": names})
	if err != nil {
		return nil, fault.Wrap(fault.Bug, err)
	}
	answer, err := c.Send(ctx, Request{Method: http.MethodPost, Path: []string{"_mget"}, Body: body, Harmless: true})
	if fault.Is(err, fault.Limit) && len(names) > 1 {
		half := len(names) / 2
		first, err := c.lookAt(ctx, names[:half])
		if err != nil {
			return nil, err
		}
		second, err := c.lookAt(ctx, names[half:])
		return append(first, second...), err
	}
	if err != nil {
		return nil, err
	}
	var told struct {
		Docs []standingDoc `json:"docs"`
	}
	if err := json.Unmarshal(answer.Body, &told); err != nil || len(told.Docs) != len(names) {
		return nil, fault.At(fault.New(fault.Unavailable, "the answer about %d documents is not understood", len(names)), c.place)
	}
	all := make([]Standing, len(names))
	for i := range told.Docs {
		if all[i], err = told.Docs[i].standing(); err != nil {
			return nil, fault.At(err, c.place)
		}
	}
	return all, nil
}

type standingDoc struct {
	Found   bool            `json:"found"`
	Routing string          `json:"_routing"`
	Version int64           `json:"_version"`
	SeqNo   int64           `json:"_seq_no"`
	Term    int64           `json:"_primary_term"`
	Source  json.RawMessage `json:"_source"`
	Error   *told           `json:"error"`
}

func (d *standingDoc) standing() (Standing, error) {
	switch {
	case d.Error != nil && d.Error.Type == "routing_missing_exception": // no document can be there
		return Standing{}, nil
	case d.Error != nil:
		return Standing{}, d.Error.fault(http.StatusServiceUnavailable)
	case !d.Found:
		return Standing{}, nil
	case d.Term == 0:
		return Standing{}, fault.New(fault.Refused, "its answer holds no sequence numbers of documents")
	}
	return Standing{Found: true, Routing: d.Routing, Version: d.Version, Seen: Seen{d.SeqNo, d.Term}, Source: d.Source}, nil
}
