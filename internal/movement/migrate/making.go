package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// kindIndex is the kind of ledger entries of indices; their identity is index.uuid.
const kindIndex = "index"

// makeIndex creates the index on the target, or all that it becomes there, unless they are there.
func (t *turn) makeIndex(ctx context.Context, held *drive.Held[entry, *entry]) error {
	if held.Piece().Stream != nil {
		return t.makeStream(ctx, held)
	}
	bodies, err := t.indexBodies(ctx, held.Piece().Index)
	for i := range bodies {
		if err == nil {
			err = t.makeOne(ctx, held, bodies[i].Name, bodies[i].JSON)
		}
	}
	return err
}

func (t *turn) makeOne(ctx context.Context, held *drive.Held[entry, *entry], name string, body json.RawMessage) error {
	there, err := t.target.IndexExists(ctx, name)
	if err == nil && !there {
		err = t.create(ctx, name, body)
	}
	if err == nil || cluster.Exists(err) { // made by an attempt of ours whose answer was lost, or by somebody else
		err = t.existing(ctx, held, name) // which writes down which index it is
	}
	if err != nil {
		return err
	}
	return t.lead(ctx, name)
}

// create makes an index with its label and its write alias. What it makes is in the ledger before.
func (t *turn) create(ctx context.Context, name string, body json.RawMessage) error {
	body, before, err := t.plan.Metadata.Reduce(body)
	if err == nil {
		body, err = labelled(body, label(t.movement))
	}
	if err == nil {
		body, err = t.withAlias(ctx, body, name)
	}
	if err == nil {
		err = t.Driver.Intend(ctx, t.movement.ID, t.aliasEntry(name))
	}
	if err != nil {
		return err
	}
	ours := movement.Entry{Kind: kindIndex, Name: name, Keep: true, By: t.Worker}
	if err := t.Driver.Intend(ctx, t.movement.ID, ours); err != nil {
		return err
	}
	if err := t.intendSettings(ctx, name, before); err != nil {
		return err
	}
	err = t.target.CreateIndex(ctx, name, body)
	if err != nil && strings.Contains(err.Error(), "indices:admin/aliases") {
		err = aliasRight(err, name)
	}
	return err
}

// identity tells an index from every other that has, had or will have its name.
func (t *turn) identity(ctx context.Context, index string) (string, error) {
	settings, err := t.target.Settings(ctx, index)
	if err != nil {
		return "", err
	}
	identity, _ := settings["index.uuid"].(string)
	if identity == "" {
		return "", fault.At(fault.New(fault.Corrupt, "the target tells no index.uuid"), index)
	}
	return identity, nil
}

// existing takes an index that the target has: ours, now or from an attempt before, or somebody
// else's as it is. An entry of the ledger that nobody has completed stays then, so that abort
// says what it left.
func (t *turn) existing(ctx context.Context, held *drive.Held[entry, *entry], name string) error {
	e, err := t.inLedger(ctx, kindIndex, name)
	if err != nil {
		return err
	}
	if e != nil {
		identity, labelled, err := t.whose(ctx, name)
		switch ours := err == nil && e.Ours(identity, labelled); {
		case err != nil:
			return err
		case ours && e.Made:
			return nil
		case ours:
			if err := t.bare(ctx, held, name); err != nil {
				return err
			}
			return t.Driver.Made(ctx, t.movement.ID, *e, identity)
		case e.Made: // somebody has put another in the place of ours: it is not ours to take away
			if err := t.Driver.Strike(ctx, t.movement.ID, *e); err != nil {
				return err
			}
		}
	}
	count, err := t.target.Count(ctx, name)
	if err != nil {
		return err
	}
	if count > 0 && !t.plan.IntoExisting && t.plan.since(held.Piece().Source) == nil {
		err := fault.New(fault.Refused, "the index %s of the target holds %s", name, counted(int(count), "documents"))
		return fault.WithNext(err, "choose another name with --rename, or allow it with --into-existing")
	}
	return held.Update(func(e entry, _ time.Time) (entry, error) {
		e.Existed = true
		return e, nil
	})
}

// inLedger is the entry of a thing; nil when there is none.
func (t *turn) inLedger(ctx context.Context, kind, name string) (*movement.Entry, error) {
	e, err := drive.Read[movement.Entry](ctx, t.Driver, movement.LedgerKey(t.movement.ID, kind, name))
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return &e, err
}

// checkSame refuses an index that is not the one which the movement has made: somebody has
// deleted that, or the target has made one by itself when documents came, and what stands
// there now lacks what was written before, and the settings and mappings of the plan.
func (t *turn) checkSame(ctx context.Context, name string) error {
	e, err := t.inLedger(ctx, kindIndex, name)
	if err != nil || e == nil || !e.Made {
		return err
	}
	identity, err := t.identity(ctx, name)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	return sameAs(e, identity)
}

// sameAs refuses the index of an identity, "" when there is none, if it is not that of the entry.
func sameAs(e *movement.Entry, identity string) error {
	if e == nil || !e.Made || identity == e.Identity {
		return nil
	}
	return anew(fault.New(fault.Refused, "index %s of the target is not the one that the movement has made: that was deleted meanwhile", e.Name))
}

// removeIndex deletes an index that the movement has made. One that somebody else has put in
// its place is left alone, and left tells so.
func (t *turn) removeIndex(ctx context.Context, e *movement.Entry) (left string, err error) {
	there, ours, err := t.isOurs(ctx, e)
	if err != nil || !there {
		return "", err
	}
	if !ours {
		return leftAlone(e, "index "+e.Name), nil
	}
	if err := t.target.DeleteIndex(ctx, e.Name); err != nil && !fault.Is(err, fault.NotFound) {
		return "", err
	}
	return "", nil
}

// isOurs tells whether an index is there, and is that of its entry.
func (t *turn) isOurs(ctx context.Context, e *movement.Entry) (there, ours bool, err error) {
	identity, labelled, err := t.whose(ctx, e.Name)
	switch {
	case fault.Is(err, fault.NotFound):
		return false, false, nil
	case errors.Is(err, errNoIndex): // somebody has deleted the index, and given its name to an alias or a data stream
		return true, false, nil
	}
	return true, err == nil && e.Ours(identity, labelled), err
}
