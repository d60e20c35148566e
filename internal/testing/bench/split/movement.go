package main

import (
	"fmt"
	"time"

	"github.com/reshelve/reshelve/internal/testing/bench/peers"
)

// told is what is read of a movement.
type told struct {
	State     string
	Cause     string
	Started   time.Time
	Phases    []phase
	Reshaping struct {
		Pauses []struct {
			Waited        int64
			P50, P99, Max time.Duration
			Steps         struct{ Drain, Stage, Change, Open time.Duration }
		}
		Compared struct{ Documents int64 }
	}
}

type phase struct {
	Name           string
	Started, Ended time.Time
}

// phase is one by name; the zero phase when there is none.
func (m *told) phase(name string) phase {
	for _, p := range m.Phases {
		if p.Name == name {
			return p
		}
	}
	return phase{}
}

// begin begins to split one of a shard into two.
func begin(p *peers.Peer, shard int) (id string, err error) {
	return p.Begin(fmt.Sprintf(`{"kind":"split","index":%q,"shard":%d,"into":2}`, index, shard))
}

// ended waits for a movement.
func ended(p *peers.Peer, id string) (m told, err error) {
	if err = p.Ended(id, &m); err == nil && len(m.Reshaping.Pauses) == 0 {
		return m, fmt.Errorf("a movement tells no pause: %+v", m)
	}
	return m, err
}
