package migrate

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/internal/movement/waits"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
)

// Progress is how far a migration is, as its records tell.
type Progress struct {
	Indices []IndexProgress `json:"indices"`
	Items   States          `json:"items"`
	// Templates are those of the plan, and what became of them.
	Templates []TemplateProgress `json:"templates,omitempty"`
	work.Counts
	// Expected are the documents of the plan, and the bytes of their sources.
	Expected      int64 `json:"expected"`
	ExpectedBytes int64 `json:"expectedBytes"`
	// Phase is the current one: its key, "settling" or "undoing"; "" at the end.
	Phase string `json:"phase,omitempty"`
	// Workers are the slots, of whatever process, that hold a lease and were heard of.
	Workers int `json:"workers"`
	// Heard is when a worker was heard of last, by the store's time.
	Heard time.Time `json:"heard,omitzero"`
	// AsOf is the store's time for which the counts hold: each worker stores its own at its
	// own heartbeats, and this is the mean of the newest.
	AsOf   time.Time `json:"asOf,omitzero"`
	Limits Limits    `json:"limits,omitzero"`
	// Waits are why requests of its workers do not succeed, to the target, the repository or the source, the oldest first;
	// Waiting is the cause of that one.
	Waits   []waits.Wait `json:"waits,omitempty"`
	Waiting string       `json:"waiting,omitempty"`
	Pace
	// Unable is why processes cannot work for it, that have tried lately.
	Unable []worker.Inability `json:"unable,omitempty"`
	// Hindrances are why it does not get to its end as it is, or not before long.
	Hindrances []Hindrance `json:"hindrances,omitempty"`
	// Verified is what the last comparison has shown, index by index.
	Verified []Verified `json:"verified,omitempty"`
	// Uncompared are the indices that it could not compare, ordered.
	Uncompared []Uncompared `json:"uncompared,omitempty"`
	// Compared are the documents of both sides that it has read, as far as that was written down.
	Compared int64 `json:"compared,omitempty"`
	// Steps are what those of the transformation have done; nil before all is compared.
	Steps []StepProgress `json:"steps,omitempty"`
	// Causes of failed pieces and attempts, with how many there are of each.
	Causes map[string]int `json:"causes,omitempty"`
	// failedFor are the causes of the items that failed, one for each of them.
	failedFor []string
	// Taken is how far the snapshot is that is taken first; nil when it was there.
	Taken *Taken `json:"taken,omitempty"`
	// Left are sentences about what the end of the movement has left alone.
	Left []string `json:"left,omitempty"`
	// Failures are the causes of the documents that failed, the most frequent first.
	Failures []Cause `json:"failures,omitempty"`
}

// States counts pieces.
type States struct {
	Waiting int `json:"waiting"`
	Leased  int `json:"leased"`
	Done    int `json:"done"`
	Failed  int `json:"failed"`
}

// IndexProgress is that of one index.
type IndexProgress struct {
	Index
	Existed bool        `json:"existed,omitempty"`
	State   work.State  `json:"state,omitempty"` // of its entry
	Cause   string      `json:"cause,omitempty"`
	Items   States      `json:"items"`
	Copied  work.Counts `json:"copied"`
	// Changed is what a delta has met, shard by shard added up; nil where all is copied.
	Changed *Changed `json:"changed,omitempty"`
}

// Lacks tells whether movements have perhaps not brought all documents of the index that is told of at a place of Indices: this
// one, or one that it went on from. Nothing shows whether a document that the comparison found missing was deleted by others, nor
// what is missing of those that it did not compare one by one.
func (p *Progress) Lacks(at int) bool {
	index := &p.Indices[at]
	for i := range p.Verified {
		if v := &p.Verified[i]; v.Index == index.Source && (v.Result.Counts[reconcile.Missing] > 0 || v.Result.Rest != nil) {
			return true
		}
	}
	return index.Copied.Failed > 0 || index.Items.Failed > 0 || index.Since != nil && index.Since.Lacking
}

