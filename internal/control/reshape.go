package control

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/reshard"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/store/placement"
)

// ReshapeRequest asks for shards of an index to be split or merged, in the words of HTTP. The
// zero value of a field is its default.
type ReshapeRequest struct {
	Kind movement.Kind `json:"kind"` // movement.Split or movement.Merge
	Shape
	KeepWayBack bool           `json:"keepWayBack,omitempty"`
	Limits      reshard.Rate   `json:"limits,omitzero"`
	Why         string         `json:"why,omitempty"`
	AskedBy     string         `json:"askedBy,omitempty"`
	Wait        *WaitReshaping `json:"-"` // nil: begin it, and leave the work to others
}

// AtMost are the limits of so many bytes in a second.
func AtMost(bytesPerSecond float64) reshard.Rate { return reshard.AtMost(bytesPerSecond) }

// WaitReshaping is what happens until a movement rests.
type WaitReshaping struct {
	Planned func(*ReshapePlan) // told before anything starts
	Told    func(*Movement)    // told from time to time how far it is
}

// Shape is what an index is to become: exactly one of By, Into, Cut, HalveLargest and Shards.
type Shape struct {
	Index        string   `json:"index,omitempty" doc:"The name of the index whose shards are split or merged"`
	Shard        *uint32  `json:"shard,omitempty" doc:"The shard that into and cut are about; an index of one shard needs none"`
	By           int      `json:"by,omitempty" doc:"Split: cut every shard into so many equal ranges"`
	Into         int      `json:"into,omitempty" doc:"Split: cut the shard into so many equal ranges in all"`
	Cut          []string `json:"cut,omitempty" doc:"Split: cut the shard before each of these: 16 hexadecimal digits, or a 32-bit hash as 0x… or decimal"`
	HalveLargest bool     `json:"halveLargest,omitempty" doc:"Split: cut the shard with the most bytes into two that weigh alike"`
	Shards       []uint32 `json:"shards,omitempty" doc:"Merge: neighbours, of which the one with the lowest range keeps its number"`
	At           string   `json:"at,omitempty" doc:"What the store is called where you are: next steps name it, as --at"`
	PauseBudget  string   `json:"pauseBudget,omitempty" doc:"How long requests may wait behind one hand-off; absent: 250ms" example:"250ms"`
}

// ReshapePlan is what a split or a merge would do.
type ReshapePlan struct {
	Kind movement.Kind  `json:"kind"`
	Name string         `json:"index"`
	Plan placement.Plan `json:"plan"`
	// PauseBudget is how long requests may wait behind the fence of one hand-off.
	PauseBudget time.Duration `json:"pauseBudget"`
	// Worst is how many bytes of disk may be taken beside those of now, at most, until what a
	// shard does not own has been shed: nothing is copied before.
	Worst    int64     `json:"worstBytes"`
	Refusals []Problem `json:"refusals"` // why it cannot be started now
}

// Outcome is the error of a plan that cannot be started; nil when it can.
func (p *ReshapePlan) Outcome() error {
	for i := range p.Refusals {
		p.Refusals[i].err = p.Refusals[i].Fault()
	}
	if len(p.Refusals) == 0 {
		return nil
	}
	return only(p.Refusals)
}

// PlanReshape plans a split or a merge, and starts nothing.
func (k *MovementService) PlanReshape(ctx context.Context, req ReshapeRequest) (*ReshapePlan, error) {
	if err := k.checkReshape(&req); err != nil {
		return nil, err
	}
	s := k.side.lane.Store
	p, err := s.PlacementOf(ctx, req.Index)
	if err != nil {
		return nil, noIndex(err, req.Index)
	}
	planned := &ReshapePlan{Kind: req.Kind, Name: req.Index, PauseBudget: reshard.DefaultBudget, Refusals: []Problem{}}
	if req.PauseBudget != "" {
		if planned.PauseBudget, err = time.ParseDuration(req.PauseBudget); err != nil || planned.PauseBudget <= 0 {
			return nil, fault.WithNext(fault.New(fault.Usage, "the pause budget %q is no time to wait", req.PauseBudget), "write 250ms, or 1s")
		}
	}
	if req.Kind == movement.Merge && len(p.Shards) == 1 {
		err := fault.At(fault.New(fault.Refused, "it has one shard, %d, which has no neighbour to be merged with", p.Shards[0].Number), "index "+req.Index)
		return nil, fault.WithNext(err, "split it first, if that is wanted: %s", commandAt(req.At, "split", req.Index, "--by", "2"))
	}
	weights, files, err := k.weigh(ctx, req.Index, p)
	if err != nil {
		return nil, err
	}
	if planned.Plan, err = req.plan(p, weights); err != nil {
		return nil, fault.At(req.instead(err), "index "+req.Index)
	}
	if err := k.predict(ctx, planned); err != nil {
		return nil, err
	}
	return planned, k.vetoes(ctx, p, req.At, planned, files)
}

