package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/reshelve/reshelve/cluster"
	"github.com/reshelve/reshelve/drive"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/movement"
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
	ours := movement.Entry{Kind: kindStream, Name: name, Keep: true, By: t.Worker}
	e, err := t.inLedger(ctx, kindStream, name)
	switch {
	case err != nil:
		return err
	case len(there) > 0 && e == nil:
		return t.joinStream(held, name)
	case len(there) > 0:
		return t.madeStream(ctx, ours, &there[0])
	}
	err = t.createStream(ctx, ours)
	if cluster.NoTemplate(err) {
		// What is undone first stands on what is undone later: the template's entry comes first.
		if err = t.Driver.Strike(ctx, t.movement.ID, ours); err == nil {
			err = t.makeStreamTemplate(ctx, &index)
		}
		if err == nil {
			err = t.createStream(ctx, ours)
		}
	}
	if err != nil && !cluster.Exists(err) { // by the piece of another index, or an attempt before
		return err
	}
	if there, err = t.target.DataStreams(ctx, name); err != nil || len(there) == 0 {
		return fault.New(fault.Unavailable, "the data stream %s was made and is not there: %w", name, err)
	}
	return t.madeStream(ctx, ours, &there[0])
}

func (t *turn) createStream(ctx context.Context, ours movement.Entry) error {
	if err := t.Driver.Intend(ctx, t.movement.ID, ours); err != nil {
		return err
	}
	return t.target.CreateDataStream(ctx, ours.Name)
}

// joinStream appends to a data stream that the target has.
func (t *turn) joinStream(held *drive.Held[entry, *entry], name string) error {
	if !t.plan.IntoExisting {
		err := fault.New(fault.Refused, "the target has a data stream %s", name)
		return fault.WithNext(err, "allow to append to it with --into-existing, or leave its indices out")
	}
	return held.Update(func(e entry, _ time.Time) (entry, error) {
		e.Existed = true
		return e, nil
	})
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
	if e, err := t.inLedger(ctx, ours.Kind, ours.Name); err != nil || e != nil && e.Made {
		return err
	} else if there && e == nil {
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
	// Every backing index of a stream needs it, and several workers may make it at once.
	if err := t.target.CreateTemplate(ctx, cluster.ComposableTemplate, ours.Name, body); err != nil && !cluster.Exists(err) {
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

// removeStream deletes a data stream that the movement has made. One that somebody else has
// put in its place is left alone, and left tells so.
func (t *turn) removeStream(ctx context.Context, e *movement.Entry) (left string, err error) {
	streams, err := t.target.DataStreams(ctx, e.Name)
	if err != nil || len(streams) == 0 {
		return "", err
	}
	indices := slices.Clone(streams[0].Indices)
	if e.Made && len(indices) > 0 {
		identity, err := t.identity(ctx, indices[0])
		if err != nil {
			return "", err
		}
		if identity != e.Identity {
			return fmt.Sprintf("data stream %s is not the one that the movement made: it was left alone", e.Name), nil
		}
	}
	return "", t.target.DeleteDataStream(ctx, e.Name)
}
