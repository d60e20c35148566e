package remote

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

const (
	// Root is the path that everything lies at and below.
	Root = "/_reshelve/coord"
	// Silence is how long a watch hears nothing before it is over.
	Silence = 30 * time.Second

	protocol       = 1
	revisionHeader = "Reshelve-Revision"
	problemType    = "application/problem+json"
	linesType      = "application/x-ndjson"
)

type greeting struct {
	Protocol int `json:"protocol"`
}

type revisionAnswer struct {
	Revision int64 `json:"revision"`
}

type timeAnswer struct {
	At    time.Time     `json:"at"`
	Error time.Duration `json:"error"`
	// Behind and Ahead are absent where 0, and of a process of an older release, whose Error holds both.
	Behind time.Duration `json:"behind,omitzero"`
	Ahead  time.Duration `json:"ahead,omitzero"`
}

// line is one of a list or a watch.
type line struct {
	Key      string   `json:"key,omitempty"`
	Revision int64    `json:"revision,omitempty"`
	Deleted  bool     `json:"deleted,omitempty"`
	Value    []byte   `json:"value,omitempty"` // nothing for an empty one, too
	End      *int     `json:"end,omitempty"`
	Problem  *problem `json:"problem,omitempty"`
}

func lineOf(r coord.Record, deleted bool) line {
	return line{Key: r.Key, Revision: r.Revision, Deleted: deleted, Value: r.Value}
}

// event is what a line says.
func (l line) event() coord.Event {
	e := coord.Event{Record: coord.Record{Key: l.Key, Revision: l.Revision}, Deleted: l.Deleted}
	if !l.Deleted {
		e.Value = append([]byte{}, l.Value...)
	}
	return e
}

// problem is an error as RFC 9457 has it.
type problem struct {
	Type   string   `json:"type"`
	Title  string   `json:"title"`
	Status int      `json:"status"`
	Detail string   `json:"detail"`
	Kind   string   `json:"kind"`
	Place  []string `json:"place,omitempty"`
	Next   string   `json:"next,omitempty"`
}

func problemOf(err error) *problem {
	kind := fault.KindOf(err)
	p := &problem{Type: "about:blank", Title: http.StatusText(kind.HTTPStatus()), Status: kind.HTTPStatus(), Kind: kind.String(), Next: fault.Next(err)}
	var known *fault.Error
	if errors.As(err, &known) {
		p.Place = known.Place()
		err = known.Unwrap()
	}
	p.Detail = err.Error()
	return p
}

// fault is the error that the problem tells.
func (p *problem) fault() error {
	for _, k := range fault.Kinds {
		if k.Name == p.Kind {
			kind := k.Kind
			if kind == fault.Interrupted { // by somebody else than this caller
				kind = fault.Unavailable
			}
			err := fault.New(kind, "%s", p.Detail)
			if len(p.Place) > 0 {
				err = fault.At(err, p.Place...)
			}
			if p.Next != "" {
				err = fault.WithNext(err, "%s", p.Next)
			}
			return err
		}
	}
	return fault.New(fault.Unavailable, "%s: %s", p.Title, p.Detail)
}

// refused is the error of an answer that is no success.
func refused(status int, body []byte) error {
	var p problem
	if json.Unmarshal(body, &p) == nil && p.Kind != "" {
		return p.fault()
	}
	text := strings.ToValidUTF8(strings.TrimSpace(string(body[:min(len(body), 200)])), "�")
	kind, next := fault.Unavailable, ""
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		kind, next = fault.Unauthorised, "check the credentials"
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		kind, next = fault.Refused, "name the address that it points to"
	case http.StatusNotFound, http.StatusBadRequest, http.StatusMethodNotAllowed:
		kind, next = fault.Refused, "name a store that reshelve serves, of a version with a coordination store"
	}
	err := fault.New(kind, "it answers with status %d: %s", status, text)
	if next != "" {
		err = fault.WithNext(err, "%s", next)
	}
	return err
}
