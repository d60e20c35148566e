package blob

import (
	"context"
	"io"
	"math/rand/v2"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/waits"
)

// RetryPolicy says how often and how fast a transient failure is tried again.
// The zero value of a field is its default.
type RetryPolicy struct {
	Attempts int           // in a row without a byte of progress; 6
	First    time.Duration // the first pause, doubled each time; 100 ms
	Longest  time.Duration // the longest pause; 10 s
	Honoured time.Duration // the longest Retry-After that is waited for; 1 min
	Contact  Contact       // until the store has answered once

	Sleep  func(context.Context, time.Duration) error // returns early with ctx's error
	Random func() float64                             // in [0, 1)
}

func (p RetryPolicy) withDefaults() RetryPolicy {
	setDefault(&p.Attempts, 6)
	setDefault(&p.First, 100*time.Millisecond)
	setDefault(&p.Longest, 10*time.Second)
	setDefault(&p.Honoured, time.Minute)
	if p.Sleep == nil {
		p.Sleep = sleep
	}
	if p.Random == nil {
		p.Random = rand.Float64
	}
	return p
}

func setDefault[T int | int64 | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Retry tries the transient failures of b again, and resumes a stream that
// breaks in the middle at the byte where it broke. When the attempts are used
// up the last error is returned as fault.Unavailable. Other kinds are returned
// at once.
func Retry(b Bucket, policy RetryPolicy) Bucket {
	return &retrier{b, policy.withDefaults(), newContact(b, policy.Contact)}
}

type retrier struct {
	Bucket
	policy  RetryPolicy
	contact *contact
}

func (r *retrier) Size(ctx context.Context, key string) (size int64, err error) {
	attempts := r.begin(ctx)
	for {
		size, err = within(ctx, r.contact, func(ctx context.Context) (int64, error) { return r.Bucket.Size(ctx, key) }, discard)
		if err == nil {
			attempts.worked()
			return size, nil
		}
		if err := attempts.after(ctx, err); err != nil {
			return 0, err
		}
	}
}

func (r *retrier) List(ctx context.Context, prefix string) (entries []Entry, err error) {
	attempts := r.begin(ctx)
	for {
		entries, err = within(ctx, r.contact, func(ctx context.Context) ([]Entry, error) { return r.Bucket.List(ctx, prefix) }, discard)
		if err == nil {
			attempts.worked()
			return entries, nil
		}
		if err := attempts.after(ctx, err); err != nil {
			return nil, err
		}
	}
}

func (r *retrier) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	s := &resumed{attempts: r.begin(ctx), ctx: ctx, key: key, offset: offset, left: length}
	if err := s.reopen(); err != nil {
		return nil, err
	}
	return s, nil
}

// attempts are those at one request, or at the next byte of a stream.
type attempts struct {
	*retrier
	failures int // in a row
	tries    *waits.Tries
}

func (r *retrier) begin(ctx context.Context) *attempts {
	return &attempts{retrier: r, tries: waits.Begin(ctx)}
}

// worked says that the store has given what was asked for.
func (a *attempts) worked() {
	if a.failures > 0 {
		a.failures = 0
		a.tries.Over()
	}
}

// after waits for the next attempt, or says why there is none.
func (a *attempts) after(ctx context.Context, err error) error {
	if !fault.Is(err, fault.Transient) {
		a.tries.Over()
		return err
	}
	a.failures++
	if a.contact.givesUp(err, a.failures) {
		a.tries.GivenUp()
		return a.contact.next(fault.Wrap(fault.Unavailable, err))
	}
	wait := a.pause(a.failures, err)
	if a.failures >= a.policy.Attempts || wait > a.policy.Honoured {
		a.tries.GivenUp()
		return fault.WithNext(fault.Wrap(fault.Unavailable, err), "the store failed %d times in a row; try again later", a.failures)
	}
	a.tries.Failed(err, wait)
	if err = a.policy.Sleep(ctx, wait); err != nil {
		a.tries.GivenUp()
	}
	return err
}

// pause is exponential with equal jitter: half of it is fixed, so that a store
// in trouble gets its rest, and half random, so that streams do not come back
// together. The store's own wish counts when it is longer.
func (r *retrier) pause(failures int, err error) time.Duration {
	wait := r.policy.First
	for range failures - 1 {
		wait = min(2*wait, r.policy.Longest)
	}
	wait = wait/2 + time.Duration(r.policy.Random()*float64(wait/2))
	return max(wait, RetryAfter(err))
}

// resumed is a stream that is opened again, at the byte where it broke.
type resumed struct {
	*attempts                 // since the last byte
	ctx       context.Context // of the Open that made the stream
	key       string
	offset    int64 // of the next byte
	left      int64 // bytes to deliver, negative for all there are
	body      io.ReadCloser
}

func (s *resumed) reopen() error {
	for {
		body, err := within(s.ctx, s.contact, func(ctx context.Context) (io.ReadCloser, error) { return s.Bucket.Open(ctx, s.key, s.offset, s.left) }, closeBody)
		if err == nil {
			s.body = body
			return nil
		}
		if err := s.after(s.ctx, err); err != nil {
			return err
		}
	}
}

func (s *resumed) Read(p []byte) (int, error) {
	for {
		n, err := s.body.Read(p)
		if n > 0 {
			s.offset += int64(n)
			s.worked()
			if s.left > 0 {
				s.left -= int64(n)
			}
			// An error beside data comes again, or is healed, in the next call.
			if err == io.EOF {
				return n, err
			}
			return n, nil
		}
		if err == nil || err == io.EOF || s.left == 0 {
			s.worked()
			return 0, endAs(err, s.left)
		}
		if err := s.after(s.ctx, err); err != nil {
			return 0, err
		}
		s.body.Close() // broken: what Close says adds nothing
		if err := s.reopen(); err != nil {
			s.body = brokenBody{err}
			return 0, err
		}
	}
}

// endAs turns an error behind the last byte of the range into its end.
func endAs(err error, left int64) error {
	if left == 0 {
		return io.EOF
	}
	return err
}

func (s *resumed) Close() error {
	s.worked() // it is not waited for any more
	return s.body.Close()
}

// brokenBody stands in for a stream that could not be opened again.
type brokenBody struct{ err error }

func (b brokenBody) Read([]byte) (int, error) { return 0, b.err }
func (b brokenBody) Close() error             { return nil }
