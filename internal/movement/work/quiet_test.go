package work_test

import (
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/movement/work"
)

// TestQuiet: what may still be on its way when a piece is no longer held.
func TestQuiet(t *testing.T) {
	p := work.Policy{InitialLease: time.Minute, Heartbeat: time.Second, MaxAttempts: 3}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	claimed, _, err := work.Lease{}.Claim(p, "w", at)
	if err != nil {
		t.Fatal(err)
	}
	released, err := claimed.Release("w", at.Add(10*time.Second), "")
	if err != nil {
		t.Fatal(err)
	}
	done, err := claimed.Complete("w", at.Add(10*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	failed, err := claimed.Fail("w", at.Add(10*time.Second), "torn")
	if err != nil {
		t.Fatal(err)
	}
	then := func(l work.Lease, claim time.Duration) work.Lease { // another claims it, and is done at once
		t.Helper()
		l, ours, err := l.Claim(p, "other", at.Add(claim))
		if err == nil && ours {
			l, err = l.Complete("other", at.Add(claim))
		}
		if err != nil || !ours {
			t.Fatal(ours, err)
		}
		return l
	}
	again, err := failed.Again()
	if err != nil {
		t.Fatal(err)
	}
	returned, err := claimed.Return("w", at.Add(10*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	twice, _, err := claimed.Claim(p, "w", at.Add(2*time.Second))
	if err == nil {
		twice, err = twice.Complete("w", at.Add(2*time.Second))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		what  string
		lease work.Lease
		from  time.Duration // when it is quiet
	}{
		{"never claimed", work.Lease{}, 0},
		{"claimed, and never heard of again", claimed, 63 * time.Second},
		{"given back", released, 13 * time.Second},
		{"failed", failed, 13 * time.Second},
		{"done", done, 0},
		{"given back, and done by another", then(released, 11*time.Second), 13 * time.Second},
		{"not heard of, and done by another", then(claimed, 4*time.Second), 6 * time.Second},
		{"failed, and done by another", then(again, 11*time.Second), 13 * time.Second},
		{"claimed again by its holder, and done", twice, 5 * time.Second},
		{"given back with nothing on its way", returned, 0},
		{"the same, and done by another", then(returned, 11*time.Second), 0},
	} {
		if !tc.lease.Quiet(p, at.Add(tc.from)) || tc.from > 0 && tc.lease.Quiet(p, at.Add(tc.from-1)) {
			t.Errorf("%s: it is not quiet from %s on", tc.what, tc.from)
		}
	}
}
