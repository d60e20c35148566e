package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/reshelve/reshelve/bench/peers"
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
	body := fmt.Sprintf(`{"kind":"split","index":%q,"shard":%d,"into":2}`, index, shard)
	response, err := http.Post(p.URL+"/_reshelve/movements", "application/json", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	var m struct{ ID string }
	err = decoded(response, http.StatusAccepted, &m)
	return m.ID, err
}

// movement is how far one is.
func movement(p *peers.Peer, id string) (m told, err error) {
	response, err := http.Get(p.URL + "/_reshelve/movements/" + id)
	if err != nil {
		return m, err
	}
	return m, decoded(response, http.StatusOK, &m)
}

// decoded reads an answer about movements.
func decoded(response *http.Response, want int, into any) error {
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != want {
		return fmt.Errorf("%d %.500s", response.StatusCode, body)
	}
	return json.Unmarshal(body, into)
}

// ended waits for a movement.
func ended(p *peers.Peer, id string) (told, error) {
	for {
		m, err := movement(p, id)
		if err != nil {
			return m, err
		}
		switch m.State {
		case "finished":
			if len(m.Reshaping.Pauses) == 0 {
				return m, fmt.Errorf("a movement tells no pause: %+v", m)
			}
			return m, nil
		case "held", "failed":
			return m, fmt.Errorf("movement %s is %s: %s", id, m.State, m.Cause)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
