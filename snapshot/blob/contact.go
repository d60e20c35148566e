package blob

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

// Contact limits how long a store that has never answered is tried, while a person waits for it. A field that is zero sets no
// limit besides those of [RetryPolicy].
type Contact struct {
	Silence time.Duration // how long the first answer may take
	Refused int           // attempts at a port that refuses connections
}

// contact is whether a store has ever answered, and how long it is tried until then.
type contact struct {
	Contact
	place, endpoint string // what errors name, and where the store can be asked; "" for neither
	answered        atomic.Bool
}

// newContact makes the contact of a bucket. Its location is known if [Open] has opened it.
func newContact(bare Bucket, bounds Contact) *contact {
	c := &contact{Contact: bounds}
	if l, ok := bare.(*located); ok {
		c.endpoint = l.location.Endpoint()
		if c.place = l.location.String(); l.location.Bucket != "" && c.endpoint != "" {
			c.place += " at " + c.endpoint
		}
	}
	return c
}

// note notes that a store has answered, if the error of an attempt shows that. Other errors may come from this machine alone.
func (c *contact) note(err error) {
	if err == nil || fault.Is(err, fault.NotFound) || fault.Is(err, fault.Unauthorised) {
		c.answered.Store(true)
	}
}

// givesUp reports whether the store has refused all connections, and so many attempts are enough.
func (c *contact) givesUp(err error, failures int) bool {
	return c.Refused > 0 && failures >= c.Refused && !c.answered.Load() && errors.Is(err, syscall.ECONNREFUSED)
}

// next is what the user can do about a store that does not answer.
func (c *contact) next(err error) error {
	if c.endpoint == "" {
		return fault.WithNext(err, "check the network, and the location: see reshelve help repositories")
	}
	return fault.WithNext(err, "see whether something answers there: curl -sS -m 5 %s; or name another location", c.endpoint)
}

// within makes an attempt. Until the store has answered once, it returns after the silence that is allowed, also when the attempt
// does not end with its context: some libraries fetch credentials without one. late gets what such an attempt returns afterwards.
func within[T any](ctx context.Context, c *contact, attempt func(context.Context) (T, error), late func(T)) (got T, err error) {
	defer func() { c.note(err) }()
	if c.Silence <= 0 || c.answered.Load() {
		return attempt(ctx)
	}
	type outcome struct {
		got T
		err error
	}
	cut, cancel := context.WithCancel(ctx)
	done := make(chan outcome, 1)
	go func() {
		got, err := attempt(cut)
		done <- outcome{got, err}
	}()
	timer := time.NewTimer(c.Silence)
	defer timer.Stop()
	select {
	case o := <-done:
		context.AfterFunc(ctx, cancel) // not now: a body needs its context while it is read
		return o.got, o.err
	case <-timer.C:
		cancel()
		go func() {
			if o := <-done; o.err == nil {
				late(o.got)
			}
		}()
		err := fault.New(fault.Unavailable, "no answer within %s", c.Silence)
		if c.place != "" {
			err = fault.At(err, c.place)
		}
		return got, c.next(err)
	}
}

// discard is the late function of attempts whose result needs no closing.
func discard[T any](T) {}

// closeBody is the late function of attempts that open a body.
func closeBody(body io.ReadCloser) { _ = body.Close() }
