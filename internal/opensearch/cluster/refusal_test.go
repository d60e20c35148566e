package cluster_test

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// Answers that users meet, as OpenSearch 2.19.0 and 1.3, Elasticsearch 7 to 9 and
// what stands before them give them.
func TestRefusalsHaveKindPlaceAndAdvice(t *testing.T) {
	for _, tc := range []struct {
		name, body string
		status     int
		kind       fault.Kind
		says, next string
	}{
		{"flood stage", exceptionBody(429, "cluster_block_exception", "index [a] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block];"),
			429, fault.Unavailable, "flood-stage", "free disk space"},
		{"old flood stage", exceptionBody(403, "cluster_block_exception", "blocked by: [FORBIDDEN/12/index read-only / allow delete (api)];"),
			403, fault.Unavailable, "read-only", "remove the setting index.blocks.read_only_allow_delete"},
		{"write block", exceptionBody(403, "cluster_block_exception", "index [a] blocked by: [FORBIDDEN/8/index write (api)];"), 403, fault.Unavailable, "write (api)",
			`remove the block when it is needed no more: PUT /a/_settings {"index.blocks.write":null}`},
		{"write block of several", exceptionBody(403, "cluster_block_exception", "index [a] blocked by: [FORBIDDEN/8/index write (api)];index [b] blocked by: [FORBIDDEN/8/index write (api)];"), 403,
			fault.Unavailable, "write (api)", `PUT /a,b/_settings {"index.blocks.write":null}`},
		{"read-only cluster", exceptionBody(403, "cluster_block_exception", "blocked by: [FORBIDDEN/6/cluster read-only (api)];"), 403, fault.Unavailable, "cluster read-only",
			`PUT /_cluster/settings {"persistent":{"cluster.blocks.read_only":null},"transient":{"cluster.blocks.read_only":null}}`},
		{"no master", exceptionBody(503, "cluster_block_exception", "blocked by: [SERVICE_UNAVAILABLE/2/no master];"), 503, fault.Unavailable, "no master", "has a master"},
		{"field limit", `{"error":{"type":"illegal_argument_exception","reason":"Limit of total fields [1000] has been exceeded"},"status":400}`,
			400, fault.Refused, "Limit of total fields", "index.mapping.total_fields.limit"},
		{"field limit as a cause", `{"error":{"type":"mapper_parsing_exception","reason":"failed to parse","caused_by":{"type":"illegal_argument_exception","reason":"Limit of total fields [1000] has been exceeded"}},"status":400}`,
			400, fault.Refused, "failed to parse: Limit of total fields", "index.mapping.total_fields.limit"},
		{"shard limit", exceptionBody(400, "validation_exception", "Validation Failed: 1: this action would add [2] total shards, but this cluster currently has [999]/[1000] maximum shards open;"),
			400, fault.Limit, "maximum shards open", "cluster.max_shards_per_node"},
		{"exists", exceptionBody(400, "resource_already_exists_exception", "index [a/x] already exists"), 400, fault.Conflict, "already exists", ""},
		{"exists, of Elasticsearch 9", exceptionBody(400, "illegal_argument_exception", "index template [a] already exists"), 400, fault.Conflict, "already exists", ""},
		{"path.repo", `{"error":{"root_cause":[{"type":"repository_exception","reason":"[r] location [/x] doesn't match any of the locations specified by path.repo because this setting is empty"}],"type":"repository_exception","reason":"[r] failed to create repository"},"status":500}`,
			500, fault.Refused, "doesn't match any of the locations", "path.repo in the configuration"},
		{"breaker", exceptionBody(429, "circuit_breaking_exception", "[parent] Data too large"), 429, fault.Limit, "Data too large", "lacks memory"},
		{"unknown type", exceptionBody(418, "teapot_exception", "short and stout"), 418, fault.Refused, "short and stout", ""},
		{"unknown type, at fault", exceptionBody(500, "teapot_exception", "short and stout"), 500, fault.Unavailable, "short and stout", ""},
		{"service", `{"message":"The security token included in the request is expired"}`, 403, fault.Unauthorised, "token included in the request is expired", "rights"},
		{"not found", `{}`, 404, fault.NotFound, "404", ""},
		{"text", `{"error":"Incorrect HTTP method for uri [/] and method [PUT], allowed: [HEAD]","status":405}`, 405, fault.Refused, "Incorrect HTTP method", ""},
		{"proxy", "<html>\n<head><title>413 Request Entity Too Large</title></head>", 413, fault.Limit, "a web page", "http.max_content_length"},
		{"nothing", "", 503, fault.Unavailable, "503", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := cluster.New("http://127.0.0.1:9/path", tripper(func(r *http.Request) (*http.Response, error) { return answer(r, tc.status, tc.body), nil }))
			must(t, err)
			_, err = c.Do(t.Context(), "PUT", []string{"a"}, nil, []byte(`{}`))
			if !fault.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.says) || !strings.Contains(fault.Next(err), tc.next) {
				t.Errorf("%v\nkind %v, next %q", err, fault.KindOf(err), fault.Next(err))
			}
			if !strings.HasPrefix(err.Error(), "http://127.0.0.1:9/path: ") {
				t.Errorf("no place: %v", err)
			}
		})
	}
}

// What is not applied, or harmless to apply twice, is repeated; nothing else is.
func TestWhatIsRepeated(t *testing.T) {
	dial := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	for _, tc := range []struct {
		name     string
		status   int
		err      error
		method   string
		harmless bool
		requests int
	}{
		{"too many", 429, nil, "POST", false, 2},
		{"not reached", 0, dial, "POST", false, 2},
		{"perhaps applied", 503, nil, "POST", false, 1},
		{"perhaps applied, harmless", 503, nil, "POST", true, 2},
		{"connection lost", 0, errors.New("reset"), "PUT", false, 1},
		{"connection lost, harmless", 0, errors.New("reset"), "PUT", true, 2},
		{"read", 502, nil, "GET", false, 2},
		{"refused", 400, nil, "GET", true, 1},
		{"failed", 500, nil, "GET", true, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			requests := 0
			c, err := cluster.Open(t.Context(), cluster.Options{Place: "x", Transport: tripper(func(r *http.Request) (*http.Response, error) {
				switch {
				case r.URL.Path == "" || r.URL.Path == "/":
					return answer(r, 200, `{"version":{"distribution":"opensearch","number":"2.19.0"}}`), nil
				case requests > 0:
					requests++
					return answer(r, 200, `{}`), nil
				case tc.err != nil:
					requests++
					return nil, tc.err
				}
				requests++
				return answer(r, tc.status, `{}`), nil
			})})
			must(t, err)
			_, err = c.Send(t.Context(), cluster.Request{Method: tc.method, Path: []string{"a"}, Harmless: tc.harmless})
			if requests != tc.requests || (err == nil) != (tc.requests == 2) {
				t.Errorf("%d requests: %v", requests, err)
			}
		})
	}
}
