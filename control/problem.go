package control

import (
	"errors"

	"github.com/reshelve/reshelve/fault"
)

// Problem is a fault in an answer.
type Problem struct {
	Kind    string   `json:"kind"`            // see fault.Kinds
	Place   []string `json:"place,omitempty"` // from the outside in: repository path, segment, file, offset
	Message string   `json:"message"`         // place and cause
	Next    string   `json:"next,omitempty"`  // what can be done

	err error
}

// Tell makes a Problem of an error.
func Tell(err error) Problem {
	p := Problem{Kind: fault.KindOf(err).String(), Message: err.Error(), Next: fault.Next(err), err: err}
	var f *fault.Error
	if errors.As(err, &f) {
		p.Place = f.Place()
	}
	return p
}

// tellable makes a Problem of an error that concerns one part only; any other
// error is returned.
func tellable(err error) (*Problem, error) {
	switch fault.KindOf(err) {
	case fault.Corrupt, fault.Refused, fault.NotFound:
		p := Tell(err)
		return &p, nil
	}
	return nil, err
}
