package control

import (
	"errors"

	"github.com/reshelve/reshelve/internal/fault"
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

// Fault is the error that the problem tells.
func (p *Problem) Fault() error {
	if p.err != nil {
		return p.err
	}
	for _, known := range fault.Kinds {
		if known.Name == p.Kind {
			return fault.WithNext(fault.New(known.Kind, "%s", p.Message), "%s", p.Next)
		}
	}
	return fault.New(fault.Unavailable, "%s", p.Message)
}

// tellEach is tellable of an error that may join several.
func tellEach(err error) (problems []Problem, rest error) {
	causes := []error{err}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		causes = joined.Unwrap()
	}
	for _, cause := range causes {
		problem, err := tellable(cause)
		if err != nil {
			return nil, err
		}
		problems = append(problems, *problem)
	}
	return problems, nil
}

// only is the problem itself when there is one; else as verdict.
func only(problems []Problem) error {
	if len(problems) == 1 {
		return problems[0].err
	}
	return verdict(problems)
}

// verdict is the error of an answer that tells of problems: damage, unless all of
// them are something else.
func verdict(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	kind := fault.KindOf(problems[0].err)
	for _, p := range problems {
		if fault.Is(p.err, fault.Corrupt) {
			kind = fault.Corrupt
		}
	}
	if len(problems) == 1 {
		return fault.New(kind, "1 problem was found")
	}
	return fault.New(kind, "%d problems were found", len(problems))
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
