package migrate

import (
	"context"
	"encoding/json"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// kindStream is the kind of ledger entries of data streams; their identity is the uuid of
// their first backing index.
const kindStream = "data-stream"

// makeStream makes the data stream that an index goes into, unless another of its indices has
// done so. What backs it comes when it is the index's turn.
func (t *turn) makeStream(ctx context.Context, held *drive.Held[entry, *entry]) error {
	index := held.Piece().Index
	name := index.Target
	there, err := t.target.DataStreams(ctx, name)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	if len(there) > 0 {
		return t.foundStream(ctx, held, &there[0])
	}
	ours := movement.Entry{Kind: kindStream, Name: name, Keep: true, By: t.Worker}
	err = t.createStream(ctx, ours)
	if cluster.NoTemplate(err) {
		if err = t.makeStreamTemplate(ctx, &index); err == nil {
			err = t.createStream(ctx, ours)
		}
	}
	if err != nil && !cluster.Exists(err) {
		return err
	}
	made := err == nil // otherwise by the piece of another index, an attempt before, or somebody else
	if there, err = t.target.DataStreams(ctx, name); err != nil || len(there) == 0 {
		return fault.New(fault.Unavailable, "the data stream %s was made and is not there: %w", name, err)
	}
	if !made {
		return t.foundStream(ctx, held, &there[0])
	}
	return t.madeStream(ctx, ours, &there[0])
}

// foundStream takes a data stream that the target has: the one that the movement has made, or
// somebody else's as it is. An entry of the ledger that nobody has completed proves nothing: the
// stream is then written to if it is empty, and abort leaves it.
func (t *turn) foundStream(ctx context.Context, held *drive.Held[entry, *entry], there *cluster.DataStream) error {
	e, err := t.completed(ctx, kindStream, there.Name)
	if err != nil {
		return err
	}
	empty := false
	if e != nil {
		identity, err := t.identity(ctx, there.Indices[0])
		if err != nil {
			return err
		}
		if e.Proves(identity) {
			return t.madeStream(ctx, *e, there)
		}
		count, err := t.target.Count(ctx, there.Name)
		if err != nil {
			return err
		}
		empty = !e.Made && count == 0
	}
	if !t.plan.IntoExisting && !empty {
		err := fault.New(fault.Refused, "the target has a data stream %s", there.Name)
		return fault.WithNext(err, "allow to append to it with --into-existing, or leave its indices out")
	}
	return held.Update(func(e entry, _ time.Time) (entry, error) {
		e.Existed = true
		return e, nil
	})
}

// completed is the entry of a thing that is there; nil when there is none. While another slot may be
// about to complete it, that is waited for.
func (t *turn) completed(ctx context.Context, kind, name string) (e *movement.Entry, err error) {
	const looks = 8
	for range looks {
		if e, err = t.inLedger(ctx, kind, name); err != nil || e == nil || e.Made {
			return e, err
		}
		if err = drive.Wait(ctx, 2*t.plan.Policy.Heartbeat/looks); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (t *turn) createStream(ctx context.Context, ours movement.Entry) error {
	if err := t.Driver.Intend(ctx, t.movement.ID, ours); err != nil {
		return err
	}
	return t.target.CreateDataStream(ctx, ours.Name)
}

// madeStream writes down which stream it is that we have made, and where its first documents go.
func (t *turn) madeStream(ctx context.Context, ours movement.Entry, made *cluster.DataStream) error {
	identity, err := t.identity(ctx, made.Indices[0])
	if err != nil {
		return err
	}
	if err := t.Driver.Made(ctx, t.movement.ID, ours, identity); err != nil {
		return err
	}
	return t.Driver.Make(ctx, t.backingKey(t.first(made.Name)), backing{Name: made.Indices[0]})
}

// makeStreamTemplate makes a template for one stream, with the settings and mappings of an
// index of it: the target has none that fits.
func (t *turn) makeStreamTemplate(ctx context.Context, index *Index) error {
	template := Template{Kind: ComposableTemplate, Name: "reshelve-" + index.Target}
	ours := movement.Entry{Kind: string(template.Kind), Name: template.Name, Keep: true, By: t.Worker}
	there, err := TemplateExists(ctx, t.target, template)
	if err != nil {
		return err
	}
	if e, err := t.inLedger(ctx, ours.Kind, ours.Name); err != nil || e != nil && (e.Made || there) {
		return err
	} else if there {
		err := fault.New(fault.Refused, "the target has a template %s, which makes no data stream %s", template.Name, index.Target)
		return fault.WithNext(err, "remove that template, or make one for the data stream")
	}
	bodies, err := t.indexBodies(ctx, *index)
	if err != nil {
		return err
	}
	body, err := streamTemplate(index.Target, bodies[0].JSON)
	if err != nil {
		return err
	}
	if err := t.Driver.Intend(ctx, t.movement.ID, ours); err != nil {
		return err
	}
	err = t.target.CreateTemplate(ctx, cluster.ComposableTemplate, ours.Name, body)
	if cluster.Exists(err) { // several workers may make it at once: whoever did completes the entry
		return nil
	}
	if err != nil {
		return err
	}
	return t.madeTemplate(ctx, ours)
}

// streamTemplate is a template that makes a data stream of a name, of the body that would make
// one of its indices.
func streamTemplate(stream string, body json.RawMessage) ([]byte, error) {
	var inner map[string]json.RawMessage
	settings := map[string]any{}
	if err := json.Unmarshal(body, &inner); err != nil {
		return nil, fault.Wrap(fault.Bug, err)
	}
	if s, ok := inner["settings"]; ok {
		if err := json.Unmarshal(s, &settings); err != nil {
			return nil, fault.Wrap(fault.Bug, err)
		}
	}
	delete(settings, "index.hidden") // the target hides what backs a stream
	kept := map[string]any{"settings": settings}
	if m, ok := inner["mappings"]; ok {
		kept["mappings"] = m
	}
	template, err := json.Marshal(map[string]any{"index_patterns": []string{stream}, "data_stream": map[string]any{}, "priority": 500, "template": kept})
	return template, fault.Wrap(fault.Bug, err)
}

// removeStream deletes a data stream that the movement has made. One that is not proved to be
// that, whether somebody has put it in its place or nobody knows how the making ended, is left
// alone, and left tells so: a stream goes with its documents.
func (t *turn) removeStream(ctx context.Context, e *movement.Entry) (left string, err error) {
	streams, err := t.target.DataStreams(ctx, e.Name)
	if err != nil || len(streams) == 0 {
		return "", err
	}
	identity := ""
	if indices := streams[0].Indices; e.Made && len(indices) > 0 {
		if identity, err = t.identity(ctx, indices[0]); err != nil {
			return "", err
		}
	}
	if !e.Proves(identity) {
		return leftAlone(e, "data stream "+e.Name), nil
	}
	return "", t.target.DeleteDataStream(ctx, e.Name)
}
