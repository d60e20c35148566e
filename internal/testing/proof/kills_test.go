package proof

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"
)

// TestKills kills the server again and again, at random moments of its starts and of
// its lives, while clients write, read and search and indices come and go. What all
// of them saw over all lives must have one order; see register and churn.
func TestKills(t *testing.T) {
	kills, s := number(t, "PROOF_KILLS", 20), seed(t)
	dir := dataFolder(t)
	b := newTable(t)
	ch := newChurn(t, b.talk, s)
	dice := rand.New(rand.NewPCG(s, 99))

	p, url := serve(t, dir)
	b.lay(url)
	stop(t, p)
	began := time.Now()
	for life := 1; life <= kills && !t.Failed(); life++ {
		p = start(t, "serve", "--data", dir, "--listen", "127.0.0.1:0")
		if dice.IntN(5) == 0 { // while it starts
			<-time.After(time.Duration(dice.IntN(60)) * time.Millisecond)
			b.kill(p)
			continue
		}
		url = serving(t, p)
		ch.verify(url)
		if life%5 == 0 {
			b.agreeAll(url, life, s)
		}
		b.liveAndDie(p, url, life, s, ch.run, lifetime(dice))
	}
	t.Logf("%d kills in %s", kills, time.Since(began).Round(time.Second))
	p, url = serve(t, dir)
	ch.verify(url)
	b.agreeAll(url, kills, s)
	stop(t, p)
	p, url = serve(t, dir) // and the same after a clean end
	ch.verify(url)
	b.agreeAll(url, kills, s)
	stop(t, p)
	b.judge()
}

// lifetime is short, mostly; every third life sees tombstones pruned, which begins a
// second after a start.
func lifetime(dice *rand.Rand) time.Duration {
	if dice.IntN(3) == 0 {
		return time.Duration(950+dice.IntN(300)) * time.Millisecond
	}
	return time.Duration(50+dice.IntN(600)) * time.Millisecond
}

// liveAndDie kills the server in the midst of everything, and of what is done beside it.
func (b *table) liveAndDie(p *Process, url string, life int, seed uint64, beside func(ctx context.Context, url string), after time.Duration) {
	ctx, cancel := context.WithCancel(b.t.Context())
	defer cancel()
	wait := b.live(ctx, url, life, seed)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		beside(ctx, url)
	}()
	select {
	case <-time.After(after):
	case <-p.Exited():
		b.t.Errorf("the server ended by itself with %d:\n%s", p.ExitCode(), p.Stderr())
	}
	b.kill(p)
	dead := b.history.now()
	wait()
	<-ended
	b.history.died(dead)
}

func (b *table) kill(p *Process) {
	b.t.Helper()
	if err := p.Kill(); err != nil {
		b.t.Fatal(err)
	}
}

// agreeAll compares what the server says of its indices in all its ways.
func (b *table) agreeAll(url string, life int, seed uint64) {
	b.t.Helper()
	for _, index := range b.indices {
		b.sit(b.t.Context(), url, clients, life, 0, seed).agree(index, "_id", "_doc")
	}
}
