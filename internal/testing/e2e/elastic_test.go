package e2e

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/elastic/go-elasticsearch/v8"
	"github.com/elastic/go-elasticsearch/v8/esutil"
	"github.com/elastic/go-elasticsearch/v8/typedapi/core/search"
	"github.com/elastic/go-elasticsearch/v8/typedapi/types"
	"github.com/elastic/go-elasticsearch/v8/typedapi/types/enums/sortorder"
)

// helpers are the scripts for clients of Elasticsearch, and their pins.
var helpers, _ = filepath.Abs("testdata/elastic")

// TestElasticsearchClients has Elasticsearch's own clients, which refuse other servers, work with
// the real binary: their helpers for bulks, scans, scrolls and points in time.
func TestElasticsearchClients(t *testing.T) {
	packages := installPackages(t, "elastic-javascript", helpers)
	server, url := serve(t, "--compat", "elasticsearch")
	for _, version := range []string{"7", "8", "9"} {
		t.Run("python-"+version, func(t *testing.T) {
			modules := installPython(t, "elastic-python-"+version, filepath.Join(helpers, "python-"+version+".txt"))
			converse(t, 40, "PYTHONPATH="+modules, "python3", filepath.Join(helpers, "helpers.py"), url)
		})
		t.Run("javascript-"+version, func(t *testing.T) {
			converse(t, 29, "NODE_PATH="+packages, "node", filepath.Join(helpers, "helpers.js"), "elasticsearch-"+version, url)
		})
	}
	t.Run("go-8", func(t *testing.T) { goHelpers(t, url) })
	ends(t, server)
}

// TestElasticsearchClientsAreRefused: without the option the clients say that this is another product.
func TestElasticsearchClientsAreRefused(t *testing.T) {
	_, url := serve(t)
	client, err := elasticsearch.NewClient(elasticsearch.Config{Addresses: []string{url}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Info(); err == nil || !strings.Contains(err.Error(), "not Elasticsearch") {
		t.Errorf("%v; if this is right now, docs/store.md is not", err)
	}
}

// goBooks is how many documents the Go client writes.
const goBooks = 2500

func goHelpers(t *testing.T, url string) {
	config := elasticsearch.Config{Addresses: []string{url}, DiscoverNodesOnStart: true}
	client, err := elasticsearch.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	typed, err := elasticsearch.NewTypedClient(config)
	if err != nil {
		t.Fatal(err)
	}
	const books = "go-8"
	shards := "3"
	created, err := typed.Indices.Create(books).Settings(&types.IndexSettings{NumberOfShards: &shards}).Do(t.Context())
	if err != nil || !created.Acknowledged {
		t.Fatal(created, err)
	}
	bulkByIndexer(t, client, books)
	if _, err := typed.Indices.Refresh().Index(books).Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	counted, err := typed.Count().Index(books).Do(t.Context())
	if err != nil || counted.Count != goBooks {
		t.Errorf("counted: %v, %v", counted, err)
	}
	if got, err := typed.Get(books, "none").Do(t.Context()); err != nil || got.Found {
		t.Errorf("absent: %v, %v", got, err)
	}
	_, err = typed.Create(books, "1").Document(map[string]int{}).Do(t.Context())
	if refused, ok := err.(*types.ElasticsearchError); !ok || refused.Status != http.StatusConflict {
		t.Errorf("a conflict: %v", err)
	}
	pagesOfPoint(t, typed, books)
	pagesOfScroll(t, typed, books)
}

func bulkByIndexer(t *testing.T, client *elasticsearch.Client, index string) {
	t.Helper()
	bulk, err := esutil.NewBulkIndexer(esutil.BulkIndexerConfig{Client: client, Index: index, NumWorkers: 3, FlushBytes: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	var failed atomic.Int32
	add := func(id, body string) {
		item := esutil.BulkIndexerItem{Action: "index", DocumentID: id, Body: strings.NewReader(body),
			OnFailure: func(_ context.Context, _ esutil.BulkIndexerItem, r esutil.BulkIndexerResponseItem, err error) {
				if err == nil && r.Error.Type == "mapper_parsing_exception" {
					failed.Add(1)
				}
			}}
		if err := bulk.Add(t.Context(), item); err != nil {
			t.Fatal(err)
		}
	}
	for i := range goBooks {
		add(fmt.Sprint(i), fmt.Sprintf(`{"year":%d}`, i%7))
	}
	add("bad", `{"year":{"never":1}}`)
	if err := bulk.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := bulk.Stats(); s.NumFlushed != goBooks || s.NumFailed != 1 || failed.Load() != 1 || s.NumRequests < 3 {
		t.Errorf("bulk: %+v", s)
	}
}

// pagesOfPoint reads all documents, by a key that many have in common.
func pagesOfPoint(t *testing.T, client *elasticsearch.TypedClient, index string) {
	t.Helper()
	point, err := client.OpenPointInTime(index).KeepAlive("1m").Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen, id := seen{}, point.Id
	for after := []types.FieldValue(nil); ; {
		size, order := 300, sortorder.Desc
		answer, err := client.Search().Request(&search.Request{Size: &size, Pit: &types.PointInTimeReference{Id: id, KeepAlive: "1m"}, SearchAfter: after,
			Sort: []types.SortCombinations{types.SortOptions{SortOptions: map[string]types.FieldSort{"year": {Order: &order}}}}}).Do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(answer.Hits.Hits) == 0 {
			break
		}
		seen.add(t, answer.Hits.Hits)
		id, after = *answer.PitId, answer.Hits.Hits[len(answer.Hits.Hits)-1].Sort
	}
	seen.whole(t, "a point in time")
	if ended, err := client.ClosePointInTime().Id(id).Do(t.Context()); err != nil || !ended.Succeeded || ended.NumFreed < 1 {
		t.Errorf("the point ends: %v, %v", ended, err)
	}
}

func pagesOfScroll(t *testing.T, client *elasticsearch.TypedClient, index string) {
	t.Helper()
	first, err := client.Search().Index(index).Scroll("1m").Size(300).Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen, hits, id := seen{}, first.Hits.Hits, *first.ScrollId_
	for len(hits) > 0 {
		seen.add(t, hits)
		next, err := client.Scroll().ScrollId(id).Scroll("1m").Do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		hits, id = next.Hits.Hits, *next.ScrollId_
	}
	seen.whole(t, "a scroll")
	if ended, err := client.ClearScroll().ScrollId(id).Do(t.Context()); err != nil || !ended.Succeeded {
		t.Errorf("the scroll ends: %v, %v", ended, err)
	}
}

// seen are the ids of documents.
type seen map[string]bool

func (s seen) add(t *testing.T, hits []types.Hit) {
	t.Helper()
	for _, hit := range hits {
		if s[*hit.Id_] {
			t.Errorf("%s comes twice", *hit.Id_)
		}
		s[*hit.Id_] = true
	}
}

func (s seen) whole(t *testing.T, what string) {
	t.Helper()
	if len(s) != goBooks {
		t.Errorf("%s: %d documents, want %d", what, len(s), goBooks)
	}
}