// addIndices begins with what is planned for each index, and gives them by their sources.
func (p *Progress) addIndices(plan *Plan, entries map[string]entry, holders *holders) map[string]*IndexProgress {
	for _, index := range plan.Indices {
		p.Expected += index.Documents
		p.ExpectedBytes += index.Bytes
		e := entries[work.Safe(index.Source)]
		holders.see(&e.Lease)
		p.Indices = append(p.Indices, IndexProgress{Index: index, Existed: e.Existed, State: e.State, Cause: e.Cause})
		if e.Cause != "" {
			p.Causes[e.Cause]++
		}
	}
	at := map[string]*IndexProgress{}
	for i := range p.Indices {
		at[p.Indices[i].Source] = &p.Indices[i]
	}
	return at
}

// ProgressOf adds up the records of a migration.
func ProgressOf(ctx context.Context, d *drive.Driver, m *movement.Record) (*Progress, error) {
	p, err := achieved(ctx, d, m)
	if err != nil {
		return nil, err
	}
	now, err := d.Now(ctx)
	if err != nil {
		return nil, err
	}
	if p.Unable, err = worker.Inabilities(ctx, d, m, now); err != nil {
		return nil, err
	}
	if p.Waits, err = worker.Waits(ctx, d, m, now); err != nil {
		return nil, err
	}
	if len(p.Waits) > 0 {
		p.Waiting = p.Waits[0].Cause
	}
	return p, nil
}

// achieved is the progress without what keeps processes from the work, and makes them wait: the end of a movement does not need that.
func achieved(ctx context.Context, d *drive.Driver, m *movement.Record) (*Progress, error) {
	plan, err := ReadPlan(m)
	if err != nil {
		return nil, err
	}
	entries, err := drive.Pieces[entry](ctx, d, work.Prefix(m.ID)+"index/")
	if err != nil {
		return nil, err
	}
	items, err := drive.Pieces[work.Item](ctx, d, work.ItemsPrefix(m.ID))
	if err != nil {
		return nil, err
	}
	now, err := d.Now(ctx)
	if err != nil {
		return nil, err
	}
	p := &Progress{Causes: map[string]int{}, Phase: Current(m)}
	if p.Limits, err = ReadLimits(m.Rate); err != nil {
		return nil, err
	}
	holders := holders{policy: plan.Policy, now: now}
	if p.Templates, err = templatesOfMovement(ctx, d, m.ID, &plan); err != nil {
		return nil, err
	}
	if p.Taken, err = takenOf(ctx, d, m.ID, &plan); err != nil {
		return nil, err
	}
	at := p.addIndices(&plan, entries, &holders)
	for _, item := range items {
		p.add(&item, at[item.Index])
		holders.see(&item.Lease)
	}
	if err := p.addChanges(ctx, d, m.ID, at, &holders); err != nil {
		return nil, err
	}
	p.AsOf = holders.asOf()
	if err := p.countFailures(ctx, d, m.ID, at); err != nil {
		return nil, err
	}
	all, err := p.addVerified(ctx, d, m, &holders)
	if err != nil {
		return nil, err
	}
	if all {
		if p.Steps, err = StepsOf(&plan, p.Verified); err != nil {
			return nil, err
		}
	}
	phases, err := drive.Pieces[work.Lease](ctx, d, work.Prefix(m.ID)+"phase/")
	if err != nil {
		return nil, err
	}
	for _, lease := range phases {
		holders.see(&lease)
	}
	repairs, err := drive.Pieces[work.Lease](ctx, d, work.Prefix(m.ID)+"repair/")
	if err != nil {
		return nil, err
	}
	for _, lease := range repairs {
		holders.see(&lease)
	}
	p.Workers, p.Heard = len(holders.names), holders.heard
	slices.SortFunc(p.Indices, func(a, b IndexProgress) int { return strings.Compare(a.Source, b.Source) })
	return p, nil
}

