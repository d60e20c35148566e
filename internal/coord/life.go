package coord

import (
	"context"
)

// Life is how long a store lives that asks a server: its calls and watches end when it
// is closed. Make it with NewLife. Safe for concurrent use.
type Life struct {
	ctx context.Context
	end context.CancelFunc
}

// NewLife begins one.
func NewLife() *Life {
	ctx, end := context.WithCancel(context.Background())
	return &Life{ctx, end}
}

// End ends every call, and each that begins later at once.
func (l *Life) End() { l.end() }

// Over reports whether End was called.
func (l *Life) Over() bool { return l.ctx.Err() != nil }

// Context ends with the life.
func (l *Life) Context() context.Context { return l.ctx }

// Begin starts a call, whose context ends with the life, too. The caller calls done
// when the call is over. The error is Closed's or that of ctx.
func (l *Life) Begin(ctx context.Context) (within context.Context, done func(), err error) {
	if l.Over() {
		return nil, nil, Closed()
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(l.ctx, cancel)
	return ctx, func() { stop(); cancel() }, nil
}

// Ended says why the context of a call has ended: nil while it has not.
func (l *Life) Ended(ctx context.Context) error {
	if l.Over() {
		return Closed()
	}
	return ctx.Err()
}
