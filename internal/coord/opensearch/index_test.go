package opensearch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/opensearch"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// TestTheIndex looks at what the contract does not tell: what lies in the index, and what is said when
// somebody else changes it.
func TestTheIndex(t *testing.T) { theIndex(t, serve(t)) }

func theIndex(t *testing.T, address string) {
	c := client(t, address)
	for name, test := range map[string]func(*testing.T, *cluster.Client, *opensearch.Store){
		"records can be read and found":            recordsCanBeRead,
		"any value comes back":                     anyValueComesBack,
		"deletions are forgotten and said to be":   deletionsAreForgotten,
		"a document of somebody else":              somebodyElse,
		"a block":                                  aBlock,
		"an index that is gone, and one made anew": gone,
	} {
		t.Run(name, func(t *testing.T) {
			s := cases(c).Open(t).(*opensearch.Store)
			t.Cleanup(func() { _ = s.Close() })
			test(t, c, s)
		})
	}
	t.Run("an index of another kind", func(t *testing.T) { anotherKind(t, c) })
}

// do asks the server beside the store.
func do(t *testing.T, c *cluster.Client, method, path, body string, params ...string) string {
	t.Helper()
	query := url.Values{}
	for i := 0; i < len(params); i += 2 {
		query.Set(params[i], params[i+1])
	}
	var text []byte
	if body != "" {
		text = []byte(body)
	}
	answer, err := c.Do(t.Context(), method, strings.Split(path, "/"), query, text)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

func create(t *testing.T, s coord.Store, key, value string) int64 {
	t.Helper()
	revision, err := s.Create(t.Context(), key, []byte(value))
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

// recordsCanBeRead: a work item's fields stand in _source and can be searched for.
func recordsCanBeRead(t *testing.T, c *cluster.Client, s *opensearch.Store) {
	item := `{"creatorId":"worker-1","leaseHolderId":"worker-3","expiration":"2026-05-04T12:00:00.123456789Z","nextAcquisitionLeaseExponent":2,` +
		`"successorWorkItems":["logs__0__7"],"completedAt":"2026-05-04T12:10:00Z","index":"logs","shard":0,"cursor":7,"counts":{"read":7}}`
	create(t, s, "movement/1/item/logs__0__0", item)
	create(t, s, "movement/1/item/logs__1__0", `{"creatorId":"worker-1","index":"logs","shard":1}`)
	var told struct {
		Hits struct {
			Hits []struct {
				ID     string                     `json:"_id"`
				Source map[string]json.RawMessage `json:"_source"`
			} `json:"hits"`
		} `json:"hits"`
	}
	do(t, c, "POST", opensearch.IndexOf(s)+"/_refresh", "")
	found := do(t, c, "POST", opensearch.IndexOf(s)+"/_search", `{"query":{"bool":{"filter":[{"term":{"leaseHolderId":"worker-3"}},`+
		`{"range":{"expiration":{"lte":"2026-05-04T12:00:01Z"}}},{"term":{"successorWorkItems":"logs__0__7"}},{"term":{"shard":0}}]}}}`)
	if err := json.Unmarshal([]byte(found), &told); err != nil || len(told.Hits.Hits) != 1 {
		t.Fatalf("found %s, %v", found, err)
	}
	hit := told.Hits.Hits[0]
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(item), &fields); err != nil {
		t.Fatal(err)
	}
	for name, value := range fields {
		if string(hit.Source[name]) != string(value) {
			t.Errorf("%s is %s, want %s", name, hit.Source[name], value)
		}
	}
	if hit.ID != "movement/1/item/logs__0__0" || len(hit.Source) != len(fields)+1 {
		t.Errorf("found %s", found)
	}
	mapping := do(t, c, "GET", opensearch.IndexOf(s)+"/_mapping", "")
	if strings.Contains(mapping, "counts") {
		t.Errorf("a value has made the mapping grow: %s", mapping)
	}
}

// anyValueComesBack: also what the server does not take for a document.
func anyValueComesBack(t *testing.T, _ *cluster.Client, s *opensearch.Store) {
	for i, value := range []string{
		`{}`, `{ }`, `[]`, `"text"`, `null`, ` {}`, "{}\n", "\x00\xff", "{", `{"a":1,"a":2}`, "{\n\t\"b\" : 1.0e+2 ,\r\n\"c\":\"\\u0041\\/<>&\u2028\"}",
		`{"index":{"settings":{"number_of_shards":"1"}}}`, `{"shard":"seven","cursor":1e99}`, `{"expiration":"soon"}`, `{"state":["a",{"b":1}]}`,
		`{"_id":"other"}`, `{"":1}`, `{"a.b":1,".":2,"..":3}`, `{"reshelve":{"key":"other"}}`, `{"n":123456789012345678901234567890.12345}`,
		`{"a":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`, `{"` + strings.Repeat("n", 70000) + `":1}`, `{"creatorId":"` + strings.Repeat("w", 40000) + `"}`,
	} {
		key := fmt.Sprint("value/", i)
		revision := create(t, s, key, value)
		record, err := s.Get(t.Context(), key)
		if err != nil || string(record.Value) != value || record.Revision != revision {
			t.Errorf("%.60q came back as %.60q at %d, %v", value, record.Value, record.Revision, err)
		}
		if listed, err := s.List(t.Context(), key); err != nil || len(listed) == 0 || string(listed[0].Value) != value {
			t.Errorf("%.60q is listed as %.60v, %v", value, listed, err)
		}
	}
}

func deletionsAreForgotten(t *testing.T, c *cluster.Client, first *opensearch.Store) {
	s, err := opensearch.Open(t.Context(), c, opensearch.Options{Index: opensearch.IndexOf(first), Poll: poll, Remember: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	kept := create(t, s, "kept", "v")
	gone := create(t, s, "gone", "v")
	again := create(t, s, "again", "v")
	for key, revision := range map[string]int64{"gone": gone, "again": again} {
		if err := s.Delete(t.Context(), key, revision); err != nil {
			t.Fatal(err)
		}
	}
	again = create(t, s, "again", "w")
	do(t, c, "POST", opensearch.IndexOf(s)+"/_refresh", "")
	for range 100 { // until the tombstone is older than a millisecond
		if err := opensearch.Prune(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(do(t, c, "POST", opensearch.IndexOf(s)+"/_mget", `{"ids":["gone"]}`), `"found":true`) {
			break
		}
	}
	if answer := do(t, c, "POST", opensearch.IndexOf(s)+"/_mget", `{"ids":["gone"]}`); strings.Contains(answer, `"found":true`) {
		t.Errorf("the tombstone is still there: %s", answer)
	}
	for _, err := range s.Watch(t.Context(), "", kept) {
		if !fault.Is(err, fault.Stale) || fault.Next(err) == "" {
			t.Errorf("a watch from before: %v", err)
		}
		break
	}
	at, err := s.Revision(t.Context())
	if err != nil || at <= again {
		t.Fatalf("the store is at %d after %d, %v", at, again, err)
	}
	anew := create(t, s, "gone", "x")
	if anew <= at {
		t.Errorf("it was made at %d after %d", anew, at)
	}
	for event, err := range s.Watch(t.Context(), "", at) {
		if err != nil || event.Revision != anew {
			t.Errorf("a watch from behind: %v, %v", event, err)
		}
		break
	}
	if listed, err := s.List(t.Context(), ""); err != nil || len(listed) != 3 || listed[2].Revision != kept {
		t.Errorf("there are %v, %v", listed, err)
	}
}

// somebodyElse: what the store did not write is damage, and a change by hand that keeps the form is one.
func somebodyElse(t *testing.T, c *cluster.Client, s *opensearch.Store) {
	revision := create(t, s, "item", `{"leaseHolderId": "worker-1"}`)
	do(t, c, "POST", opensearch.IndexOf(s)+"/_update/item", `{"doc":{"leaseHolderId":"worker-2"}}`)
	record, err := s.Get(t.Context(), "item")
	if err != nil || record.Revision <= revision || string(record.Value) != `{"leaseHolderId":"worker-2"}` {
		t.Errorf("updated by hand: %s at %d, %v", record.Value, record.Revision, err)
	}
	if _, err := s.Swap(t.Context(), "item", revision, nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("a swap of what it was: %v", err)
	}
	do(t, c, "PUT", opensearch.IndexOf(s)+"/_doc/item", `{"leaseHolderId":"worker-3"}`)
	if _, err := s.Get(t.Context(), "item"); !fault.Is(err, fault.Corrupt) || fault.Next(err) == "" {
		t.Errorf("written by hand: %v", err)
	}
}

func aBlock(t *testing.T, c *cluster.Client, s *opensearch.Store) {
	revision := create(t, s, "a", "v")
	do(t, c, "PUT", opensearch.IndexOf(s)+"/_settings", `{"index.blocks.write":true}`)
	_, err := s.Swap(t.Context(), "a", revision, []byte("w"))
	if !fault.Is(err, fault.Unavailable) || fault.Next(err) == "" || !strings.Contains(err.Error(), "blocked") {
		t.Errorf("blocked: %v (%v), next: %s", err, fault.KindOf(err), fault.Next(err))
	}
	if _, err := s.Get(t.Context(), "a"); err != nil {
		t.Errorf("blocked, and read: %v", err)
	}
	do(t, c, "PUT", opensearch.IndexOf(s)+"/_settings", `{"index.blocks.write":false}`)
	if _, err := s.Swap(t.Context(), "a", revision, []byte("w")); err != nil {
		t.Error(err)
	}
}

// gone: never "no record", and not a store that begins again as if nothing had been.
func gone(t *testing.T, c *cluster.Client, s *opensearch.Store) {
	for range 3 {
		create(t, s, fmt.Sprint(time.Now().UnixNano()), "v")
	}
	at, err := s.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	do(t, c, "DELETE", opensearch.IndexOf(s), "")
	if _, err := s.Get(t.Context(), "a"); !fault.Is(err, fault.Unavailable) || fault.Next(err) == "" {
		t.Errorf("deleted, and read: %v", err)
	}
	if _, err := s.List(t.Context(), ""); !fault.Is(err, fault.Unavailable) {
		t.Errorf("deleted, and listed: %v", err)
	}
	if _, err := s.Create(t.Context(), "a", nil); !fault.Is(err, fault.Corrupt) { // the server makes the index anew
		t.Errorf("deleted, and written: %v", err)
	}
	for _, err := range s.Watch(t.Context(), "", at) {
		if !fault.Is(err, fault.Corrupt) || fault.Next(err) == "" {
			t.Errorf("made anew, and watched: %v", err)
		}
		break
	}
}

func anotherKind(t *testing.T, c *cluster.Client) {
	for name, body := range map[string]string{
		"no format":      `{"settings":{"number_of_shards":1}}`,
		"another format": `{"mappings":{"_meta":{"reshelve":{"format":2}}}}`,
		"two shards":     `{"settings":{"number_of_shards":2},"mappings":{"_meta":{"reshelve":{"format":1}}}}`,
	} {
		index := fmt.Sprintf("coordtest-%d-%d", time.Now().UnixNano(), names.Add(1))
		do(t, c, "PUT", index, body)
		t.Cleanup(func() { _, _ = c.Do(context.Background(), "DELETE", []string{index}, nil, nil) })
		s, err := opensearch.Open(t.Context(), c, opensearch.Options{Index: index})
		if err == nil {
			_ = s.Close()
		}
		if !fault.Is(err, fault.Refused) || fault.Next(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
