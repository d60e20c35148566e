package worker

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/movement/work"
)

// Doing is what a slot does.
type Doing struct {
	Slot     string    `json:"slot"`               // its name in leases
	Ended    bool      `json:"ended,omitempty"`    // it works no more
	Movement string    `json:"movement,omitempty"` // "": it waits for work
	Phase    string    `json:"phase,omitempty"`
	Piece    string    `json:"piece,omitempty"` // the key of what it holds, without that of the movement
	Since    time.Time `json:"since"`           // when it began that, by this machine's clock
	Error    string    `json:"error,omitempty"` // of the last turn
}

// Board shows what the slots of a process do. The zero value is ready; nil shows nothing.
// Safe for concurrent use.
type Board struct {
	mu      sync.Mutex
	slots   map[string]Doing
	touched map[string]bool
}

// Slots are what the slots do, by name.
func (b *Board) Slots() []Doing {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []Doing
	for _, name := range slices.Sorted(maps.Keys(b.slots)) {
		all = append(all, b.slots[name])
	}
	return all
}

// Touched are the movements that something was done for, by ID.
func (b *Board) Touched() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.touched))
}

// show changes what a slot is seen to do.
func (b *Board) show(slot string, change func(*Doing)) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.slots == nil {
		b.slots, b.touched = map[string]Doing{}, map[string]bool{}
	}
	d := b.slots[slot]
	d.Slot = slot
	change(&d)
	b.slots[slot] = d
}

// begin shows that a slot takes a turn, or, without a movement, that it waits.
func (b *Board) begin(slot, movement, phase string) {
	b.show(slot, func(d *Doing) {
		if d.Movement != movement || d.Phase != phase || d.Since.IsZero() {
			d.Since = time.Now()
		}
		d.Movement, d.Phase, d.Piece = movement, phase, ""
	})
}

// hold shows that a slot holds a piece.
func (b *Board) hold(slot, key string) {
	b.show(slot, func(d *Doing) {
		d.Piece, d.Since = strings.TrimPrefix(key, work.Prefix(d.Movement)), time.Now()
	})
}

// done shows how a turn ended.
func (b *Board) done(slot, movement string, worked bool, err error) {
	b.show(slot, func(d *Doing) {
		d.Error = ""
		if err != nil {
			d.Error = err.Error()
		}
		if worked {
			b.touched[movement] = true
		}
	})
}

// end shows that a slot works no more.
func (b *Board) end(slot string) {
	b.show(slot, func(d *Doing) { *d = Doing{Slot: slot, Ended: true, Since: time.Now(), Error: d.Error} })
}
