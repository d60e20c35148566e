package migrate

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
)

// Claim tells, among the records that a target holds itself, of a movement that is recorded
// elsewhere and writes to indices of that target: so all that write to them meet there. It
// stands in the ledger of its movement before it is made, and goes away by that.
type Claim struct {
	ID string `json:"id"`
	At string `json:"at"` // where the movement is recorded
	// State is planned until the movement has looked for others, and running from then on.
	State   movement.State `json:"state"`
	Indices []string       `json:"indices"`
	By      string         `json:"by,omitempty"` // the process that made it
	Made    time.Time      `json:"made"`
}

// KindClaim is the kind of ledger entries of claims; they are named by the movement.
const KindClaim = "claim"

const claims = "claims/"

// ClaimKey is the key of the claim of a movement.
func ClaimKey(id string) string { return claims + id }

// Claims are those that a target holds. One that is damaged, or another's, has the ID of its key, is
// Damaged, and claims nothing: it keeps no movement from its work, and abort --records-lost
// removes it as any other.
func Claims(ctx context.Context, records coord.Store) (all []Claim, err error) {
	found, err := records.List(ctx, claims)
	if err != nil {
		return nil, err
	}
	for _, record := range found {
		id := strings.TrimPrefix(record.Key, claims)
		var c Claim
		if err := json.Unmarshal(record.Value, &c); err != nil || c.ID != id {
			c = Claim{ID: id, State: movement.Damaged}
		}
		all = append(all, c)
	}
	return all, nil
}

// removeClaim takes the movement's claim off its target.
func (t *turn) removeClaim(ctx context.Context) error {
	if t.lane.Records == nil {
		return fault.New(fault.Bug, "nothing leads to the records on the target")
	}
	records, leave, err := t.lane.Records(ctx, t.plan.Target)
	if err != nil || records == nil { // nil: there are none any more
		return err
	}
	err = drive.New(records, 0).Remove(ctx, ClaimKey(t.movement.ID))
	if left := leave(); err == nil {
		err = left
	}
	return err
}
