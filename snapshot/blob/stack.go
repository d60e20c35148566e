package blob

import (
	"context"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot"
)

// StackPolicy chooses the decorators of [Stack]. The zero value is the usual
// choice.
type StackPolicy struct {
	Retry     RetryPolicy
	ReadAhead ReadAheadPolicy
	KeepSpans bool // the meter remembers what was read; see NewMeter
}

// Local is implemented by the adapters of stores on this machine, which need
// neither retries nor read-ahead: the kernel reads ahead by itself.
type Local interface{ Local() }

// Stack puts the decorators around an adapter, in the order of the package
// comment, and returns the outermost one and the meter within. A bucket of
// [Open] keeps its way to what lies around it (snapshot.Outside), through the
// same decorators and the same meter.
func Stack(b Bucket, policy StackPolicy) (Bucket, *Meter) {
	meter := NewMeter(b, policy.KeepSpans)
	return decorate(b, meter, policy), meter
}

func decorate(bare Bucket, meter *Meter, policy StackPolicy) Bucket {
	if isLocal(bare) {
		return &stacked{meter, bare, meter, policy}
	}
	retried := &retrier{meter, policy.Retry.withDefaults(), newContact(bare, policy.Retry.Contact)}
	return &stacked{ReadAhead(retried, policy.ReadAhead), bare, meter, policy}
}

func isLocal(b Bucket) bool {
	if l, ok := b.(*located); ok {
		b = l.Bucket
	}
	_, ok := b.(Local)
	return ok
}

// stacked is an adapter within its decorators.
type stacked struct {
	Bucket
	bare   Bucket
	meter  *Meter
	policy StackPolicy
}

var _ snapshot.Outside = (*stacked)(nil)

// Outside is the decorated outside of the adapter.
func (s *stacked) Outside(ctx context.Context, base string) (snapshot.Bucket, error) {
	within, ok := s.bare.(snapshot.Outside)
	if !ok {
		return nil, fault.New(fault.Refused, "what lies around the bucket is not known")
	}
	outer, err := within.Outside(ctx, base)
	if err != nil {
		return nil, err
	}
	return decorate(outer, s.meter.around(outer), s.policy), nil
}
