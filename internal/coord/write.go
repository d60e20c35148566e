package coord

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/fault"
)

// Op is what a Write does.
type Op uint8

// The three changes of a Store.
const (
	OpCreate Op = iota
	OpSwap
	OpDelete
)

// Write is one Create, Swap or Delete as a value: what adapters check and decide in
// the same way. Revision is the one that a swap or a deletion quotes.
type Write struct {
	Op       Op
	Key      string
	Revision int64
	Value    []byte
}

// Check is fault.Refused for a key that no record can have, and fault.Limit for a
// key or a value that is too long.
func (w Write) Check() error {
	if err := CheckKey(w.Key); err != nil {
		return err
	}
	if len(w.Value) > MaxValue {
		err := fault.New(fault.Limit, "a value of %d bytes is longer than %d", len(w.Value), MaxValue)
		return fault.At(err, "record "+w.Key)
	}
	return nil
}

// Admit is fault.Conflict when the change must not happen to a key whose record has
// revision have, which is 0 when there is no record.
func (w Write) Admit(have int64) error {
	var err error
	switch {
	case w.Op == OpCreate && have != 0:
		err = fault.New(fault.Conflict, "it exists already, at revision %d", have)
	case w.Op == OpCreate:
		return nil
	case have == 0:
		err = fault.New(fault.Conflict, "it is gone; revision %d was to be changed", w.Revision)
	case have != w.Revision:
		err = fault.New(fault.Conflict, "it is at revision %d; revision %d was to be changed", have, w.Revision)
	default:
		return nil
	}
	return fault.WithNext(fault.At(err, "record "+w.Key), "somebody else changed it: read it again and decide anew")
}

// CheckKey is fault.Refused for what can be no key, and fault.Limit for a longer
// one than MaxKey.
func CheckKey(key string) error {
	switch {
	case key == "":
		return fault.New(fault.Refused, "a record needs a key")
	case len(key) > MaxKey:
		return fault.New(fault.Limit, "a key of %d bytes is longer than %d", len(key), MaxKey)
	case !utf8.ValidString(key), strings.ContainsFunc(key, unicode.IsControl):
		return fault.New(fault.Refused, "key %q is not UTF-8 without control characters", key)
	}
	return nil
}

// Missing is the error of a Get without a record.
func Missing(key string) error {
	return fault.At(fault.New(fault.NotFound, "no such record"), "record "+key)
}

// Closed is the error of every call after Close.
func Closed() error {
	return fault.New(fault.Unavailable, "the coordination store is closed")
}
