package reshard

import (
	"encoding/json"
	"math"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/store/placement"
)

// DefaultBudget is how long requests may wait behind a fence when nobody says otherwise.
const DefaultBudget = 250 * time.Millisecond

// Plan is what a movement of this lane does.
type Plan struct {
	Index  string         `json:"index"`
	Shards placement.Plan `json:"shards"`
	// Budget is how long requests may wait behind the fence of one hand-off.
	Budget time.Duration `json:"pauseBudget"`
	// SearchesP95 is how long searches of the store took before, but for the slowest twentieth; 0:
	// there were too few of them to tell.
	SearchesP95 time.Duration `json:"searchesP95,omitempty"`
	Policy      work.Policy   `json:"policy"`
	// Again is the command that would ask for the same once more; "": not known.
	Again string `json:"again,omitempty"`
}

// Rate is how fast work goes behind the scenes; throttle changes it.
type Rate struct {
	// BytesPerSecond that are written of segments without what is another's; 0: no limit but what
	// searches leave.
	BytesPerSecond int64 `json:"bytesPerSecond,omitempty"`
}

// AtMost is the rate of so many bytes in a second, rounded up: a part of one is no "no limit".
func AtMost(bytesPerSecond float64) Rate {
	if bytesPerSecond >= math.MaxInt64 {
		return Rate{math.MaxInt64}
	}
	return Rate{int64(math.Ceil(bytesPerSecond))}
}

// The phases of a movement of this lane, besides the comparison at H, which is
// movement.VerifyPhase.
const (
	PhaseClone  = "clone"
	PhaseSwitch = "switch"
	PhaseRetire = "retire"
)

// Phases are those of a movement, in their order.
func Phases() []movement.Phase {
	return []movement.Phase{{Name: PhaseClone}, {Name: PhaseSwitch, Flips: true}, {Name: movement.VerifyPhase}, {Name: PhaseRetire, Retires: true}}
}

// Kind is the kind of movement that a plan makes.
func (p *Plan) Kind() movement.Kind {
	for _, g := range p.Shards.Groups {
		if len(g.From) > 1 {
			return movement.Merge
		}
	}
	return movement.Split
}

// ReadPlan is the plan of a movement.
func ReadPlan(m *movement.Record) (p Plan, err error) {
	if err := json.Unmarshal(m.Plan, &p); err != nil {
		return p, fault.At(fault.New(fault.Corrupt, "%w", err), "the plan of movement "+m.ID)
	}
	return p, nil
}
