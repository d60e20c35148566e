package sim

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// reply is an answer of the target.
type reply struct {
	status int
	body   []byte
}

func refusal(status int, kind, reason string) reply {
	one := fmt.Sprintf(`"type":%q,"reason":%q`, kind, reason)
	return reply{status, fmt.Appendf(nil, `{"error":{"root_cause":[{%s}],%s},"status":%d}`, one, one, status)}
}

func notFound(called string) reply {
	return refusal(404, "index_not_found_exception", "no such index ["+called+"]")
}

// reach is a client of the target, as the process has it.
func (w *migration) reach(ctx context.Context, p *process) (*cluster.Client, error) {
	return cluster.Open(ctx, cluster.Options{Transport: wire{p, w}, Place: "the target"})
}

// wire is the way of a process to the target.
type wire struct {
	process *process
	of      *migration
}

// RoundTrip is http.RoundTripper's.
func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close() // what was read is all of it
	}
	if r.Header.Get("Content-Encoding") == "gzip" {
		packed, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		if body, err = io.ReadAll(packed); err != nil {
			return nil, err
		}
	}
	path := strings.Trim(r.URL.Path, "/")
	verb := r.Method
	if strings.HasSuffix(path, "_bulk") {
		verb += " _bulk"
	}
	t := w.of.target
	answer, err := w.process.ask(r.Context(), &call{to: "target", verb: verb, text: fmt.Sprintf("%s %08x", path, crc32.ChecksumIEEE(body)),
		do: func() any {
			if verb == bulkRequest {
				w.of.limits.sent(bytes.Count(body, []byte{'\n'}) / 2)
			}
			return t.answer(r, strings.Split(path, "/"), body)
		}})
	if err != nil {
		return nil, err
	}
	told := answer.(reply)
	return &http.Response{StatusCode: told.status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(told.body)),
		ContentLength: int64(len(told.body)), Request: r}, nil
}

// answer carries out a request. What it does not know it has not got, or takes.
func (t *target) answer(r *http.Request, path []string, body []byte) any {
	method, last := r.Method, path[len(path)-1]
	switch {
	case path[0] == "":
		return reply{200, []byte(`{"cluster_name":"simulated","cluster_uuid":"c","version":{"distribution":"opensearch","number":"2.19.0"},"tagline":"The OpenSearch Project: https://opensearch.org/"}`)}
	case path[0] == "_nodes":
		return reply{200, fmt.Appendf(nil, `{"nodes":{"n":{"http":{"max_content_length_in_bytes":%d}}}}`, t.world.script.Bulk)}
	case last == "_bulk":
		return t.bulk(body)
	case last == "point_in_time" && method == http.MethodPost:
		return t.open(path[0])
	case last == "_search":
		return t.search(body)
	case last == "_mget":
		return t.several(body)
	case path[0] == "_aliases":
		return t.changeAliases(body)
	case path[0] == "_alias" && method == http.MethodGet:
		return t.aliasNamed(last)
	case strings.HasPrefix(path[0], "_"):
		if method == http.MethodGet || method == http.MethodHead {
			return notFound(path[0])
		}
		return reply{200, []byte(`{"acknowledged":true}`)}
	}
	return t.answerOf(method, path, body)
}

// answerOf carries out a request about an index.
func (t *target) answerOf(method string, path []string, body []byte) any {
	called := path[0]
	if method == http.MethodPut && len(path) == 1 {
		if t.indices[called] != nil {
			return refusal(400, "resource_already_exists_exception", "index ["+called+"] already exists")
		}
		t.make(called, body)
		return reply{200, []byte(`{"acknowledged":true}`)}
	}
	named := t.named(called)
	if len(named) == 0 {
		return notFound(called)
	}
	one := t.indices[named[0]]
	switch {
	case method == http.MethodDelete && len(path) == 1:
		delete(t.indices, called)
	case len(path) > 1 && path[1] == "_count":
		return reply{200, fmt.Appendf(nil, `{"count":%d,"_shards":{"total":1,"failed":0}}`, len(one.shown()))}
	case method == http.MethodGet:
		all := map[string]any{}
		for _, n := range named {
			aliases := map[string]any{}
			for alias := range t.indices[n].aliases {
				aliases[alias] = map[string]any{"is_hidden": true}
			}
			all[n] = map[string]any{"aliases": aliases, "mappings": t.indices[n].mappings(), "settings": t.indices[n].settings()}
		}
		out, _ := json.Marshal(all) // strings
		return reply{200, out}
	}
	return reply{200, []byte(`{"acknowledged":true,"_shards":{"total":1,"failed":0}}`)}
}

func (i *index) settings() map[string]any {
	return map[string]any{"index.uuid": i.uuid, "index.number_of_shards": "1"}
}

// mappings are those that the index was made with; nothing that a simulation does changes them.
func (i *index) mappings() json.RawMessage {
	var made struct{ Mappings json.RawMessage }
	if json.Unmarshal(i.body, &made) != nil || made.Mappings == nil {
		return json.RawMessage("{}")
	}
	return made.Mappings
}
