package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/coord/remote"
)

// null is a target that takes everything and keeps nothing but the records of movements.
type null struct {
	documents, bytes atomic.Int64
	first            chan time.Time // of the first document
	copied           chan time.Time // when the migration refreshes: everything was sent
	once, done       sync.Once
	indices          sync.Map // of made, by name
}

// made is an index as it was asked for, and as it is shown.
type made struct {
	Aliases  json.RawMessage   `json:"aliases,omitempty"`
	Mappings json.RawMessage   `json:"mappings,omitempty"`
	Settings map[string]string `json:"settings"`
}

// serve answers on a port of the machine, until stop is called.
func (n *null) serve() (url string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	n.first, n.copied = make(chan time.Time, 1), make(chan time.Time, 1)
	records := remote.NewHandler(memory.New())
	mux := http.NewServeMux()
	mux.Handle(remote.Root, records)
	mux.Handle(remote.Root+"/", records)
	mux.HandleFunc("/", n.answer)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	return "http://" + listener.Addr().String(), func() {
		records.End()
		_ = server.Close()
	}, nil
}

func (n *null) answer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	path := strings.Trim(r.URL.Path, "/")
	index, verb, _ := strings.Cut(path, "/")
	switch shown, there := n.indices.Load(index); {
	case path == "":
		fmt.Fprint(w, `{"name":"null","cluster_name":"null","cluster_uuid":"null","version":{"distribution":"opensearch","number":"2.19.0","build_type":"reshelve"}}`)
	case path == "_bulk" && r.URL.Query().Has("require_alias"): // the plan asks what we may do
		refuse(w, http.StatusNotFound, "index_not_found_exception")
	case path == "_bulk":
		n.bulk(w, r)
	case strings.HasPrefix(path, "_cat/"):
		fmt.Fprint(w, `[]`)
	case strings.HasPrefix(path, "_"):
		fmt.Fprint(w, `{}`)
	case r.Method == http.MethodPut && verb == "":
		n.create(w, r, index)
	case !there:
		refuse(w, http.StatusNotFound, "index_not_found_exception")
	case verb == "_refresh" && n.documents.Load() > 0:
		n.done.Do(func() { n.copied <- time.Now() })
		fmt.Fprint(w, `{}`)
	case verb == "_settings":
		fmt.Fprintf(w, `{%q:{"settings":{"index.uuid":"null"}}}`, index)
	case verb == "" && r.Method == http.MethodGet: // whose it is, and by which alias it is written to
		_ = json.NewEncoder(w).Encode(map[string]any{index: shown}) // an error is the client's, which is gone
	case verb == "_count":
		fmt.Fprint(w, `{"count":0}`)
	default:
		fmt.Fprint(w, `{}`)
	}
}

func refuse(w http.ResponseWriter, status int, why string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"type":%q,"reason":"","root_cause":[]},"status":%d}`, why, status)
}

// create makes an index, but none of no shards, by which the plan asks whether we may.
func (n *null) create(w http.ResponseWriter, r *http.Request, index string) {
	body, err := io.ReadAll(r.Body)
	if err != nil || bytes.Contains(body, []byte(`"index.number_of_shards":0`)) {
		refuse(w, http.StatusBadRequest, "illegal_argument_exception")
		return
	}
	var as struct{ Aliases, Mappings json.RawMessage }
	if err := json.Unmarshal(body, &as); err != nil {
		refuse(w, http.StatusBadRequest, "parse_exception")
		return
	}
	n.indices.Store(index, made{as.Aliases, as.Mappings, map[string]string{"index.uuid": "null"}})
	fmt.Fprintf(w, `{"acknowledged":true,"shards_acknowledged":true,"index":%q}`, index)
}

// bulk counts the lines, and says of each operation that it was applied.
func (n *null) bulk(w http.ResponseWriter, r *http.Request) {
	n.once.Do(func() { n.first <- time.Now() })
	chunk, lines := make([]byte, 256<<10), 0
	for {
		read, err := r.Body.Read(chunk)
		lines += bytes.Count(chunk[:read], []byte{'\n'})
		n.bytes.Add(int64(read))
		if err == io.EOF {
			break
		}
		if err != nil {
			return
		}
	}
	n.documents.Add(int64(lines / 2))
	answer := bytes.Repeat([]byte(`{"index":{"status":201}},`), lines/2)
	_, _ = io.WriteString(w, `{"errors":false,"items":[`)
	_, _ = w.Write(bytes.TrimSuffix(answer, []byte{','}))
	_, _ = io.WriteString(w, `]}`)
}