// addVerified adds the checks of the newest comparison that has begun, as far as they are done;
// whole tells that all of them are.
func (p *Progress) addVerified(ctx context.Context, d *drive.Driver, m *movement.Record, h *holders) (whole bool, err error) {
	for i := len(m.Phases) - 1; i >= 0; i-- {
		phase := &m.Phases[i]
		if phase.Name != phaseVerify || phase.Started.IsZero() {
			continue
		}
		checks, err := drive.Pieces[check](ctx, d, work.Prefix(m.ID)+"check/"+work.Safe(phase.Key())+"/")
		if err != nil {
			return false, err
		}
		whole = len(checks) > 0
		for _, c := range checks {
			whole = whole && c.State == work.Done
			h.see(&c.Lease)
			p.Compared += c.Read
			switch c.State {
			case work.Done:
				p.Verified = append(p.Verified, c.Verified)
			case work.Failed:
				p.Uncompared = append(p.Uncompared, Uncompared{c.Index, c.Target, c.Cause})
			}
		}
		break
	}
	slices.SortFunc(p.Verified, func(a, b Verified) int { return strings.Compare(a.Index, b.Index) })
	slices.SortFunc(p.Uncompared, func(a, b Uncompared) int { return strings.Compare(a.Index, b.Index) })
	return whole, nil
}

// countFailures counts what is still in the list: documents that were sent again, and taken,
// are acknowledged.
func (p *Progress) countFailures(ctx context.Context, d *drive.Driver, id string, at map[string]*IndexProgress) error {
	if p.Failed == 0 {
		return nil
	}
	batches, err := batchesOf(ctx, d, id)
	if err != nil {
		return err
	}
	left := map[string]int64{}
	for i := range batches {
		for _, c := range batches[i].Causes {
			index, _, _ := shardOf(batches[i].Item)
			left[index] += c.Documents
			p.Failures = addCause(p.Failures, c)
		}
	}
	sortCauses(p.Failures)
	for name, of := range at {
		again := of.Copied.Failed - left[name]
		of.Copied.Failed, of.Copied.Acknowledged = left[name], of.Copied.Acknowledged+again
		p.Failed, p.Acknowledged = p.Failed-again, p.Acknowledged+again
	}
	return nil
}

func (p *Progress) add(item *work.Item, of *IndexProgress) {
	p.Add(item.Counts)
	p.addPiece(&item.Lease)
	if of != nil {
		of.Copied.Add(item.Counts)
		of.Items.add(&item.Lease)
	}
}

// addPiece counts an item, or a change of a shard.
func (p *Progress) addPiece(l *work.Lease) {
	p.Items.add(l)
	if l.Cause != "" {
		p.Causes[l.Cause]++
	}
	if l.State == work.Failed {
		p.failedFor = append(p.failedFor, l.Cause)
	}
}

func (s *States) add(l *work.Lease) {
	switch {
	case l.State == work.Done:
		s.Done++
	case l.State == work.Failed:
		s.Failed++
	case l.LeaseHolderID != "":
		s.Leased++
	default:
		s.Waiting++
	}
}

// holders gathers who works, and when it was last heard of.
type holders struct {
	policy work.Policy
	now    time.Time
	names  map[string]bool
	since  time.Duration // how long ago each of the leases was heard of, together
	leases int
	heard  time.Time // when any holder was heard of last, also holders of pieces that are done
}

func (h *holders) see(l *work.Lease) {
	for _, at := range []time.Time{l.HeartbeatAt, l.CompletedAt} {
		if at.After(h.heard) {
			h.heard = at
		}
	}
	if !l.Leased(h.policy, h.now) {
		return
	}
	if h.names == nil {
		h.names = map[string]bool{}
	}
	h.names[l.LeaseHolderID] = true
	h.since, h.leases = h.since+max(h.now.Sub(l.HeartbeatAt), 0), h.leases+1
}

// asOf is when the holders were heard of, on average; now when there are none.
func (h *holders) asOf() time.Time {
	if h.leases == 0 {
		return h.now
	}
	return h.now.Add(-h.since / time.Duration(h.leases))
}
