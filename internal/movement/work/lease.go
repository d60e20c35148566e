package work

import (
	"fmt"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

// State is what has become of a piece.
type State string

// A piece is waiting (or leased, see [Lease.LeaseHolderID]) until it is done or failed.
const (
	Waiting State = ""
	Done    State = "done"
	Failed  State = "failed"
)

// Lease is the part of a record that says who works on it. The names of its fields in JSON
// are those of the coordination records of Reindex-from-Snapshot.
type Lease struct {
	SchemaVersion Schema    `json:"schemaVersion"`
	CreatorID     string    `json:"creatorId"`
	LeaseHolderID string    `json:"leaseHolderId,omitempty"`
	Expiration    time.Time `json:"expiration,omitzero"`
	HeartbeatAt   time.Time `json:"heartbeatAt,omitzero"`
	// FormerUntil is when the last of the former leases ended whose holder had not completed the
	// piece: requests that it had sent by then may arrive later. See [Lease.Quiet].
	FormerUntil time.Time `json:"formerUntil,omitzero"`
	// NextAcquisitionLeaseExponent is that of the next lease: see [Policy.Duration].
	NextAcquisitionLeaseExponent int `json:"nextAcquisitionLeaseExponent"`
	// Attempts are the claims since there was progress, that of the holder included.
	Attempts    int       `json:"attempts"`
	State       State     `json:"state,omitempty"`
	Cause       string    `json:"cause,omitempty"` // of the failure, or of the last attempt's end
	CompletedAt time.Time `json:"completedAt,omitzero"`
}

// Policy are the times and bounds of leases.
type Policy struct {
	InitialLease time.Duration `json:"initialLease"` // of exponent 0; 10 minutes
	Heartbeat    time.Duration `json:"heartbeat"`    // between stored cursors; 5 seconds
	MaxAttempts  int           `json:"maxAttempts"`  // claims without progress; 4
	// ClockTolerance is how far a worker's clock may be from the store's; 5 seconds.
	ClockTolerance time.Duration `json:"clockTolerance"`
}

// Default is the policy that nobody has changed.
var Default = Policy{InitialLease: 10 * time.Minute, Heartbeat: 5 * time.Second, MaxAttempts: 4, ClockTolerance: 5 * time.Second}

// missed is how many heartbeats a holder may miss before others take its lease.
const missed = 3

// maxExponent keeps leases below a month with the usual initial one.
const maxExponent = 12

// longest is the longest lease.
const longest = 30 * 24 * time.Hour

// Check is fault.Usage for a policy under which nobody would get anywhere.
func (p Policy) Check() error {
	switch {
	case p.InitialLease <= 0 || p.InitialLease > longest:
		return fault.New(fault.Usage, "the initial lease is %s; it lasts at most %s", p.InitialLease, longest)
	case p.Heartbeat <= 0 || missed*p.Heartbeat > p.InitialLease:
		return fault.New(fault.Usage, "a heartbeat of %s does not fit three times into the initial lease of %s", p.Heartbeat, p.InitialLease)
	case p.MaxAttempts < 1:
		return fault.New(fault.Usage, "%d attempts are none", p.MaxAttempts)
	case p.ClockTolerance <= 0:
		return fault.New(fault.Usage, "no two clocks are within %s", p.ClockTolerance)
	}
	return nil
}

// Duration is how long a lease of an exponent lasts: InitialLease·2^exponent, and at most 30 days.
func (p Policy) Duration(exponent int) time.Duration {
	exponent = min(max(exponent, 0), maxExponent)
	if p.InitialLease > longest>>exponent {
		return longest
	}
	return p.InitialLease << exponent
}

// Checkpoint is when, after its claim, the holder of a lease begins to hand over what is
// left: early enough that a coordination store which is away for some minutes does no harm.
func Checkpoint(lease time.Duration) time.Duration {
	return max(lease*3/4, lease-(4*time.Minute+30*time.Second))
}

// Deadline is until when others leave the lease to its holder if nothing more is heard of
// it: a request that the holder sends must have ended, or have been given up, by then.
func (l *Lease) Deadline(p Policy) time.Time {
	if silent := l.HeartbeatAt.Add(missed * p.Heartbeat); p.Heartbeat > 0 && silent.Before(l.Expiration) {
		return silent
	}
	return l.Expiration
}

// Leased tells whether someone holds the lease at now: it has not expired, and the holder
// has been heard of.
func (l *Lease) Leased(p Policy, now time.Time) bool {
	if l.LeaseHolderID == "" || l.State != Waiting || !now.Before(l.Expiration) {
		return false
	}
	return !now.After(l.Deadline(p))
}

// Quiet reports whether nothing that a holder has sent can still be on its way: a holder that did the piece had
// all answers, and every other lease ended longer ago than a request can live whose answer nobody awaits.
func (l *Lease) Quiet(p Policy, now time.Time) bool {
	end := l.FormerUntil
	switch l.State {
	case Done:
	case Failed:
		end = later(end, l.CompletedAt)
	default:
		end = later(end, l.Expiration)
	}
	return !now.Before(end.Add(missed * p.Heartbeat))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Claim gives the piece to worker, whose name no other process, slot or start of a process
// has. It is fault.Conflict when someone holds it, or it is done or failed; whoever holds it
// already keeps it, so that a claim of which the answer was lost can be made again.
// A piece that was claimed too often without progress fails instead: the second value is
// false, and the state Failed with its cause; store it all the same.
func (l Lease) Claim(p Policy, worker string, now time.Time) (Lease, bool, error) {
	now = now.UTC()
	switch {
	case worker == "":
		return l, false, fault.New(fault.Bug, "a worker without a name claims")
	case l.State != Waiting:
		return l, false, fault.New(fault.Conflict, "it is %s", l.State)
	case l.Leased(p, now) && l.LeaseHolderID == worker:
		l.FormerUntil = later(l.FormerUntil, now) // it has lost hold of it perhaps, and what it had sent
		return l, true, nil
	case l.Leased(p, now):
		return l, false, fault.New(fault.Conflict, "%s holds its lease until %s", l.LeaseHolderID, l.Expiration.Format(time.RFC3339))
	case l.Attempts >= p.MaxAttempts:
		l.Cause = l.exhausted()
		l.State, l.LeaseHolderID, l.CompletedAt = Failed, "", now
		return l, false, nil
	}
	l.FormerUntil = later(l.FormerUntil, l.ended(p))
	l.LeaseHolderID, l.HeartbeatAt = worker, now
	l.Expiration = now.Add(p.Duration(l.NextAcquisitionLeaseExponent))
	l.NextAcquisitionLeaseExponent = min(l.NextAcquisitionLeaseExponent+1, maxExponent)
	l.Attempts++
	return l, true, nil
}

// ended is when the last lease of a waiting piece ended; the piece is free.
func (l *Lease) ended(p Policy) time.Time {
	if l.LeaseHolderID == "" { // it was given back
		return l.Expiration
	}
	return l.Deadline(p)
}

// exhausted is why a piece is given up of which no attempt got on: what its last attempt said. A
// holder that stands in it has said nothing: its process died, or stood still.
func (l *Lease) exhausted() string {
	last := "none said why it ended"
	switch {
	case l.LeaseHolderID != "":
		last = fmt.Sprintf("the last holder, %s, was not heard of after %s", l.LeaseHolderID, l.HeartbeatAt.Format(time.RFC3339))
	case l.Cause != "":
		return l.Cause
	}
	if l.Cause != "" {
		last += "; an attempt before ended with: " + l.Cause
	}
	return fmt.Sprintf("claimed %d times without getting on: %s", l.Attempts, last)
}

// Held is nil while worker holds the lease: else fault.LostLease, and worker must stop.
func (l *Lease) Held(worker string, now time.Time) error {
	switch {
	case worker == "":
		return fault.New(fault.Bug, "a worker without a name holds nothing")
	case l.State != Waiting:
		return fault.New(fault.LostLease, "it is %s", l.State)
	case l.LeaseHolderID != worker:
		return fault.New(fault.LostLease, "the lease has gone to %q", l.LeaseHolderID)
	case !now.Before(l.Expiration):
		return fault.New(fault.LostLease, "the lease ended at %s", l.Expiration.Format(time.RFC3339))
	}
	return nil
}

// Beat says that worker is at work, and whether it got on since it last said so.
func (l Lease) Beat(worker string, now time.Time, progress bool) (Lease, error) {
	if err := l.Held(worker, now); err != nil {
		return l, err
	}
	l.HeartbeatAt = now.UTC()
	if progress {
		l.Attempts, l.Cause = 1, ""
	}
	return l, nil
}

// Complete says that worker has done it.
func (l Lease) Complete(worker string, now time.Time) (Lease, error) {
	if err := l.Held(worker, now); err != nil {
		return l, err
	}
	l.State, l.LeaseHolderID, l.CompletedAt, l.Cause = Done, "", now.UTC(), ""
	return l, nil
}

// Release gives the lease back before its end, with the cause when the attempt failed; an
// orderly stop has none and is no attempt.
func (l Lease) Release(worker string, now time.Time, cause string) (Lease, error) {
	if err := l.Held(worker, now); err != nil {
		return l, err
	}
	l.LeaseHolderID, l.Expiration = "", now.UTC()
	l.Cause = cause
	if cause == "" {
		l.Attempts = max(l.Attempts-1, 0)
		l.NextAcquisitionLeaseExponent = max(l.NextAcquisitionLeaseExponent-1, 0)
	}
	return l, nil
}

// Return gives the lease back by an orderly holder that has sent nothing which may still be on its way.
func (l Lease) Return(worker string, now time.Time) (Lease, error) {
	l, err := l.Release(worker, now, "")
	if err == nil {
		l.Expiration = time.Time{}
	}
	return l, err
}

// Fail ends a piece that no other attempt would do better.
func (l Lease) Fail(worker string, now time.Time, cause string) (Lease, error) {
	if err := l.Held(worker, now); err != nil {
		return l, err
	}
	l.State, l.LeaseHolderID, l.CompletedAt, l.Cause = Failed, "", now.UTC(), cause
	return l, nil
}

// Again makes a failed piece waiting, with all its attempts: what an operator asks for
// after having mended the cause.
func (l Lease) Again() (Lease, error) {
	if l.State != Failed {
		return l, fault.New(fault.Conflict, "it has not failed")
	}
	l.Expiration = l.CompletedAt
	l.State, l.Cause, l.Attempts, l.NextAcquisitionLeaseExponent, l.CompletedAt = Waiting, "", 0, 0, time.Time{}
	return l, nil
}
