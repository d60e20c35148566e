package control

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/reshard"
	"github.com/reshelve/reshelve/internal/movement/transfer"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/store/placement"
)

// Reshaping is how far a split or a merge is, ReshapedWay what its hand-offs have come to, one
// way, and PredictedPause how long requests were to wait behind one.
type (
	Reshaping      = reshard.Progress
	ReshapedWay    = reshard.Way
	PredictedPause = placement.Pause
)

// Reshapes tells whether a movement splits or merges shards.
func Reshapes(kind movement.Kind) bool { return kind == movement.Split || kind == movement.Merge }

// reshaping is how far one of the side's is. It is known to the process that has the store open:
// from elsewhere that is asked.
func (s *side) reshaping(ctx context.Context, d *drive.Driver, r *movement.Record) (*Reshaping, error) {
	var told *Reshaping
	if len(r.Report) > 0 && json.Unmarshal(r.Report, &told) == nil {
		return told, nil
	}
	switch {
	case s != nil && s.lane != nil:
		told, err := reshard.ProgressOf(ctx, d, r, s.lane.Store.NewestPlacement)
		if waits := s.lane.Waits(r); err == nil && waits != nil {
			told.Waiting = waits.Error()
			if next := fault.Next(waits); next != "" {
				told.Waiting += " → " + next
			}
		}
		return told, err
	case s != nil && s.client != nil && !s.beside:
		m, err := fetch[Movement](ctx, s.client, cluster.Request{Method: http.MethodGet, Path: []string{"_reshelve", "movements", r.ID}})
		if err == nil && m.Reshaping != nil {
			return m.Reshaping, nil
		}
		if err != nil && !fault.Is(err, fault.NotFound) {
			return nil, err
		}
	}
	return reshard.ProgressOf(ctx, d, r, nil) // placements are known to the process that serves the store
}

// fetch is a request whose answer is JSON.
func fetch[T any](ctx context.Context, client *cluster.Client, r cluster.Request) (*T, error) {
	answer, err := client.Send(ctx, r)
	if err != nil {
		return nil, err
	}
	told := new(T)
	if err := json.Unmarshal(answer.Body, told); err != nil {
		return nil, fault.New(fault.Unavailable, "%s %s: this is not what a store of reshelve answers: %w", r.Method, strings.Join(r.Path, "/"), err)
	}
	return told, nil
}

// ReshapedGroup is what is handed off in one step, for people.
type ReshapedGroup struct {
	Shards string // "0 → 0-2"
	State  string // SOURCE, CLONE, HANDOFF, SPLIT, DONE, dropped
	H      string // the last write of each source before it handed off; ""
}

// Groups are those of a reshaping, as its record stands; none when there is no record any more.
func (m *Movement) Groups() (all []ReshapedGroup) {
	if m.Reshaping == nil || len(m.Reshaping.Reshaping) == 0 {
		return nil
	}
	r, err := transfer.Decode(m.Reshaping.Reshaping)
	if err != nil {
		return []ReshapedGroup{{Shards: "?", State: err.Error()}}
	}
	for i := range r.Groups {
		g := &r.Groups[i]
		var from, to []uint32
		var h []string
		for j := range g.Sources {
			s := &g.Sources[j]
			from = append(from, s.Shard)
			if s.Keeps != nil {
				to = append(to, s.Shard)
			}
			if g.HandedOff() {
				h = append(h, lastWrite(s.H))
			}
		}
		state := string(g.Status)
		for j := range g.Targets {
			to = append(to, g.Targets[j].Shard)
			if g.Status == transfer.Goes {
				state = string(g.Targets[j].State)
			}
		}
		all = append(all, ReshapedGroup{Shards: placement.Numbers(from) + " → " + placement.Numbers(to), State: state, H: few(h)})
	}
	return all
}

// lastWrite says which write of a source was its last one before the hand-off.
func lastWrite(h transfer.Position) string {
	if h.SeqNo < 0 {
		return fmt.Sprintf("shard %d: nothing written", h.Shard)
	}
	return fmt.Sprintf("shard %d: sequence number %d", h.Shard, h.SeqNo)
}

// few is a list for people: of many the first and the last, and how many there are.
func few(all []string) string {
	if n := len(all); n > 4 {
		return fmt.Sprintf("%s, … %s (%d)", all[0], all[n-1], n)
	}
	return strings.Join(all, ", ")
}
