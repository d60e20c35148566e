package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// itemAnswer is what is told of one operation.
type itemAnswer struct {
	Status int   `json:"status"`
	Error  *told `json:"error"`
}

// errNoBulk is an answer that is none of a bulk request: what it did is unknown.
var errNoBulk = errors.New("the answer is none to a bulk request")

// readBulk reads the answer to a bulk request of n operations, each of which is
// handed to each, in order. Nil each: all of them were applied. An answer that is
// cut, or tells of another number of operations, is an error, and each has then
// perhaps seen some of them.
func readBulk(body []byte, n int, each func(i int, a *itemAnswer) error) error {
	if allApplied(body, n) {
		return nil
	}
	return readEach(body, n, each)
}

// readEach is readBulk without its short way.
func readEach(body []byte, n int, each func(i int, a *itemAnswer) error) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
		return errNoBulk
	}
	seen := -1
	for {
		name, err := d.ReadToken()
		if err != nil {
			return fmt.Errorf("%w: %w", errNoBulk, err)
		}
		if name.Kind() == '}' {
			break
		}
		if name.String() != "items" {
			if err := d.SkipValue(); err != nil {
				return fmt.Errorf("%w: %w", errNoBulk, err)
			}
			continue
		}
		if seen, err = readItems(d, n, each); err != nil {
			return err
		}
	}
	if seen != n {
		return fmt.Errorf("%w: %d operations were sent, %d are told of", errNoBulk, n, max(seen, 0))
	}
	return nil
}

// allApplied is the fast path: "errors":false, and n operations with a status of
// 200 or 201. The name of a member, colon included, cannot stand in a string:
// its quotes would have backslashes.
func allApplied(body []byte, n int) bool {
	body = trim(body)
	if len(body) == 0 || body[len(body)-1] != '}' || !bytes.Contains(body[:min(len(body), 64)], []byte(`"errors":false`)) {
		return false
	}
	count := bytes.Count(body, []byte(`"status":201`)) + bytes.Count(body, []byte(`"status":200`))
	return count == n && bytes.Count(body, []byte(`"status":`)) == n
}

// readItems reads the array of items.
func readItems(d *jsontext.Decoder, n int, each func(int, *itemAnswer) error) (seen int, err error) {
	if token, err := d.ReadToken(); err != nil || token.Kind() != '[' {
		return 0, errNoBulk
	}
	for d.PeekKind() == '{' {
		value, err := d.ReadValue()
		if err != nil {
			return seen, fmt.Errorf("%w: %w", errNoBulk, err)
		}
		var one map[string]itemAnswer
		if err := json.Unmarshal(value, &one); err != nil || len(one) != 1 || seen >= n {
			return seen, errNoBulk
		}
		for _, a := range one {
			if a.Status == 0 {
				return seen, errNoBulk
			}
			if err := each(seen, &a); err != nil {
				return seen, err
			}
		}
		seen++
	}
	if token, err := d.ReadToken(); err != nil || token.Kind() != ']' {
		return seen, errNoBulk
	}
	return seen, nil
}
