package cluster_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// fake is a target that keeps documents as the servers do, and fails as it is
// told. Its answers are those of OpenSearch 2.19.0.
type fake struct {
	mu       sync.Mutex
	docs     map[string]row
	applied  map[string]int // how often an operation took effect, by its source
	requests int
	limit    int                             // http.max_content_length; 0: none
	whole    func(n int, body []byte) mishap // what befalls a request
	item     func(op line) int               // a status that an operation is rejected with; 0: none
	dead     func() (status int, body string)
	fastest  time.Duration
}

type row struct {
	version int64
	source  string
}

// line is one operation of a request.
type line struct {
	action, index, id, routing string
	version                    int64
	source                     string
}

func (l line) name() string { return l.index + "/" + l.routing + "/" + l.id }

// mishap is what befalls a request.
type mishap int

const (
	fine mishap = iota
	tooMany
	tooManyForAWhile
	unavailable
	page           // a proxy's
	cut            // applied, and the answer ends early
	resetBefore    // not applied
	resetAfter     // applied
	halfItems      // applied, and the answer tells of half of the operations
	internal       // an error inside the server
	partOfIt       // the first half was applied when the server failed
	misfortunes    // the number of them
	firstMisfortue = tooMany
)

func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		r.Body.Close()
	}
	if r.Context().Err() != nil {
		return nil, r.Context().Err()
	}
	if !strings.HasSuffix(r.URL.Path, "_bulk") {
		return answer(r, 200, `{"cluster_name":"fake","version":{"distribution":"opensearch","number":"2.19.0"}}`), nil
	}
	time.Sleep(f.fastest) // within a bubble of testing/synctest: it needs no time
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests++
	if f.dead != nil {
		if status, text := f.dead(); status != 0 {
			return answer(r, status, text), nil
		}
	}
	if f.limit > 0 && len(body) > f.limit {
		return answer(r, 413, ""), nil
	}
	lines := readLines(body)
	for _, l := range lines {
		if len(l.id) > 512 {
			return answer(r, 400, exceptionBody(400, "action_request_validation_exception", "Validation Failed: 1: id ["+l.id+"] is too long, must be no longer than 512 bytes but was: 600;")), nil
		}
	}
	return f.befall(r, body, lines)
}

func (f *fake) befall(r *http.Request, body []byte, lines []line) (*http.Response, error) {
	m := fine
	if f.whole != nil {
		m = f.whole(f.requests, body)
	}
	switch m {
	case tooMany:
		return answer(r, 429, exceptionBody(429, "rejected_execution_exception", "rejected execution of coordinating operation")), nil
	case tooManyForAWhile:
		a := answer(r, 429, "")
		a.Header.Set("Retry-After", "7")
		return a, nil
	case unavailable:
		return answer(r, 503, exceptionBody(503, "unavailable_shards_exception", "primary shard is not active")), nil
	case page:
		return answer(r, 502, "<html><head><title>502 Bad Gateway</title></head></html>"), nil
	case internal:
		return answer(r, 500, exceptionBody(500, "null_pointer_exception", "it is null")), nil
	case resetBefore:
		return nil, errors.New("read: connection reset by peer")
	case partOfIt:
		f.apply(lines[:len(lines)/2])
		return nil, errors.New("read: connection reset by peer")
	}
	told := f.apply(lines)
	switch m {
	case resetAfter:
		return nil, errors.New("read: connection reset by peer")
	case cut:
		return answer(r, 200, told[:len(told)/2]), nil
	case halfItems:
		return answer(r, 200, f.apply(lines[:len(lines)/2])), nil
	}
	return answer(r, 200, told), nil
}

// apply does operations, and is the answer.
func (f *fake) apply(lines []line) string {
	var items []string
	failed := false
	for _, l := range lines {
		status, typ, reason := f.one(l)
		item := fmt.Sprintf(`{%q:{"status":%d`, l.action, status)
		if typ != "" {
			failed = true
			item += fmt.Sprintf(`,"error":{"type":%q,"reason":%q,"index":%q}`, typ, reason, l.index)
		}
		items = append(items, item+"}}")
	}
	return fmt.Sprintf(`{"errors":%v,"items":[%s]}`, failed, strings.Join(items, ","))
}

func (f *fake) one(l line) (status int, typ, reason string) {
	if f.item != nil {
		switch status := f.item(l); status {
		case 0:
		case 403:
			return 403, "cluster_block_exception", "index [" + l.index + "] blocked by: [FORBIDDEN/12/index read-only / allow delete (api)];"
		default:
			return status, "rejected_execution_exception", "no room"
		}
	}
	has, there := f.docs[l.name()]
	switch {
	case strings.Contains(l.source, `"bad"`):
		return 400, "mapper_parsing_exception", "failed to parse field [bad]"
	case there && l.version >= 0 && has.version > l.version:
		return 409, "version_conflict_engine_exception", "current version is higher"
	case there && l.action == "create":
		return 409, "version_conflict_engine_exception", "document already exists"
	}
	f.applied[l.source]++
	if l.action == "delete" {
		delete(f.docs, l.name())
		if !there {
			return 404, "", ""
		}
		return 200, "", ""
	}
	f.docs[l.name()] = row{l.version, l.source}
	return 201, "", ""
}

func exceptionBody(status int, typ, reason string) string {
	one := fmt.Sprintf(`"type":%q,"reason":%q`, typ, reason)
	return fmt.Sprintf(`{"error":{"root_cause":[{%s}],%s},"status":%d}`, one, one, status)
}

func answer(r *http.Request, status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r}
}

// readLines reads a body as a server does: by lines.
func readLines(body []byte) (out []line) {
	for len(body) > 0 {
		var head, source []byte
		head, body, _ = bytes.Cut(body, []byte("\n"))
		var about map[string]struct {
			Index   string `json:"_index"`
			ID      string `json:"_id"`
			Routing string `json:"routing"`
			Version *int64 `json:"version"`
		}
		if err := json.Unmarshal(head, &about); err != nil || len(about) != 1 {
			panic(fmt.Sprintf("action line %q: %v", head, err))
		}
		for action, a := range about {
			l := line{action: action, index: a.Index, id: a.ID, routing: a.Routing, version: -1}
			if a.Version != nil {
				l.version = *a.Version
			}
			if action != "delete" {
				source, body, _ = bytes.Cut(body, []byte("\n"))
				l.source = string(source)
			}
			out = append(out, l)
		}
	}
	return out
}

func newFake() *fake {
	return &fake{docs: map[string]row{}, applied: map[string]int{}, fastest: time.Millisecond}
}

// clientOf is a client of a fake.
func clientOf(f http.RoundTripper) *cluster.Client {
	return cluster.Via(f, "the target")
}
