package peers

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Begin orders a movement of this store, as the API takes it.
func (p *Peer) Begin(order string) (id string, err error) {
	response, err := http.Post(p.URL+"/_reshelve/movements", "application/json", strings.NewReader(order))
	if err != nil {
		return "", err
	}
	var m struct{ ID string }
	err = Decoded(response, http.StatusAccepted, &m)
	return m.ID, err
}

// Movement decodes how far a movement is.
func (p *Peer) Movement(id string, into any) error {
	response, err := http.Get(p.URL + "/_reshelve/movements/" + id)
	if err != nil {
		return err
	}
	return Decoded(response, http.StatusOK, into)
}

// Ended waits until a movement is finished, and decodes it. One that is held, or has failed, is an
// error.
func (p *Peer) Ended(id string, into any) error {
	for {
		var answer json.RawMessage
		var m struct{ State, Cause string }
		if err := p.Movement(id, &answer); err != nil {
			return err
		}
		if err := json.Unmarshal(answer, &m); err != nil {
			return err
		}
		switch m.State {
		case "finished":
			return json.Unmarshal(answer, into)
		case "held", "failed":
			return fmt.Errorf("movement %s is %s: %s", id, m.State, m.Cause)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Decoded reads the JSON of an answer, which must have a status.
func Decoded(response *http.Response, want int, into any) error {
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
