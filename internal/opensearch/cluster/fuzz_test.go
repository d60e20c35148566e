package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/reshelve/reshelve/internal/fault"
)

// FuzzBulkAnswer: an answer is read or refused, and what is said to be applied is
// so by encoding/json's reading too.
func FuzzBulkAnswer(f *testing.F) {
	f.Add([]byte(`{"took":3,"errors":false,"items":[{"index":{"status":201}},{"index":{"status":200}}]}`), 2)
	f.Add([]byte(`{"errors":true,"items":[{"index":{"_id":"a","status":400,"error":{"type":"t","reason":"r","caused_by":{"type":"c","reason":"d"}}}}]}`), 1)
	f.Add([]byte(`{"errors":false,"items":[{"delete":{"_id":"\"status\":201","status":404}}]}`), 1)
	f.Add([]byte(`{"errors":false,"items":[{"index":{"status":201}}`), 1)
	f.Fuzz(func(t *testing.T, body []byte, n int) {
		seen := 0
		err := readBulk(body, n, func(i int, a *itemAnswer) error {
			if i != seen || a.Status == 0 {
				t.Fatalf("item %d of status %d comes as number %d", i, a.Status, seen)
			}
			seen++
			return nil
		})
		if err != nil || n < 0 {
			return
		}
		if seen != 0 && seen != n {
			t.Fatalf("%d of %d items", seen, n)
		}
		var answer struct{ Items []map[string]itemAnswer }
		if seen > 0 || !gjson.ValidBytes(body) || json.Unmarshal(body, &answer) != nil {
			return
		}
		for _, item := range answer.Items { // servers make no items without a status
			for _, a := range item {
				if a.Status != 0 && a.Status/2 != 100 && a.Status < 2000 {
					t.Fatalf("an item of status %d is taken as applied", a.Status)
				}
			}
		}
	})
}

// FuzzBatch: whatever is added, a batch has as many lines as its operations need,
// and reads back as what it was.
func FuzzBatch(f *testing.F) {
	f.Add([]byte("id"), []byte("r"), []byte("{\n\"a\":1}"), int64(3), byte(0))
	f.Add([]byte("\"\\\n\x00"), []byte(""), []byte("{}\r\n"), int64(-1), byte(2))
	f.Add([]byte("\xff"), []byte(""), []byte("[]"), int64(0), byte(1))
	f.Fuzz(func(t *testing.T, id, routing, source []byte, version int64, action byte) {
		op := Op{Action: Action(action % 3), Index: "a", ID: id, Routing: routing, Version: max(version, -1), Source: source}
		var b Batch
		if err := b.Add(op); err != nil {
			if b.Len() != 0 || b.Bytes() != 0 || !fault.Is(err, fault.Refused) {
				t.Fatalf("%v, and %d bytes stay", err, b.Bytes())
			}
			return
		}
		lines := 2
		if op.Action == Delete {
			lines = 1
		}
		if got := bytes.Count(b.body, []byte("\n")); got != lines {
			t.Fatalf("%d lines: %q", got, b.body)
		}
		back := b.op(0)
		if back.Action != op.Action || !bytes.Equal(back.ID, id) || !bytes.Equal(back.Routing, routing) || back.Version != op.Version {
			t.Fatalf("%+v is %+v", op, back)
		}
		if _, source := cutLine(b.body); lines == 2 {
			back.Source = bytes.TrimSuffix(source, []byte("\n"))
		}
		var again Batch
		if err := again.Add(back); err != nil || !bytes.Equal(again.body, b.body) {
			t.Fatalf("%v: %q", err, again.body)
		}
	})
}

// FuzzPage: an answer to a search is read or refused; it never ends a scan by
// being wrong.
func FuzzPage(f *testing.F) {
	f.Add([]byte(`{"pit_id":"p","_shards":{"failed":0},"hits":{"hits":[{"_id":"a","_routing":"r","_version":1,"_source":{"a":1},"sort":[1]}]}}`))
	f.Add([]byte(`{"hits":{"total":{"value":1},"hits":[]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		asked := 0
		c := Via(answering(func() []byte {
			if asked++; asked > 1 {
				return []byte(`{"hits":{"hits":[]}}`)
			}
			return body
		}), "x")
		c.server.Store(&Server{Product: OpenSearch, Version: Version{2, 19, 0}})
		s := (&Scan{client: c, o: ScanOptions{PageBytes: 1 << 20}, order: "_doc", state: ScanState{Index: "a", Point: "p", Slices: 1}}).Slice(0, "")
		for {
			doc, err := s.Next(context.Background())
			if err != nil {
				if err != io.EOF && fault.KindOf(err) == fault.Bug {
					t.Fatalf("%v", err)
				}
				return
			}
			if doc.Source != nil && !json.Valid(doc.Source) && bytes.Equal(bytes.ToValidUTF8(doc.Source, nil), doc.Source) {
				t.Fatalf("a source that is no JSON: %q", doc.Source)
			}
		}
	})
}

type answering func() []byte

// RoundTrip answers.
func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(a())), Request: r}, nil
}