// noIndex is the error of an index that is asked for by its name.
func noIndex(err error, name string) error {
	if err = fault.At(err, "index "+name); fault.Is(err, fault.NotFound) {
		err = fault.WithNext(err, "name an index that is there, not an alias: GET /_cat/indices lists them")
	}
	return err
}

// checkReshape refuses what this process cannot do, and what asks for no shape or for several.
func (k *MovementService) checkReshape(req *ReshapeRequest) error {
	if k.side == nil || k.side.lane == nil {
		return fault.WithNext(fault.New(fault.Refused, "shards are split and merged by the process that serves them"), "ask the store: --at URL|DIR")
	}
	return req.check()
}

func (req *ReshapeRequest) check() error {
	given := 0
	for _, is := range []bool{req.By != 0, req.Into != 0, len(req.Cut) > 0, req.HalveLargest, len(req.Shards) > 0} {
		if is {
			given++
		}
	}
	var problem, next string
	switch {
	case req.Index == "":
		problem, next = "no index is named", "name one"
	case req.Kind == movement.Merge && (given != 1 || len(req.Shards) == 0 || req.Shard != nil):
		problem, next = "a merge is of shards", "name two neighbours or more: --shards A,B, or \"shards\": [A, B]"
	case req.Kind == movement.Split && (given != 1 || len(req.Shards) > 0):
		problem, next = "a split is by one of four ways", "name one of --by M, --into K, --cut KEY and --halve-largest; by HTTP by, into, cut and halveLargest"
	case req.Shard != nil && req.Into == 0 && len(req.Cut) == 0:
		problem, next = "a shard is named, and by and halveLargest look at all of them", "leave --shard (\"shard\") away, or cut that shard with --into (\"into\") or --cut (\"cut\")"
	case req.Limits.BytesPerSecond < 0:
		problem, next = "the rate is below zero", "name bytes in a second, 0 for no limit"
	default:
		return nil
	}
	return fault.WithNext(fault.New(fault.Usage, "%s", problem), "%s", next)
}

// plan asks the planner of what is wanted.
func (s *Shape) plan(p placement.Placement, w placement.Weights) (placement.Plan, error) {
	switch {
	case len(s.Shards) > 0:
		plan, err := p.Join(s.Shards, w)
		return plan, s.joined(p, err)
	case s.HalveLargest:
		return p.HalveLargest(w)
	case s.By != 0:
		return p.SplitBy(s.By, w)
	}
	number, err := s.one(p)
	if err != nil {
		return placement.Plan{}, err
	}
	if s.Into != 0 {
		return p.SplitInto(number, s.Into, w)
	}
	cuts, err := cutsAt(s.Cut)
	if err != nil {
		return placement.Plan{}, err
	}
	return p.SplitAt(number, cuts, w)
}

// one is the shard that is meant.
func (s *Shape) one(p placement.Placement) (uint32, error) {
	switch {
	case s.Shard != nil:
		return *s.Shard, nil
	case len(p.Shards) == 1:
		return p.Shards[0].Number, nil
	}
	err := fault.New(fault.Usage, "it has %d shards, and none is named", len(p.Shards))
	return 0, fault.WithNext(err, "name the shard that is to be split: --shard S, or \"shard\": S; %s lists them", commandAt(s.At, "placement", s.Index))
}

