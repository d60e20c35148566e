package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

// restless is a store whose work behind the scenes never rests, over its lives: see the package's
// doc.
type restless struct {
	*crowd
	t    *testing.T
	talk *Talk
	dir  string
	dice *rand.Rand
	p    *Process
	life int

	ended    map[string]int // movements that have, by kind
	compared int            // documents
}

// greedy owners write as fast as they are answered.
var greedy = wants{ids: 700, bulks: 5, items: 40}

// shares are what segments may take in memory, in bytes: by the smallest all is written to files at
// once, by the greatest much is merged before.
var shares = []int64{8 << 10, 32 << 10, 128 << 10, 512 << 10}

// TestKillsOfARestlessStore kills the server at random moments, many of them within a second after
// a movement has finished, while writers go on through kill and restart, the index is refreshed,
// split and merged all the time, its segments get so little memory that indexing, merging, writing,
// committing and shedding overlap, and other processes load the machine. After each kill all ways
// in which a user sees documents must show what the gets do, and those what was acknowledged.
func TestKillsOfARestlessStore(t *testing.T) {
	kills, atMost, s := number(t, "PROOF_RESTLESS_KILLS", 30), time.Duration(number(t, "PROOF_RESTLESS_SECONDS", 170))*time.Second, seed(t)
	binary(t)
	r := &restless{t: t, talk: talk(t), dir: dataFolder(t), dice: rand.New(rand.NewPCG(s, 96)), ended: map[string]int{}}
	busy(t, number(t, "PROOF_RESTLESS_LOAD", 2))
	url := r.start()
	lay(t, r.talk, url, 1)
	r.crowd = newCrowd(t, r.talk, s, greedy)
	began := time.Now()
	for r.life = 1; r.life <= kills && time.Since(began) < atMost && !t.Failed(); r.life++ {
		r.live(url)
		url = r.start()
		r.compare(url)
	}
	r.stop()
	acked, open := 0, 0
	for _, o := range r.owners {
		acked, open = acked+o.acked, open+o.open
	}
	t.Logf("%d kills in %s; %d writes were acknowledged and %d had no answer; movements that finished: %v; %d documents were compared",
		r.life-1, time.Since(began).Round(time.Second), acked, open, r.ended, r.compared)
	if t.Failed() {
		t.Logf("the last life said:\n%s", r.p.Stderr())
		return
	}
	if r.ended["split"] == 0 || r.ended["merge"] == 0 {
		t.Errorf("movements that finished: %v", r.ended)
	}
	stop(t, r.p)
}

// busy loads the processors with other processes until the test ends.
func busy(t *testing.T, processes int) {
	t.Helper()
	for range processes {
		p, err := Start("sh", "-c", "while :; do :; done")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Kill() })
	}
}

// start starts a life.
func (r *restless) start() string {
	r.t.Helper()
	name, err := stepping()
	if err != nil {
		r.t.Fatal(err)
	}
	share := shares[r.dice.IntN(len(shares))]
	words := []string{"env", "RESHELVE_SHARE=" + strconv.FormatInt(share, 10), name, "serve", "--data", r.dir, "--listen", "127.0.0.1:0", "--memory", "64MiB"}
	if r.p, err = Start(words...); err != nil {
		r.t.Fatal(err)
	}
	p := r.p
	r.t.Cleanup(func() { _ = p.Kill() })
	return serving(r.t, r.p)
}

// live lets writers, refreshes and movements work until a moment at which it kills the server.
func (r *restless) live(url string) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.t.Context())
	finished, left := make(chan string), make(chan struct{}, 2)
	r.url.Store(&url)
	go func() {
		r.refresh(ctx, url, rand.New(rand.NewPCG(r.dice.Uint64(), 1)))
		left <- struct{}{}
	}()
	go func() {
		r.move(ctx, url, rand.New(rand.NewPCG(r.dice.Uint64(), 2)), finished)
		left <- struct{}{}
	}()
	wait, movements := time.Duration(50+r.dice.IntN(3000))*time.Millisecond, 0
	after := time.Duration(r.dice.IntN(1000)) * time.Millisecond
	if r.dice.IntN(2) == 0 {
		after /= 10
	}
	if r.dice.IntN(10) < 7 { // soon after a movement
		wait, movements = 10*time.Second, 1+r.dice.IntN(2)
	}
	for alarm := time.NewTimer(wait); wait > 0; {
		select {
		case kind := <-finished:
			r.ended[kind]++
			if movements--; movements == 0 {
				alarm.Reset(after)
			}
			continue
		case <-alarm.C:
		case <-r.p.Exited():
			r.t.Errorf("the server ended by itself with %d:\n%s", r.p.ExitCode(), r.p.Stderr())
		}
		break
	}
	r.url.Store(nil)
	if err := r.p.Kill(); err != nil {
		r.t.Fatal(err)
	}
	cancel()
	<-left
	<-left
}

// refresh refreshes now and then.
func (r *restless) refresh(ctx context.Context, url string, dice *rand.Rand) {
	for ctx.Err() == nil {
		if _, err := r.talk.Do(ctx, "POST", url+"/shelf/_refresh", nil); err != nil {
			return
		}
		time.Sleep(time.Duration(dice.IntN(120)) * time.Millisecond)
	}
}

// move splits and merges, one after the other, and says what has finished.
func (r *restless) move(ctx context.Context, url string, dice *rand.Rand, finished chan<- string) {
	m := &mover{t: r.t, talk: r.talk, dice: dice}
	for last := (toldMovement{}); ctx.Err() == nil; time.Sleep(3 * time.Millisecond) {
		var placed shelved
		if m.get(ctx, url+"/_reshelve/placement/shelf", &placed) != nil {
			return
		}
		if id := placed.Movement; id != "" || last.ID != "" {
			if id == "" {
				id = last.ID
			}
			if m.get(ctx, url+"/_reshelve/movements/"+id, &last) != nil {
				return
			}
			switch last.State {
			case "finished":
				select {
				case finished <- last.Kind:
				case <-ctx.Done():
				}
				last = toldMovement{}
			case "aborted":
				last = toldMovement{}
			case "planned": // nobody was told that it was begun
				_, _ = r.talk.Do(ctx, "POST", url+"/_reshelve/movements/"+id+"/abort", nil)
			case "held", "failed":
				r.t.Errorf("movement %s %s is %s: %s", id, last.Kind, last.State, last.Cause)
				return
			}
			continue
		}
		body := order(placed, dice)
		answer, err := r.talk.Do(ctx, "POST", url+"/_reshelve/movements", body)
		if err != nil {
			return
		}
		if answer.Status != 202 {
			r.t.Errorf("POST %s: %s", body, answer)
			return
		}
		_ = json.Unmarshal(answer.Body, &last)
	}
}

// order is a split of a shard into two to four, or the merge of as many.
func order(placed shelved, dice *rand.Rand) []byte {
	n, into := len(placed.Shards), 2+dice.IntN(3)
	if n == 1 || n < 4 && dice.IntN(3) > 0 {
		return fmt.Appendf(nil, `{"kind":"split","index":"shelf","shard":%d,"into":%d,"pauseBudget":"5s"}`, placed.Shards[dice.IntN(n)].Shard, into)
	}
	into = min(into, n)
	var shards []uint32
	for at := dice.IntN(n - into + 1); len(shards) < into; at++ {
		shards = append(shards, placed.Shards[at].Shard)
	}
	list, _ := json.Marshal(shards)
	return fmt.Appendf(nil, `{"kind":"merge","index":"shelf","shards":%s,"pauseBudget":"5s"}`, list)
}
