package coord_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

// steps prints what Step tells after a revision.
func steps(h *coord.History, prefix string, after, upTo int64) string {
	events, position, err := h.Step(prefix, after, upTo, func(key string) (coord.Record, error) {
		return coord.Record{Key: key, Value: []byte("v")}, nil
	})
	if err != nil {
		return fault.KindOf(err).String()
	}
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%s%s ", map[bool]string{true: "-"}[e.Deleted], e.Key)
	}
	return fmt.Sprintf("%sto %d", b.String(), position)
}

func TestAHistoryTellsLastChangesOrThatItForgot(t *testing.T) {
	h := coord.NewHistory(10, 5)
	for _, c := range []struct {
		what          string
		add           []coord.Change
		prefix        string
		after, upTo   int64
		want          string
		lastAfterThat int64
	}{
		{"before the first", nil, "", 9, 10, "stale", 10},
		{"nothing yet", nil, "", 10, 10, "to 10", 10},
		{"beyond the last", nil, "", 11, 11, "stale", 10},
		{"one", []coord.Change{{Key: "a", Revision: 11}}, "", 10, 11, "a to 11", 11},
		{"the last of each key", []coord.Change{{Key: "b", Revision: 12}, {Key: "a", Revision: 13}}, "", 10, 13, "b a to 13", 13},
		{"as of a snapshot", nil, "", 10, 12, "a b to 12", 13},
		{"a deletion", []coord.Change{{Key: "b", Revision: 14, Deleted: true}}, "", 11, 14, "a -b to 14", 14},
		{"of a prefix", nil, "b", 11, 14, "-b to 14", 14},
		{"of no key", nil, "c", 11, 14, "to 14", 14},
		{"full", []coord.Change{{Key: "c", Revision: 20}}, "", 10, 20, "a -b c to 20", 20},
		{"over full", []coord.Change{{Key: "d", Revision: 21}}, "", 10, 21, "stale", 21},
		{"the oldest known", nil, "", 11, 21, "a -b c d to 21", 21},
		{"many at once", []coord.Change{{Key: "e", Revision: 22}, {Key: "f", Revision: 23}, {Key: "g", Revision: 24},
			{Key: "h", Revision: 25}, {Key: "i", Revision: 26}, {Key: "j", Revision: 27}}, "", 22, 27, "f g h i j to 27", 27},
		{"just forgotten", nil, "", 21, 27, "stale", 27},
	} {
		h.Append(c.add...)
		if got := steps(h, c.prefix, c.after, c.upTo); got != c.want || h.Last() != c.lastAfterThat {
			t.Errorf("%s: %q at %d, want %q at %d", c.what, got, h.Last(), c.want, c.lastAfterThat)
		}
	}
}

// TestAStepIsBounded: by events and by the bytes of their values; a next step goes on.
func TestAStepIsBounded(t *testing.T) {
	h := coord.NewHistory(0, 1000)
	for i := range 600 {
		h.Append(coord.Change{Key: fmt.Sprint(i), Revision: int64(i + 1)})
	}
	for size, most := range map[int]int{0: 256, 1 << 20: 4, 64 << 20: 1} {
		value := make([]byte, size)
		told := int64(0)
		for after := int64(0); after < 600; {
			events, position, err := h.Step("", after, 600, func(key string) (coord.Record, error) {
				told++
				return coord.Record{Key: key, Value: value, Revision: told}, nil
			})
			if err != nil || len(events) > most || position <= after {
				t.Fatalf("values of %d bytes: %d events from %d to %d (%v), want at most %d", size, len(events), after, position, err, most)
			}
			after = position
		}
		if told != 600 {
			t.Errorf("values of %d bytes: %d of 600 events were told", size, told)
		}
	}
}

func TestWaitingEndsWithAChangeOrAnError(t *testing.T) {
	h := coord.NewHistory(0, 10)
	over := errors.New("over")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Wait(ended, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	waits := make(chan error)
	go func() { waits <- h.Wait(t.Context(), 1) }()
	h.Append(coord.Change{Key: "a", Revision: 1})
	h.Append() // nothing
	h.Append(coord.Change{Key: "a", Revision: 2})
	if err := <-waits; err != nil {
		t.Errorf("a change: %v", err)
	}
	go func() { waits <- h.Wait(t.Context(), 2) }()
	h.End(over)
	h.End(errors.New("twice"))
	if err := <-waits; !errors.Is(err, over) {
		t.Errorf("the end: %v", err)
	}
	if err := h.Wait(t.Context(), 1); err != nil {
		t.Errorf("what is there stays there: %v", err)
	}
}
