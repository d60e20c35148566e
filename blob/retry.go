package blob

import (
	"context"
	"io"
	"math/rand/v2"
	"time"

	"github.com/reshelve/reshelve/fault"
)

// RetryPolicy says how often and how fast a transient failure is tried again.
// The zero value of a field is its default.
type RetryPolicy struct {
	Attempts int           // in a row without a byte of progress; 6
	First    time.Duration // the first pause, doubled each time; 100 ms
	Longest  time.Duration // the longest pause; 10 s
	Honoured time.Duration // the longest Retry-After that is waited for; 1 min

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
	return &retrier{b, policy.withDefaults()}
}

type retrier struct {
	Bucket
	policy RetryPolicy
}

func (r *retrier) Size(ctx context.Context, key string) (size int64, err error) {
	for failures := 0; ; {
		if size, err = r.Bucket.Size(ctx, key); err == nil {
			return size, nil
		}
		if err := r.after(ctx, err, &failures); err != nil {
			return 0, err
		}
	}
}

func (r *retrier) List(ctx context.Context, prefix string) (entries []Entry, err error) {
	for failures := 0; ; {
		if entries, err = r.Bucket.List(ctx, prefix); err == nil {
			return entries, nil
		}
		if err := r.after(ctx, err, &failures); err != nil {
			return nil, err
		}
	}
}

func (r *retrier) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	s := &resumed{retrier: r, ctx: ctx, key: key, offset: offset, left: length}
	if err := s.reopen(); err != nil {
		return nil, err
	}
	return s, nil
}

// after waits for the next attempt, or says why there is none.
func (r *retrier) after(ctx context.Context, err error, failures *int) error {
	if !fault.Is(err, fault.Transient) {
		return err
	}
	*failures++
	wait := r.pause(*failures, err)
	if *failures >= r.policy.Attempts || wait > r.policy.Honoured {
		return fault.WithNext(fault.Wrap(fault.Unavailable, err), "the store failed %d times in a row; try again later", *failures)
	}
	return r.policy.Sleep(ctx, wait)
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
	*retrier
	ctx      context.Context // of the Open that made the stream
	key      string
	offset   int64 // of the next byte
	left     int64 // bytes to deliver, negative for all there are
	failures int   // since the last byte
	body     io.ReadCloser
}

func (s *resumed) reopen() error {
	for {
		body, err := s.Bucket.Open(s.ctx, s.key, s.offset, s.left)
		if err == nil {
			s.body = body
			return nil
		}
		if err := s.after(s.ctx, err, &s.failures); err != nil {
			return err
		}
	}
}

func (s *resumed) Read(p []byte) (int, error) {
	for {
		n, err := s.body.Read(p)
		if n > 0 {
			s.offset += int64(n)
			s.failures = 0
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
			return 0, endAs(err, s.left)
		}
		if err := s.after(s.ctx, err, &s.failures); err != nil {
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

func (s *resumed) Close() error { return s.body.Close() }

// brokenBody stands in for a stream that could not be opened again.
type brokenBody struct{ err error }

func (b brokenBody) Read([]byte) (int, error) { return 0, b.err }
func (b brokenBody) Close() error             { return nil }
