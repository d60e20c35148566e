package blob

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
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

// CheckContentRange looks whether a successful answer to a request for
// [offset, offset+length) brings that range: value is its Content-Range header
// (RFC 9110 §14.4). fault.Refused when it does not; a proxy or a simple server
// that ignores ranges would otherwise pass one part of a file off as another.
// A whole blob, which is asked for without a range, needs none.
func CheckContentRange(value string, offset, length int64) error {
	if RangeHeader(offset, length) == "" {
		return nil
	}
	span, ok := strings.CutPrefix(value, "bytes ")
	if !ok {
		return fault.WithNext(fault.New(fault.Refused, "the store ignores byte ranges"), "read from a server that supports range requests")
	}
	span, total, _ := strings.Cut(span, "/")
	first, last, _ := strings.Cut(span, "-")
	begin, beginErr := strconv.ParseInt(first, 10, 64)
	end, endErr := strconv.ParseInt(last, 10, 64)
	size, sizeErr := strconv.ParseInt(total, 10, 64)
	end++ // exclusive from here on
	whole := end == offset+length && length > 0 || sizeErr == nil && end == size && (length < 0 || end < offset+length)
	if beginErr != nil || endErr != nil || begin != offset || !whole {
		return fault.New(fault.Refused, "asked for the range %q, the store sent %q", RangeHeader(offset, length), value)
	}
	return nil
}

// Do sends a request and gives failures their kind: no answer by
// [NetworkFailure], a status that is no success by [StatusFailure]. explain
// finds the reason in the beginning of such an answer's body; it may be nil.
// The caller closes the body of a success.
func Do(client *http.Client, request *http.Request, explain func(body []byte) string) (*http.Response, error) {
	response, err := client.Do(request)
	if err != nil {
		return nil, NetworkFailure(request.Context(), err)
	}
	if response.StatusCode < 300 {
		return response, nil
	}
	defer response.Body.Close()
	// What cannot be read of an explanation is not missed.
	body, _ := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	detail := ""
	if explain != nil {
		detail = explain(body)
	}
	return nil, StatusFailure(response.StatusCode, response.Header, detail)
}