// again is the command that asks for the same, but for the pause budget.
func (req *ReshapeRequest) again() string {
	words := []string{string(req.Kind), req.Index}
	number := func(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
	if req.Shard != nil {
		words = append(words, "--shard", number(*req.Shard))
	}
	switch {
	case len(req.Shards) > 0:
		words = append(words, "--shards", placement.Numbers(req.Shards))
	case req.By != 0:
		words = append(words, "--by", strconv.Itoa(req.By))
	case req.Into != 0:
		words = append(words, "--into", strconv.Itoa(req.Into))
	case len(req.Cut) > 0:
		words = append(words, "--cut", strings.Join(req.Cut, ","))
	case req.HalveLargest:
		words = append(words, "--halve-largest")
	}
	if req.KeepWayBack {
		words = append(words, "--keep-way-back")
	}
	return commandAt(req.At, words...)
}

// joined adds to the refusal of a merge the command that joins all shards of the index.
func (s *Shape) joined(p placement.Placement, err error) error {
	if err == nil || len(p.Shards) < 2 {
		return err
	}
	all := commandAt(s.At, string(movement.Merge), s.Index, "--shards", placement.NumbersOf(p.Shards))
	return fault.Reword(err, func(next string) string { return next + "; " + all + " joins all of them" })
}

// instead puts the command that would work into the refusal of a plan that has one.
func (s *Shape) instead(err error) error {
	var not *placement.NotHalved
	if !errors.As(err, &not) {
		return err
	}
	words := []string{"split", s.Index, "--shard", strconv.FormatUint(uint64(not.Shard), 10), "--into", "2"}
	how := "cuts its range into equal parts"
	if not.Cut != 0 {
		words, how = append(words[:4], "--cut", not.Cut.String()), "cuts inside of that routing value, and spreads it over two shards"
	}
	return fault.Reword(err, func(string) string { return commandAt(s.At, words...) + " " + how })
}

// BeginReshape plans a split or a merge, and starts it. It does not wait for the work.
func (k *MovementService) BeginReshape(ctx context.Context, req ReshapeRequest) (*Movement, error) {
	planned, err := k.PlanReshape(ctx, req)
	if err == nil {
		err = planned.Outcome()
	}
	if err != nil {
		return nil, err
	}
	policy := work.Default
	policy.Heartbeat = time.Second
	plan := reshard.Plan{Index: req.Index, Shards: planned.Plan, Budget: planned.PauseBudget, SearchesP95: reshard.SearchesP95(k.side.lane.Store.RecentSearches()), Policy: policy, Again: req.again()}
	now, err := k.d.Now(ctx)
	if err != nil {
		return nil, err
	}
	m := movement.Record{ID: newID(now), Kind: plan.Kind(), State: movement.Planned, Phases: reshard.Phases(), KeepWayBack: req.KeepWayBack, Created: now}
	if m.Plan, err = json.Marshal(plan); err == nil {
		m.Rate, err = json.Marshal(req.Limits)
	}
	if err != nil {
		return nil, fault.Wrap(fault.Bug, err)
	}
	ctx, done := unhurried(ctx)
	defer done()
	if err := k.d.Plan(ctx, m); err != nil {
		return nil, err
	}
	err = k.d.Make(ctx, hostKey(m.ID), struct{}{})
	if err == nil {
		err = k.side.lane.Begin(ctx, k.d, m.ID, plan, placement.Change{By: req.AskedBy, Why: req.Why, At: now})
	}
	if err != nil {
		return nil, k.notBegun(ctx, m.ID, err)
	}
	if _, _, err := k.d.Apply(ctx, m.ID, movement.Event{Verb: movement.Start, By: req.AskedBy, Why: req.Why}); err != nil {
		return nil, err
	}
	k.attending()
	select {
	case k.wake <- struct{}{}:
	default: // it is awake
	}
	return k.Look(ctx, m.ID)
}

// notBegun forgets a movement that was refused. One of which it is not known whether its index
// has it stays, to be aborted.
func (k *MovementService) notBegun(ctx context.Context, id string, err error) error {
	if !reshard.Refused(err) {
		return fault.WithNext(err, "it is not known whether it was begun: %s takes it back", Command("movement", "abort", id))
	}
	if m, e := k.d.Movement(ctx, id); e == nil && m.State != movement.Planned { // it was aborted meanwhile, and ends by itself
		return err
	}
	return errors.Join(err, k.d.RemoveAll(ctx, hostKey(id)), k.d.Forget(ctx, id))
}
