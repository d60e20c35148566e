package exception

import (
	"errors"
	"fmt"

	"github.com/reshelve/reshelve/internal/fault"
)

// Error is one exception. Build it with [New]; it is immutable: With and
// CausedBy return a copy. Package fault finds its kind.
type Error struct {
	Type   Type
	Reason string
	Fields []Field // in the order in which they are told
	Cause  *Error  // "caused_by", or nil

	status int // 0: that of the type
	plain  bool
	kind   error
}

// Field is a named value beside type and reason: a string, a number, a boolean
// or a slice of strings.
type Field struct {
	Name  string
	Value any
}

// New makes an exception. Format and args are those of fmt.Sprintf.
func New(t Type, format string, args ...any) *Error {
	reason := format
	if len(args) > 0 {
		reason = fmt.Sprintf(format, args...)
	}
	return &Error{Type: t, Reason: reason, kind: fault.New(t.Row().Kind, "%s", reason)}
}

// With adds a named value.
func (e *Error) With(name string, value any) *Error {
	c := *e
	c.Fields = append(append([]Field{}, e.Fields...), Field{name, value})
	return &c
}

// WithStatus tells another HTTP status than the type's own: some servers'
// exceptions carry one.
func (e *Error) WithStatus(status int) *Error {
	c := *e
	c.status = status
	return &c
}

// Plainly makes it one of a library, although the server's own of that type are not.
func (e *Error) Plainly() *Error {
	c := *e
	c.plain = true
	return &c
}

// IsPlain reports whether it is one of a library.
func (e *Error) IsPlain() bool { return e.plain || e.Type.Row().Plain }

// CausedBy sets the exception that caused this one.
func (e *Error) CausedBy(cause *Error) *Error {
	c := *e
	c.Cause = cause
	return &c
}

// Status is the HTTP status.
func (e *Error) Status() int {
	if e.status != 0 {
		return e.status
	}
	return e.Type.Row().HTTP
}

// Root is the exception that is told as root cause: the innermost in the chain
// of causes that is not plain, or e itself. A body that could not be parsed is
// told by its innermost place, although the type is plain.
func (e *Error) Root() *Error {
	root := e
	for root.Cause != nil && root.told(root.Cause) {
		root = root.Cause
	}
	return root
}

// told reports whether cause takes the place of e as root cause.
func (e *Error) told(cause *Error) bool {
	if e.Type == XContentParse {
		return cause.Type == XContentParse || !cause.IsPlain()
	}
	return !e.IsPlain() && !cause.IsPlain()
}

// Error is "type: reason".
func (e *Error) Error() string { return string(e.Type) + ": " + e.Reason }

// Unwrap lets package fault find the kind.
func (e *Error) Unwrap() error { return e.kind }

// Is reports whether err is, or wraps, an exception of the type.
func Is(err error, t Type) bool {
	var e *Error
	return errors.As(err, &e) && e.Type == t
}

// byKind are the types of errors that have none.
var byKind = map[fault.Kind]Type{
	fault.Usage: IllegalArgument, fault.Refused: IllegalArgument, fault.NotFound: ResourceNotFound,
	fault.Conflict: VersionConflict, fault.Limit: Rejected, fault.Unavailable: UnavailableShards,
	fault.Transient: UnavailableShards, fault.Stale: UnavailableShards, fault.Unauthorised: Security,
	fault.Interrupted: Timeout, fault.Corrupt: Translog,
}

// From is the exception that err is or wraps; an error without one gets the
// type and the status of its kind. Nil stays nil.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	kind := fault.KindOf(err)
	t, ok := byKind[kind]
	if !ok {
		t = Unknown
	}
	return &Error{Type: t, Reason: err.Error(), status: kind.HTTPStatus(), kind: err}
}
