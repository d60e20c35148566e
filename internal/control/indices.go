package control

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/store/placement"
)

// IndexListing are the indices of a store.
type IndexListing struct {
	At      string         `json:"at"`
	Indices []IndexSummary `json:"indices"`
}

// IndexSummary is one index, as its store tells it.
type IndexSummary struct {
	Index     string `json:"index"`
	UUID      string `json:"uuid"`
	State     string `json:"state"`  // open, close
	Health    string `json:"health"` // green, yellow, red
	Shards    int    `json:"shards"`
	Documents int64  `json:"documents"` // that searches see
	Deleted   int64  `json:"deleted"`   // deleted, and still kept
	Bytes     int64  `json:"bytes"`
}

// ListIndices lists the indices that a pattern names, all when it is "".
func (c *Control) ListIndices(ctx context.Context, at, pattern string) (*IndexListing, error) {
	listing := &IndexListing{At: at, Indices: []IndexSummary{}}
	err := c.ask(ctx, at, func(client *cluster.Client) error {
		path := []string{"_cat", "indices"}
		if pattern != "" {
			path = append(path, pattern)
		}
		params := url.Values{
			"format": {"json"}, "bytes": {"b"}, "s": {"index"}, "expand_wildcards": {"all"},
			"h": {"index,uuid,status,health,pri,docs.count,docs.deleted,store.size"},
		}
		answer, err := client.Do(ctx, http.MethodGet, path, params, nil)
		if err != nil {
			return err
		}
		var rows []map[string]string
		if err := json.Unmarshal(answer, &rows); err != nil {
			return fault.New(fault.Unavailable, "the list of indices is not what a store answers: %w", err)
		}
		for _, row := range rows {
			listing.Indices = append(listing.Indices, summary(row))
		}
		return nil
	})
	return listing, err
}

// summary reads a row of _cat/indices; a closed index has no counts.
func summary(row map[string]string) IndexSummary {
	number := func(column string) int64 {
		n, _ := strconv.ParseInt(row[column], 10, 64)
		return n
	}
	return IndexSummary{
		Index: row["index"], UUID: row["uuid"], State: row["status"], Health: row["health"], Shards: int(number("pri")),
		Documents: number("docs.count"), Deleted: number("docs.deleted"), Bytes: number("store.size"),
	}
}

// CreateIndexRequest asks for a new index.
type CreateIndexRequest struct {
	At     string
	Index  string
	Shards int    // 0: as templates say, else 1
	Body   []byte // settings, mappings and aliases, as the HTTP API takes them; nil: none
}

// CreatedIndex answers it.
type CreatedIndex struct {
	Index string `json:"index"`
}

// CreateIndex makes an index.
func (c *Control) CreateIndex(ctx context.Context, req CreateIndexRequest) (*CreatedIndex, error) {
	if req.Shards < 0 || req.Shards > placement.Most {
		err := fault.New(fault.Usage, "an index of %d shards cannot be", req.Shards)
		return nil, fault.WithNext(err, "name 1 to %d: reshelve split makes more of them later, while it answers", placement.Most)
	}
	body, err := req.body()
	if err != nil {
		return nil, err
	}
	return &CreatedIndex{Index: req.Index}, c.ask(ctx, req.At, func(client *cluster.Client) error {
		_, err := client.Do(ctx, http.MethodPut, []string{req.Index}, nil, body)
		if err != nil && fault.Next(err) == "" {
			err = fault.WithNext(err, "mend what is named, the name or the body, and create it again; %s lists those that are there", Command("index", "ls", "--at", req.At))
		}
		return err
	})
}

// body is the request's body with the number of shards put in.
func (r CreateIndexRequest) body() ([]byte, error) {
	body := map[string]json.RawMessage{}
	if len(r.Body) > 0 {
		if err := json.Unmarshal(r.Body, &body); err != nil {
			return nil, fault.At(fault.New(fault.Usage, "%w", err), "the body of the index")
		}
	}
	if r.Shards == 0 {
		return json.Marshal(body)
	}
	settings := map[string]json.RawMessage{}
	if raw := body["settings"]; raw != nil {
		if err := json.Unmarshal(raw, &settings); err != nil {
			return nil, fault.At(fault.New(fault.Usage, "%w", err), "the settings of the index")
		}
	}
	if err := setShards(settings, r.Shards); err != nil {
		return nil, err
	}
	var err error
	if body["settings"], err = json.Marshal(settings); err != nil {
		return nil, err
	}
	return json.Marshal(body)
}

// setShards puts a number of shards in the place of the one that settings hold, in
// whichever of the forms that the HTTP API takes: a store chooses one of two itself.
func setShards(settings map[string]json.RawMessage, shards int) error {
	const name = "number_of_shards"
	var nested map[string]json.RawMessage
	if json.Unmarshal(settings["index"], &nested) == nil && nested[name] != nil {
		delete(nested, name)
		rest, err := json.Marshal(nested)
		if err != nil {
			return err
		}
		settings["index"] = rest
	}
	delete(settings, name)
	settings["index."+name] = json.RawMessage(strconv.Itoa(shards))
	return nil
}

// DeleteIndex removes an index and all of its documents. A pattern is refused:
// what is lost is named.
func (c *Control) DeleteIndex(ctx context.Context, at, index string) error {
	if strings.ContainsAny(index, "*,") || index == "_all" || strings.HasPrefix(index, "-") {
		err := fault.New(fault.Usage, "%q may mean several indices", index)
		return fault.WithNext(err, "delete them one by one, by name")
	}
	return c.ask(ctx, at, func(client *cluster.Client) error {
		_, err := client.Do(ctx, http.MethodDelete, []string{index}, nil, nil)
		return err
	})
}

// IndexStats counts what happened in the indices of a store.
type IndexStats struct {
	At      string       `json:"at"`
	Indices []IndexCount `json:"indices"`
}

// IndexCount is one index. Operations count since its server was started.
type IndexCount struct {
	Index     string `json:"index"`
	UUID      string `json:"uuid"`
	Documents int64  `json:"documents"`
	Deleted   int64  `json:"deleted"`
	Bytes     int64  `json:"bytes"`
	Indexed   int64  `json:"indexed"`
	Deletes   int64  `json:"deletes"`
	Gets      int64  `json:"gets"`
	Refreshes int64  `json:"refreshes"`
}

// StatIndices tells the counts of the indices that a pattern names, all when it is "".
func (c *Control) StatIndices(ctx context.Context, at, pattern string) (*IndexStats, error) {
	stats := &IndexStats{At: at, Indices: []IndexCount{}}
	err := c.ask(ctx, at, func(client *cluster.Client) error {
		path := []string{"_stats"}
		if pattern != "" {
			path = []string{pattern, "_stats"}
		}
		answer, err := client.Do(ctx, http.MethodGet, path, nil, nil)
		if err != nil {
			return err
		}
		stats.Indices, err = counts(answer)
		return err
	})
	return stats, err
}

// ask lets use talk to the store that at names.
func (c *Control) ask(ctx context.Context, at string, use func(*cluster.Client) error) error {
	t, err := c.target(ctx, cmp.Or(at, DefaultAt), false, 0, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	err = use(t.Client)
	if left := t.leave(); err == nil {
		err = left
	}
	return err
}
