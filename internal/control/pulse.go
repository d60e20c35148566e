package control

import (
	"context"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

// How a pulse is taken: every second while somebody looks, and until nobody has for lookedFor. What was asked is given up after
// answersWithin; an answer to what was asked more than quietAfter ago counts no more. Where none counts who looks waits for a glance.
const (
	glance        = 50 * time.Millisecond
	beat          = time.Second
	quietAfter    = 2 * time.Second
	answersWithin = 5 * time.Second
	lookedFor     = 2 * time.Minute
)

// pulse asks something whether it answers, one question at a time, and never keeps who looks. Safe for concurrent use.
type pulse struct {
	ask  func(context.Context) error
	over <-chan struct{} // closed when nothing is to be asked any more

	mu       sync.Mutex
	looked   time.Time     // last
	beating  bool          // questions are asked
	asked    time.Time     // when the newest question was
	done     chan struct{} // closed with the next answer
	answered time.Time     // when the question was asked that was answered last; zero: none was
	last     error         // what that one came to
	since    time.Time     // when it began not to answer; zero: it answers
}

// begin lets it be asked from now on.
func (p *pulse) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.looked = time.Now()
	if !p.beating {
		p.beating, p.asked, p.done = true, p.looked, make(chan struct{})
		go p.beats()
	}
}

// look is what the last question came to, or that no answer counts; since is when that began.
func (p *pulse) look() (since time.Time, err error) {
	p.begin()
	p.mu.Lock()
	done := p.done
	if !p.fresh() {
		p.mu.Unlock()
		timer := time.NewTimer(glance)
		defer timer.Stop()
		select {
		case <-done:
		case <-timer.C:
		}
		p.mu.Lock()
	}
	defer p.mu.Unlock()
	if p.last == nil && !p.fresh() {
		return p.asked, fault.New(fault.Unavailable, "no answer for %s", time.Since(p.asked).Round(10*time.Millisecond))
	}
	return p.since, p.last
}

// fresh tells whether there is an answer that counts. The mutex is held.
func (p *pulse) fresh() bool { return !p.answered.IsZero() && time.Since(p.answered) <= quietAfter }

// beats asks as long as somebody looks.
func (p *pulse) beats() {
	for p.take() {
		p.mu.Lock()
		rest := time.NewTimer(time.Until(p.asked.Add(beat)))
		p.mu.Unlock()
		select {
		case <-rest.C:
		case <-p.over:
			rest.Stop()
		}
	}
}

// take asks once, if anybody has looked lately.
func (p *pulse) take() bool {
	p.mu.Lock()
	p.asked = time.Now()
	p.beating = p.asked.Sub(p.looked) < lookedFor
	select {
	case <-p.over:
		p.beating = false
	default:
	}
	asks := p.beating
	p.mu.Unlock()
	if !asks {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), answersWithin)
	defer cancel()
	err := p.ask(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil:
		p.since = time.Time{}
	case p.last == nil:
		p.since = p.asked
	}
	p.last, p.answered = err, p.asked
	close(p.done)
	p.done = make(chan struct{})
	return true
}
