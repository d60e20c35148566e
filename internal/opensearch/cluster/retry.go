package cluster

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"

	"github.com/reshelve/reshelve/internal/chance"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/waits"
)

// repetition says when a request that failed may be sent again.
type repetition uint8

const (
	never      repetition = iota
	ifHarmless            // nobody knows whether it was applied
	always                // it was surely not applied
)

// trouble is why one attempt failed, and whether another is worth it.
type trouble struct {
	err    error
	again  repetition
	wait   time.Duration // what the other side asks for
	status int           // of the answer; 0: there was none
	told   bool          // the answer is an exception in the servers' dialect
	part   bool          // of some operations of a request, not of the whole
}

// Error is the error's.
func (t *trouble) Error() string { return t.err.Error() }

// Unwrap lets package fault find the kind.
func (t *trouble) Unwrap() error { return t.err }

// The pauses between attempts, and the longest wish of the other side that is honoured.
const (
	firstPause   = 200 * time.Millisecond
	longestPause = 20 * time.Second
	longestWish  = 2 * time.Minute
	jitter       = 0.25 // of a pause, more or less
)

// insist attempts until it works, fails for good, or has failed for as long as
// patience. Pauses double and are jittered; they end with ctx. Each failure that is
// waited out is put on the board of ctx (package waits). The error is that of the last attempt.
func insist(ctx context.Context, patience time.Duration, attempt func() *trouble) error {
	run := func() error {
		if t := attempt(); t != nil {
			return t
		}
		return nil
	}
	attempts := 0
	counted := func() error { attempts++; return run() }
	var err error
	tries := waits.Begin(ctx)
	if patience < 0 {
		err = counted()
	} else {
		err = failsafe.With(policy(ctx, patience, tries)).WithContext(ctx).Run(counted)
	}
	if err == nil {
		tries.Over()
	} else {
		tries.GivenUp()
	}
	var t *trouble
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !errors.As(err, &t):
		return err
	case attempts > 1 && t.again != never:
		return fault.WithNext(t.err, "it failed %d times within %s; try again later", attempts, patience)
	}
	return t.err
}

// policy repeats what may be, and says so.
func policy(ctx context.Context, patience time.Duration, tries *waits.Tries) retrypolicy.RetryPolicy[any] {
	return retrypolicy.NewBuilder[any]().
		HandleIf(func(_ any, err error) bool {
			var t *trouble
			return errors.As(err, &t) && t.again != never && t.wait <= longestWish
		}).
		WithDelayFunc(func(e failsafe.ExecutionAttempt[any]) time.Duration {
			var t *trouble
			pause := firstPause << min(e.Retries(), 10)
			if errors.As(e.LastError(), &t) && t.wait > 0 {
				pause = time.Duration(float64(t.wait) / (1 - jitter)) // never sooner than asked for
			} else if pause > longestPause {
				pause = longestPause
			}
			pause = time.Duration(float64(pause) * (1 - jitter + 2*jitter*chance.Float(ctx)))
			tries.Failed(e.LastError(), pause)
			return pause
		}).
		WithMaxRetries(-1).WithMaxDuration(patience).ReturnLastFailure().Build()
}

// wish reads Retry-After: seconds, or a date.
func wish(header http.Header) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil {
		return max(0, time.Duration(min(seconds, 1<<30))*time.Second)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
