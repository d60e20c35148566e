package drive

import (
	"context"
	"time"

	"github.com/reshelve/reshelve/internal/chance"
	"github.com/reshelve/reshelve/internal/fault"
)

// The pauses between attempts at the coordination store.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 15 * time.Second
)

// Passing tells whether an error may go away by itself.
func Passing(err error) bool {
	return fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Transient)
}

// WithPatience is a context with which what fails in passing is tried again for about so long: somebody waits for the answer.
// Without it, it is tried again until the context ends.
func WithPatience(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, patienceKey{}, d)
}

type patienceKey struct{}

// again does something until it ends otherwise than with an error that may pass, or patience is at its end, or ctx
// ends: then the last error is told with the cause of the end.
func again(ctx context.Context, do func() error) error {
	patience, bounded := ctx.Value(patienceKey{}).(time.Duration)
	began := time.Now()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := do()
		if err == nil || !Passing(err) || bounded && time.Since(began)+pause > patience {
			return err
		}
		if Wait(ctx, pause) != nil {
			return fault.At(err, "until "+context.Cause(ctx).Error())
		}
	}
}

// Wait waits for about d, between a half and one and a half of it, so that workers which
// failed together do not come back together. It is ctx's cause when that ends before.
func Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d/2 + chance.N(ctx, d+1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
