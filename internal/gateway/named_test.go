package gateway

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// answered sends a request to a server and gives the status and the body of its answer.
func answered(s *Server, method, path, body string, header ...string) (int, string) {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// TestAbsentEndpointsAreNamed: a word of the server's API is no name of an index, whatever its
// method and parameters.
func TestAbsentEndpointsAreNamed(t *testing.T) {
	s := newServer(t, Options{})
	for path := range alone {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
			status, said := answered(s, method, "/"+path+"?status=green", "")
			if status != http.StatusBadRequest || !strings.Contains(said, "no handler found for uri [/"+path) {
				t.Errorf("%s /%s answers %d %s", method, path, status, said)
			}
		}
	}
	for _, path := range []string{"/_nonsense", "/name"} { // as the server answers
		if _, said := answered(s, http.MethodGet, path, ""); strings.Contains(said, "no handler") {
			t.Errorf("%s answers %s", path, said)
		}
	}
}

// TestNothingIsOpenedInTheBackground: who asks for a task gets one, or hears that there is none.
func TestNothingIsOpenedInTheBackground(t *testing.T) {
	s := newServer(t, Options{})
	answered(s, http.MethodPut, "/i", "")
	answered(s, http.MethodPost, "/i/_close", "")
	status, said := answered(s, http.MethodPost, "/i/_open?wait_for_completion=false", "")
	if status != http.StatusBadRequest || !strings.Contains(said, "[wait_for_completion=false] of opening an index is not supported") {
		t.Errorf("opening answers %d %s", status, said)
	}
	if status, said = answered(s, http.MethodPost, "/i/_open?wait_for_completion=true", ""); status != http.StatusOK {
		t.Errorf("opening answers %d %s", status, said)
	}
}

// TestATaskIsFoundByTheMarkOfItsRequest, which clients set to find it again.
func TestATaskIsFoundByTheMarkOfItsRequest(t *testing.T) {
	s := newServer(t, Options{})
	answered(s, http.MethodPut, "/i/_doc/1?refresh=true", `{"a":1}`)
	_, said := answered(s, http.MethodPost, "/i/_update_by_query?wait_for_completion=false", "", opaqueHeader, "mine")
	id := strings.Trim(strings.TrimPrefix(said, `{"task":`), `"}`)
	deadline := time.Now().Add(time.Minute)
	for !strings.Contains(said, `"completed":true`) && time.Now().Before(deadline) {
		_, said = answered(s, http.MethodGet, "/_tasks/"+id+"?wait_for_completion=true", "")
	}
	if !strings.Contains(said, `"headers":{"X-Opaque-Id":"mine"}`) {
		t.Errorf("the task is %s", said)
	}
	for id, why := range map[string]string{
		"foo:1":            "task [foo:1] belongs to the node [foo] which isn't part of the cluster and there is no record of the task",
		s.nodeID() + ":77": "task [" + s.nodeID() + ":77] isn't running and hasn't stored its results"} {
		if status, said := answered(s, http.MethodGet, "/_tasks/"+id, ""); status != http.StatusNotFound || !strings.Contains(said, why) {
			t.Errorf("the task %s is %d %s", id, status, said)
		}
	}
}

// TestWritesAreCountedByStatus: each item of a bulk, and what was refused, too.
func TestWritesAreCountedByStatus(t *testing.T) {
	s := newServer(t, Options{})
	told := func() string {
		_, said := answered(s, http.MethodGet, "/_nodes/stats/indices/indexing?filter_path=nodes.*.indices.indexing.doc_status", "")
		_, statuses, _ := strings.Cut(said, `"doc_status":`)
		return strings.TrimRight(statuses, "}")
	}
	if before := told(); before != "{" { // an empty object
		t.Errorf("before the first write there are %s", before)
	}
	answered(s, http.MethodPut, "/i/_doc/1", `{"a":1}`)
	answered(s, http.MethodPut, "/i/_create/1", `{"a":1}`)
	answered(s, http.MethodDelete, "/i/_doc/2", "")
	answered(s, http.MethodPost, "/_bulk", `{"index":{"_index":"i","_id":"3"}}
{"a":"no number"}
{"update":{"_index":"i","_id":"1"}}
{"doc":{"a":1}}
{"delete":{"_index":"i","_id":"1"}}
`)
	if after := told(); after != `{"2xx":3,"4xx":3` {
		t.Errorf("the writes are %s", after)
	}
}
