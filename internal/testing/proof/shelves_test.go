package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// mover splits and merges the shards of indices, goes back, and aborts, one after the
// other, and learns from the server alone what it may do.
type mover struct {
	t       *testing.T
	talk    *Talk
	dice    *rand.Rand
	indices []string
	begun   int
	ended   map[string]int // movements by how they ended
}

func newMover(t *testing.T, b *table, seed uint64) *mover {
	return &mover{t: t, talk: b.talk, dice: rand.New(rand.NewPCG(seed, 55)), indices: b.indices, ended: map[string]int{}}
}

// toldMovement is what is read of a movement.
type toldMovement struct {
	ID, Kind, State, Cause, Next string
	Reshaping                    struct{ Index string }
}

// shelved is what is read of an index's shards.
type shelved struct {
	Shards []struct {
		Shard uint32
		State string
	}
	Movement string
}

// run moves shards until ctx ends or the server is gone.
func (m *mover) run(ctx context.Context, url string) {
	for ctx.Err() == nil {
		if m.once(ctx, url) != nil {
			return
		}
	}
}

func (m *mover) get(ctx context.Context, url string, into any) error {
	answer, err := m.talk.Do(ctx, "GET", url, nil)
	if err != nil {
		return err
	}
	if answer.Status != 200 {
		m.t.Errorf("GET %s: %s", url, answer)
		return fmt.Errorf("unexpected")
	}
	return json.Unmarshal(answer.Body, into)
}

// once begins something, or says what becomes of what is begun.
func (m *mover) once(ctx context.Context, url string) error {
	index := m.indices[m.dice.IntN(len(m.indices))]
	var placed shelved
	if err := m.get(ctx, url+"/_reshelve/placement/"+index, &placed); err != nil {
		return err
	}
	if placed.Movement != "" {
		return m.steer(ctx, url, placed.Movement)
	}
	order := map[string]any{"kind": "split", "index": index, "keepWayBack": m.dice.IntN(3) > 0, "pauseBudget": "5s"}
	switch n := len(placed.Shards); {
	case n > 1 && (n > 5 || m.dice.IntN(2) == 0):
		at := m.dice.IntN(n - 1)
		order["kind"], order["shards"] = "merge", []uint32{placed.Shards[at].Shard, placed.Shards[at+1].Shard}
	default:
		order["shard"], order["into"] = placed.Shards[m.dice.IntN(n)].Shard, 2+m.dice.IntN(2)
	}
	body, _ := json.Marshal(order)
	answer, err := m.talk.Do(ctx, "POST", url+"/_reshelve/movements", body)
	if err != nil {
		return err
	}
	switch answer.Status {
	case 202:
		m.begun++
	case 409, 400: // another one was faster, or the shard is gone
	default:
		m.t.Errorf("POST %s: %s", body, answer)
	}
	return nil
}

// steer waits a little and then says what becomes of a movement.
func (m *mover) steer(ctx context.Context, url, id string) error {
	var told toldMovement
	if err := m.get(ctx, url+"/_reshelve/movements/"+id, &told); err != nil {
		return err
	}
	verb := ""
	switch told.State {
	case "switched":
		verb = []string{"finish", "reverse"}[m.dice.IntN(2)]
	case "planned": // it was begun when the plug was pulled
		verb = "abort"
	case "held", "failed":
		m.t.Errorf("movement %s %s is %s: %s", id, told.Kind, told.State, told.Cause)
		return fmt.Errorf("unexpected")
	case "running":
		if m.dice.IntN(8) == 0 {
			verb = []string{"abort", "pause"}[m.dice.IntN(2)]
		}
	case "paused":
		verb = []string{"resume", "abort", "reverse"}[m.dice.IntN(3)]
	}
	if verb == "" {
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
		return nil
	}
	answer, err := m.talk.Do(ctx, "POST", url+"/_reshelve/movements/"+id+"/"+verb, nil)
	if err == nil && !slices.Contains([]int{200, 202, 400, 409}, answer.Status) {
		m.t.Errorf("POST %s of %s: %s", verb, told.State, answer)
	}
	return err
}

// settle ends all that is begun, and counts how it ended.
func (m *mover) settle(ctx context.Context, url string) {
	m.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; {
		var listed struct{ Movements []toldMovement }
		if err := m.get(ctx, url+"/_reshelve/movements", &listed); err != nil {
			m.t.Fatal(err)
		}
		all := listed.Movements
		clear(m.ended)
		open := 0
		for _, one := range all {
			m.ended[one.State]++
			if slices.Contains([]string{"finished", "aborted", "reversed"}, one.State) {
				continue
			}
			open++
			if one.State == "paused" {
				_, _ = m.talk.Do(ctx, "POST", url+"/_reshelve/movements/"+one.ID+"/resume", nil)
			} else if err := m.steer(ctx, url, one.ID); err != nil {
				m.t.Fatal(err)
			}
		}
		if open == 0 {
			break
		}
		if time.Now().After(deadline) {
			m.t.Fatalf("movements do not end: %v", all)
		}
	}
	for _, index := range m.indices {
		var placed shelved
		if err := m.get(ctx, url+"/_reshelve/placement/"+index, &placed); err != nil || placed.Movement != "" {
			m.t.Errorf("index %s: %+v %v", index, placed, err)
		}
	}
}

// TestKillsWhileShardsMove kills the server at random moments while clients write, read and
// search, an auditor gets and searches all keys, and shards are split, merged and led back all
// the time. What they saw over all lives must have one order, every movement ends, and nothing of it is left.
func TestKillsWhileShardsMove(t *testing.T) {
	kills, s := number(t, "PROOF_MOVING_KILLS", 12), seed(t)
	dir := dataFolder(t)
	b := newTable(t)
	dice := rand.New(rand.NewPCG(s, 98))
	m := newMover(t, b, s)
	p, url := serve(t, dir)
	b.lay(url)
	stop(t, p)
	for life := 1; life <= kills && !t.Failed(); life++ {
		p = start(t, "serve", "--data", dir, "--listen", "127.0.0.1:0")
		url = serving(t, p)
		if life%4 == 0 {
			b.agreeAll(url, life, s)
		}
		b.liveAndDie(p, url, life, s, b.moveAndAudit(m, life, s), time.Duration(300+dice.IntN(1500))*time.Millisecond)
	}
	p, url = serve(t, dir)
	m.settle(t.Context(), url)
	b.agreeAll(url, kills, s)
	stop(t, p)
	p, url = serve(t, dir)
	b.agreeAll(url, kills, s)
	stop(t, p)
	b.history.check(t, minimumAge) // several shards number by themselves
	t.Logf("%d movements were begun; they ended so: %v", m.begun, m.ended)
	if m.ended["finished"] == 0 || m.ended["reversed"] == 0 {
		t.Errorf("%d movements were begun, and ended so: %v", m.begun, m.ended)
	}
}
