package migrate

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/movement/worker"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// tardy is a store as one process asks it, whose server's clock was set back for all.
type tardy struct {
	coord.Store
	clock coord.Asked
	mu    *sync.Mutex
	back  *time.Duration
}

func (s *tardy) Now(context.Context) (coord.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock.Answered(coord.Time{At: time.Now().Round(0).Add(-*s.back)}, time.Now()), nil
}

// greets answers as a store does that a writer is made for.
type greets struct{}

func (greets) RoundTrip(r *http.Request) (*http.Response, error) {
	body := `{"version":{"distribution":"opensearch","number":"2.19.0"}}`
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// TestALimitIsSharedWhenTheStoresClockWasSetBack: who was there before learns of who comes, and the other way round, while
// they are told different times.
func TestALimitIsSharedWhenTheStoresClockWasSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared, back, mu := memory.New(), time.Duration(0), &sync.Mutex{}
		m := movement.Record{ID: "m", Kind: movement.Migrate, State: movement.Running, Plan: []byte(`{}`), Phases: []movement.Phase{{Name: phaseDocuments}},
			Rate: Limits{DocumentsPerSecond: 100}.JSON(), Created: time.Now()}
		process := func(name string) *turn {
			client, err := cluster.Open(t.Context(), cluster.Options{URL: "http://store", Transport: greets{}})
			if err != nil {
				t.Fatal(err)
			}
			writer, err := client.NewWriter(t.Context(), cluster.WriterOptions{})
			if err != nil {
				t.Fatal(err)
			}
			d := drive.New(&tardy{Store: shared, mu: mu, back: &back}, 0)
			return &turn{sides: &sides{plan: Plan{Policy: work.Default}, writer: writer}, Slot: worker.Slot{Driver: d, Worker: name + "-0"}, movement: &m}
		}
		one := process("one")
		if err := one.Driver.Plan(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		beat := func(times int, all ...*turn) {
			for range times {
				time.Sleep(work.Default.Heartbeat)
				for _, p := range all {
					p.adapt(t.Context(), &m)
				}
			}
		}
		one.sends(t.Context())
		beat(5, one)
		mu.Lock()
		back = time.Hour
		mu.Unlock()
		beat(10, one)
		two := process("two")
		two.sends(t.Context())
		beat(10, one, two)
		if one.sharing.others != 1 || two.sharing.others != 1 {
			t.Errorf("the first knows of %d others, the second of %d", one.sharing.others, two.sharing.others)
		}
	})
}
