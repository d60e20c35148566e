package migrate

import (
	"cmp"
	"context"
	"strconv"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
)

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

// backingOf is the index of the target that the documents of a backing index went into; "" when
// nothing tells.
func (t *turn) backingOf(ctx context.Context, index string) (string, error) {
	named, err := drive.Pieces[backing](ctx, t.Driver, t.backingKey(index))
	return named[""].Name, err
}

// writesTo is what documents of an index are written to: where they go into a data stream, that,
// or the index behind it that has the others, when it is not the newest any more.
func (t *turn) writesTo(ctx context.Context, index string) (string, error) {
	target := t.targetOf(index)
	if t.streams[index] == nil {
		return target, nil
	}
	name, err := t.backingOf(ctx, index)
	if err != nil || name == "" {
		return target, err
	}
	indices, err := t.indicesOf(ctx, target)
	if err == nil && indices[len(indices)-1] != name {
		target = name
	}
	return target, err
}

// comparedWith is the index of the target that a comparison looks at. Where the record of what
// a backing index got is gone, it is the whole stream, which differs.
func (t *turn) comparedWith(ctx context.Context, index *Index, name string) (target string, err error) {
	if index.Stream == nil {
		return name, nil
	}
	target, err = t.backingOf(ctx, index.Source)
	return cmp.Or(target, index.Target), err
}
