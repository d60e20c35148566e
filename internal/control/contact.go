package control

import (
	"context"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/snapshot/blob"
)

// contact says how long a host is tried that has never answered: less long for a plan than for other verbs.
type contact uint8

const (
	forVerb contact = iota
	forPlan
)

// Silence is how long the first answer of a host may take. Refused is how long a host is tried that refuses connections, or whose
// name is not known, since one that starts may answer in a moment. With the start of the program, a plan ends within 5 s of
// silence, and any verb within 2 s of refusals.
const (
	verbSilence   = 20 * time.Second
	planSilence   = 4 * time.Second
	refusedWithin = time.Second
	refusedTries  = 4 // of the store of a repository: they take about refusedWithin
)

// planning is a Control for plans, which start nothing.
func (c *Control) planning() *Control {
	return &Control{wiring: c.wiring, permits: c.permits, contact: forPlan}
}

// silence is how long the first answer may take.
func (c contact) silence() time.Duration {
	if c == forPlan {
		return planSilence
	}
	return verbSilence
}

// bucket is how long the store of a repository is tried.
func (c contact) bucket() blob.Contact {
	return blob.Contact{Silence: c.silence(), Refused: refusedTries}
}

// cluster sets how long a cluster is tried.
func (c contact) cluster(o *cluster.Options) {
	o.Soon, o.Silence = refusedWithin, c.silence()
}

// records opens a coordination store that is a database, and ends that after the silence: its driver has no such limit.
func (c contact) records(ctx context.Context, at string, open func(context.Context) (coord.Store, error)) (coord.Store, error) {
	bounded, cancel := context.WithTimeout(ctx, c.silence())
	defer cancel()
	records, err := open(bounded)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		err = fault.At(fault.New(fault.Unavailable, "no answer within %s", c.silence()), Bare(at))
		err = fault.WithNext(err, "see whether PostgreSQL answers there: pg_isready -d %s; or name another place", Quoted(Bare(at)))
	}
	return records, err
}
