package migrate

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// sighted is what the comparison before a repair has seen of an index: what whoever ordered the repair could read. A
// repair that replaces or deletes what others have written does that to nothing else.
type sighted struct {
	uuid   string            // of the index; "": it is not known
	sights []reconcile.Sight // in order
}

// has tells whether the comparison has seen a document in a content.
func (s *sighted) has(key, content uint64) bool {
	_, has := slices.BinarySearch(s.sights, reconcile.SightOf(key, content))
	return has
}

// sightsKey is the key of what a comparison keeps of what it has seen in one pass of an index; "" is the prefix of them.
func (t *turn) sightsKey(check, name string) string { return t.key("seen", check, name) }

// seen is what is kept of one pass.
type seen struct {
	Sights []byte `json:"sights"` // 8 bytes each
}

// keepSights keeps what a pass has seen, in a record of its own, which the record of how far the comparison is then names.
func (c *comparing) keepSights(ctx context.Context, pass int, sights []reconcile.Sight) error {
	text := make([]byte, 0, 8*len(sights))
	for _, s := range sights {
		text = binary.BigEndian.AppendUint64(text, uint64(s))
	}
	name := fmt.Sprintf("%s~%d~%d", strings.ReplaceAll(work.Safe(c.Worker), "~", "%7e"), pass, c.AsOf.UnixMilli())
	if err := c.Driver.Put(ctx, c.sightsKey(c.name, name), seen{text}); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Sights, c.unkept, c.dirty = append(slices.Clip(c.Sights), name), false, true
	return nil
}

// sightedBefore reads what the comparison before the repair has seen of the index of a piece. Where nothing tells, it has
// seen nothing.
func (t *turn) sightedBefore(ctx context.Context, piece, target string) (*sighted, error) {
	s := &sighted{}
	key := "check/" + work.Safe(t.comparedLast(t.phase)) + piece[strings.LastIndexByte(piece, '/'):]
	compared, err := drive.Read[check](ctx, t.Driver, t.key(key))
	if err != nil || compared.State != work.Done || compared.Target != target {
		return s, unlessGone(err)
	}
	s.uuid = compared.UUID
	for _, name := range compared.Sights {
		pass, err := drive.Read[seen](ctx, t.Driver, t.sightsKey(key, name))
		if unlessGone(err) != nil {
			return nil, err
		}
		for text := pass.Sights; len(text) >= 8; text = text[8:] {
			s.sights = append(s.sights, reconcile.Sight(binary.BigEndian.Uint64(text)))
		}
	}
	slices.Sort(s.sights)
	return s, nil
}

// comparedLast is the key of the last comparison before a phase; "" when there was none.
func (t *turn) comparedLast(before *movement.Phase) (key string) {
	for i := range t.movement.Phases {
		p := &t.movement.Phases[i]
		if p.Key() == before.Key() {
			break
		}
		if p.Name == movement.VerifyPhase {
			key = p.Key()
		}
	}
	return key
}

// unlessGone leaves out the error of a record that is gone, or cannot be read.
func unlessGone(err error) error {
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Corrupt) {
		return nil
	}
	return err
}

// forgetSights removes what the comparison before a phase has kept: a repair goes by the last one.
func (t *turn) forgetSights(ctx context.Context, phase *movement.Phase) error {
	before := t.comparedLast(phase)
	if before == "" {
		return nil
	}
	return t.Driver.RemoveAll(ctx, t.key("seen", "check/"+work.Safe(before), ""))
}

// identityIfTold is the identity of an index of the target; "" where the credentials may not read it, or there is no such index.
func (t *turn) identityIfTold(ctx context.Context, target string) (string, error) {
	uuid, err := t.identity(ctx, target)
	if fault.Is(err, fault.Unauthorised) || fault.Is(err, fault.NotFound) || fault.Is(err, fault.Corrupt) {
		return "", nil
	}
	return uuid, err
}

// compared refuses to repair an index that is not the one which was compared: before the repair, and by it.
func (c *comparing) compared(ctx context.Context) error {
	target := c.held.Piece().Target
	uuid, err := c.identityIfTold(ctx, target)
	if was := cmp.Or(c.agreed.uuid, c.UUID); err != nil || was == "" || uuid == was && c.UUID == was {
		return err
	}
	return fault.New(fault.Refused, "index %s is not the one that was compared: it was made again since, or deleted, or its settings cannot be read any more. The repair "+
		"has changed nothing in it, and the comparison that follows is of the one that is there now (reshelve movement verify %s compares again): repair by what that finds", target, c.movement.ID)
}
