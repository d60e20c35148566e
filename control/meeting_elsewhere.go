package control

import (
	"context"

	"github.com/reshelve/reshelve/cluster"
	"github.com/reshelve/reshelve/coord"
	"github.com/reshelve/reshelve/fault"
)

// refuseOnTarget refuses a plan that is recorded beside its target, while a movement that the
// target itself records writes to the same indices. Two places that both lie beside the target
// know nothing of each other: that cannot be met.
func (l *looking) refuseOnTarget(ctx context.Context) error {
	target := l.side.targets.at(l.req.recorded())
	if !l.side.beside || target == nil {
		return nil
	}
	records, leave, err := l.control.recordsOn(ctx, target)
	if err != nil || records == nil {
		if fault.Is(err, fault.Unauthorised) { // who records elsewhere may not be let in
			return nil
		}
		return err
	}
	err = fault.At(refuseTwice(ctx, &side{coord: records}, l.Plan, l.req.own), "the records on the target itself")
	if left := leave(); err == nil {
		err = left
	}
	return err
}

// recordsOn are the records of movements that a target holds itself; nil when it holds none: to
// look makes none.
func (c *Control) recordsOn(ctx context.Context, t *target) (records coord.Store, leave func() error, err error) {
	if t.records != nil {
		return t.records, func() error { return nil }, nil
	}
	server, err := t.Client.Server(ctx)
	if err != nil {
		return nil, nil, err
	}
	if server.Product != cluster.Reshelve {
		if there, err := t.Client.IndexExists(ctx, recordsIndex); err != nil || !there {
			return nil, nil, err
		}
	}
	if records, err = c.wiring.Coordinate(ctx, t.Reached); err != nil {
		return nil, nil, err
	}
	return records, records.Close, nil
}
