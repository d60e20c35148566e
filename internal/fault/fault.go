package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Error is an error with a kind, a place, a cause and a next action.
// Build it with [New], [Wrap], [At] and [WithNext]; it is immutable.
type Error struct {
	kind  Kind
	place []string // from the outside in
	cause error
	next  string
}

// New makes an error of the given kind. Format and args are those of
// fmt.Errorf; %w keeps the wrapped error reachable for errors.Is and As.
func New(kind Kind, format string, args ...any) error {
	return &Error{kind: kind, cause: fmt.Errorf(format, args...)}
}

// Wrap gives err a kind, and keeps its place and next action. Nil stays nil.
func Wrap(kind Kind, err error) error {
	if err == nil {
		return nil
	}
	e := *classified(err)
	e.kind = kind
	return &e
}

// At puts places, outermost first, before the place that err has already.
// Nil stays nil.
func At(err error, place ...string) error {
	if err == nil {
		return nil
	}
	e := *classified(err)
	e.place = append(append([]string{}, place...), e.place...)
	return &e
}

// WithNext says what the user can do about err. An inner next action, which
// knows more, is kept. Nil stays nil.
func WithNext(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	e := *classified(err)
	if e.next == "" {
		e.next = fmt.Sprintf(format, args...)
	}
	return &e
}

// Reword changes the next action that err has; of none there stays none. Nil stays nil.
func Reword(err error, change func(next string) string) error {
	if err == nil || Next(err) == "" {
		return err
	}
	e := *classified(err)
	e.next = change(e.next)
	return &e
}

// classified returns the Error that err is, or makes one by invariant 3. An
// Error deeper in the chain lends its kind, place and next action.
func classified(err error) *Error {
	if e, ok := err.(*Error); ok { //nolint:errorlint // a deeper Error lends, and is not copied
		return e
	}
	e := &Error{kind: KindOf(err), cause: err}
	var inner *Error
	if errors.As(err, &inner) {
		e.next = inner.next
	}
	return e
}

// KindOf is the kind of err; see invariant 3 for errors without one.
func KindOf(err error) Kind {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.kind
	case errors.Is(err, context.Canceled):
		return Interrupted
	case errors.Is(err, context.DeadlineExceeded):
		return Unavailable
	}
	return Bug
}

// Is reports whether err has the kind.
func Is(err error, kind Kind) bool { return err != nil && KindOf(err) == kind }

// Error is "place: place: cause". The next action is not part of it: ask Next.
func (e *Error) Error() string {
	if len(e.place) == 0 {
		return e.cause.Error()
	}
	return strings.Join(e.place, ": ") + ": " + e.cause.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// Place is where it happened, outermost first. The caller must not change it.
func (e *Error) Place() []string { return e.place }

// Next is what the user can do about err, or "".
func Next(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.next
	}
	return ""
}
