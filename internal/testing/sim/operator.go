package sim

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
)

// operator is the person who is asked when a movement is held: to repair what is listed, and
// to drive again what failed, or the other way round; then to accept it. What does not get on
// is resumed, as often as it takes.
type operator struct {
	world    *migration
	busy     bool
	asked    int
	accepted bool
	listed   string // what was accepted
	aborted  bool
}

// patience is how often an operator does something about a movement.
const patience = 12

// look is for a movement that waits for an operator.
func (o *operator) look(m movement.Record) {
	if o.busy {
		return
	}
	if o.asked++; o.asked > patience {
		o.world.violate("L11", "it is %s again and again: %s", m.State, m.Cause)
		o.world.end()
		return
	}
	verb := movement.Resume
	switch {
	case m.State != movement.Held || !m.Listed:
	case o.asked > 2:
		verb, o.accepted, o.listed = movement.Finish, true, m.Cause
	case uint64(o.asked)%2 == o.world.script.Seed%2:
		verb = movement.Repair
	default:
		verb = movement.Redrive
	}
	o.busy = true
	o.world.after(5*time.Second, func() { o.ask(verb, nil) })
}

// ask tells the store, in an orderly process of the operator's own.
func (o *operator) ask(verb movement.Verb, rate json.RawMessage) {
	w := o.world
	if w.over {
		return
	}
	o.busy = true
	o.aborted = o.aborted || verb == movement.Abort
	p := w.newProcess("operator", fmt.Sprintf("operator.%d.%d", len(w.report.Verbs), w.calls))
	w.report.Verbs = append(w.report.Verbs, string(verb))
	go func() {
		d := drive.New(view{p}, 0)
		_, _, err := d.Apply(p.ctx, w.id, movement.Event{Verb: verb, By: "operator", Rate: rate})
		p.cancel()
		w.arrive(&call{process: p, verb: "exits", text: fmt.Sprint(err), do: func() any {
			w.alive--
			o.busy = false
			return nil
		}})
	}()
}
