package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/cluster"
	"github.com/reshelve/reshelve/drive"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/movement"
	"github.com/reshelve/reshelve/work"
	"github.com/reshelve/reshelve/worker"
)

// kindStream is the kind of ledger entries of data streams; their identity is the uuid of
// their first backing index.
const kindStream = "data-stream"

// streams are the indices of a plan that are appended to data streams, by their names.
func (p *Plan) streams() map[string]*InStream {
	all := map[string]*InStream{}
	for i := range p.Indices {
		if p.Indices[i].Stream != nil {
			all[p.Indices[i].Source] = p.Indices[i].Stream
		}
	}
	return all
}

// backing is where the documents of one backing index go: its record. Before is how many
// indices the stream had when its turn came, and Name the one that it got.
type backing struct {
	Before int    `json:"before"`
	Name   string `json:"name,omitempty"`
}

func (t *turn) backingKey(index string) string { return t.key("backing", work.Safe(index)) }

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
	if err != nil && strings.Contains(err.Error(), "no matching index template") {
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

// first is the index whose documents go into a data stream first.
func (t *turn) first(stream string) (source string) {
	least := -1
	for i := range t.plan.Indices {
		if s := t.plan.Indices[i].Stream; s != nil && s.Name == stream && (least < 0 || s.Nth < least) {
			least, source = s.Nth, t.plan.Indices[i].Source
		}
	}
	return source
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

// findInOrder is the key of an item that can be claimed, of a movement with data streams: which
// items come next is told by all of them. Done is the outcome when there is none to be claimed
// for a better reason than that others have them.
func findInOrder(ctx context.Context, t *turn) (key string, done *worker.Outcome, err error) {
	items, err := drive.Pieces[work.Item](ctx, t.Driver, work.ItemsPrefix(t.movement.ID))
	if err != nil {
		return "", nil, err
	}
	waiting, opened, err := t.inTurn(ctx, items)
	if err != nil || opened != nil {
		return "", opened, err
	}
	key, left := worker.Choose(ctx, waiting, t.plan.Policy, t.now(ctx))
	if left == 0 && len(waiting) == len(items) {
		outcome := ended(items, "items")
		return "", &outcome, nil
	}
	if key == "" {
		return "", nil, nil
	}
	return work.ItemsPrefix(t.movement.ID) + key, nil, nil
}

// inTurn are the items whose documents may be copied now. Those of a data stream go one
// backing index after the other, for only the newest is written to: when the items of one have
// ended, the stream gets a new index for those of the next; opened tells of that.
func (t *turn) inTurn(ctx context.Context, items map[string]work.Item) (waiting map[string]work.Item, opened *worker.Outcome, err error) {
	named, err := drive.Pieces[backing](ctx, t.Driver, t.key("backing", ""))
	if err != nil {
		return nil, nil, err
	}
	open, wait := map[string]int{}, map[string]string{} // by stream: the first whose items have not ended
	for _, item := range items {
		if s := t.streams[item.Index]; s != nil && item.State == work.Waiting {
			if n, known := open[s.Name]; !known || s.Nth < n {
				open[s.Name], wait[s.Name] = s.Nth, item.Index
			}
		}
	}
	for stream, index := range wait {
		if named[work.Safe(index)].Name == "" {
			outcome, err := t.openBacking(ctx, stream, index)
			return nil, &outcome, err
		}
	}
	waiting = map[string]work.Item{}
	for key, item := range items {
		if s := t.streams[item.Index]; s == nil || item.State != work.Waiting || s.Nth == open[s.Name] {
			waiting[key] = item
		}
	}
	return waiting, nil, nil
}

// openBacking gives a stream a new index to write to.
func (t *turn) openBacking(ctx context.Context, stream, index string) (worker.Outcome, error) {
	key := t.key("phase", "stream", work.Safe(stream), strconv.Itoa(t.streams[index].Nth))
	outcome, err := worker.Single(ctx, t.Slot, t.movement, key, t.plan.Policy, func(ctx context.Context) error {
		indices, err := t.indicesOf(ctx, stream)
		if err != nil {
			return err
		}
		if err := t.Driver.Make(ctx, t.backingKey(index), backing{Before: len(indices)}); err != nil {
			return err
		}
		before, err := drive.Pieces[backing](ctx, t.Driver, t.backingKey(index))
		if err != nil {
			return err
		}
		if len(indices) == before[""].Before { // else an attempt before has done it
			if err := t.target.Rollover(ctx, stream); err != nil {
				return err
			}
			if indices, err = t.indicesOf(ctx, stream); err != nil {
				return err
			}
		}
		return t.Driver.Put(ctx, t.backingKey(index), backing{Before: before[""].Before, Name: indices[len(indices)-1]})
	})
	return worker.Outcome{Worked: outcome.Worked, Failed: outcome.Failed, Piece: outcome.Piece, Text: outcome.Text}, err
}

func (t *turn) indicesOf(ctx context.Context, stream string) ([]string, error) {
	streams, err := t.target.DataStreams(ctx, stream)
	if err == nil && len(streams) != 1 {
		err = fault.New(fault.NotFound, "the target has no data stream %s", stream)
	}
	if err != nil {
		return nil, err
	}
	return streams[0].Indices, nil
}

// comparisons are the names of the comparisons of an index: the indices of the target that it
// becomes, or, in a data stream, its own.
func (i *Index) comparisons() []string {
	if i.Stream != nil {
		return []string{i.Source}
	}
	return i.Targets()
}

// comparedWith is the index of the target that a comparison looks at. Where the record of what
// a backing index got is gone, it is the whole stream, which differs.
func (t *turn) comparedWith(ctx context.Context, index *Index, name string) (string, error) {
	if index.Stream == nil {
		return name, nil
	}
	named, err := drive.Pieces[backing](ctx, t.Driver, t.backingKey(index.Source))
	if err == nil && named[""].Name != "" {
		return named[""].Name, nil
	}
	return index.Target, err
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
