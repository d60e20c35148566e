package blob

import (
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/reshelve/reshelve/fault"
)

// Ranged opens a range of a store that speaks HTTP ranges, which have no empty
// range and refuse one past the end: those two cases ask for the size instead,
// and give an empty stream when the blob exists. get is called for all others;
// it returns ErrPastEnd for HTTP 416 and errors of a kind otherwise. Ranged
// checks the key and adds place to the errors, size and get do not.
func Ranged(place, key string, offset, length int64, size func() (int64, error), get func() (io.ReadCloser, error)) (io.ReadCloser, error) {
	if err := CheckKey(key); err != nil {
		return nil, fault.At(err, place)
	}
	if offset < 0 {
		return nil, fault.At(fault.New(fault.Bug, "negative offset %d", offset), place)
	}
	if length != 0 {
		body, err := get()
		if !errors.Is(err, ErrPastEnd) {
			return body, fault.At(err, place)
		}
	}
	if _, err := size(); err != nil {
		return nil, fault.At(err, place)
	}
	return http.NoBody, nil
}

// RangeHeader is the value of the Range header for [offset, offset+length), or
// "" for a whole blob. A negative length reaches to the end; length is not 0.
func RangeHeader(offset, length int64) string {
	switch {
	case offset == 0 && length < 0:
		return ""
	case length < 0:
		return "bytes=" + strconv.FormatInt(offset, 10) + "-"
	}
	return "bytes=" + strconv.FormatInt(offset, 10) + "-" + strconv.FormatInt(offset+length-1, 10)
}
