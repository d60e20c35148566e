package cluster

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
)

// IndexStats is how large an index is.
type IndexStats struct {
	Index     string
	UUID      string // another one: somebody has deleted the index and made it again
	Health    string // green, yellow, red
	Open      bool
	Shards    int
	Replicas  int
	Documents int64 // that searches see, nested ones counted
	Deleted   int64 // deleted, and still on disk
	Bytes     int64 // on disk, replicas counted
	Primary   int64 // bytes of the primaries alone
}

// Stats are those of the indices that a pattern names; of a closed one only the
// names are known. A pattern without a wildcard that names none is fault.NotFound.
func (c *Client) Stats(ctx context.Context, pattern string) ([]IndexStats, error) {
	var rows []map[string]string
	params := url.Values{"format": {"json"}, "bytes": {"b"}, "s": {"index"}, "expand_wildcards": {"all"},
		"h": {"index,uuid,health,status,pri,rep,docs.count,docs.deleted,store.size,pri.store.size"}}
	if err := c.get(ctx, []string{"_cat", "indices", pattern}, params, false, &rows); err != nil {
		return nil, err
	}
	out := make([]IndexStats, 0, len(rows))
	for _, r := range rows {
		out = append(out, IndexStats{
			Index: r["index"], UUID: r["uuid"], Health: r["health"], Open: r["status"] == "open", Shards: int(number(r["pri"])), Replicas: int(number(r["rep"])),
			Documents: number(r["docs.count"]), Deleted: number(r["docs.deleted"]), Bytes: number(r["store.size"]), Primary: number(r["pri.store.size"]),
		})
	}
	return out, nil
}

// number reads a cell of a table; an empty one is 0.
func number(cell string) int64 {
	n, _ := strconv.ParseInt(cell, 10, 64)
	return n
}

// NodeDisk is the disk of a node that holds data.
type NodeDisk struct {
	Node             string
	Total, Available int64 // bytes
}

// Disk is what a cluster's disks allow.
type Disk struct {
	Nodes []NodeDisk // none where the service does not tell
	// How much of a disk may be used before no shards come to it, shards leave it,
	// and its indices become read-only: each of its total in bytes. 0: no limit.
	Low, High, Flood func(total int64) int64 `json:"-"`
	Watched          bool                    // whether the cluster looks at all
}

// Free is what can be written before the first node is full to its flood stage
// if it gets all, and before all are.
func (d *Disk) Free() (first, all int64) {
	for i, n := range d.Nodes {
		free := n.Available
		if d.Watched {
			free = d.Flood(n.Total) - (n.Total - n.Available)
		}
		free = max(0, free)
		if i == 0 || free < first {
			first = free
		}
		all += free
	}
	return first, all
}

// Disk asks for the disks and the watermarks. A service or a store that does not
// tell its disks has none.
func (c *Client) Disk(ctx context.Context) (*Disk, error) {
	var rows []map[string]string
	err := c.get(ctx, []string{"_cat", "allocation"}, url.Values{"format": {"json"}, "bytes": {"b"}}, true, &rows)
	if err != nil && !fault.Is(err, fault.Refused) && !fault.Is(err, fault.Unauthorised) {
		return nil, err
	}
	settings, err := c.ClusterSettings(ctx)
	if err != nil {
		return nil, err
	}
	d := &Disk{Watched: settings["cluster.routing.allocation.disk.threshold_enabled"] != "false"}
	for _, r := range rows {
		if r["node"] != "UNASSIGNED" && r["disk.total"] != "" {
			d.Nodes = append(d.Nodes, NodeDisk{Node: r["node"], Total: number(r["disk.total"]), Available: number(r["disk.avail"])})
		}
	}
	const key = "cluster.routing.allocation.disk.watermark."
	d.Low, d.High, d.Flood = mark(settings[key+"low"], 0.85), mark(settings[key+"high"], 0.90), mark(settings[key+"flood_stage"], 0.95)
	return d, nil
}

// mark reads a watermark: "90%" and "0.9" are a used share, "20gb" is what must stay free.
func mark(text string, otherwise float64) func(int64) int64 {
	share := otherwise
	if percent, ok := strings.CutSuffix(text, "%"); ok {
		if p, err := strconv.ParseFloat(percent, 64); err == nil {
			share = p / 100
		}
	} else if f, err := strconv.ParseFloat(text, 64); err == nil && f <= 1 {
		share = f
	} else if free, ok := readSize(text); ok {
		return func(total int64) int64 { return max(0, total-free) }
	}
	return func(total int64) int64 { return int64(share * float64(total)) }
}

// readSize reads "20gb".
func readSize(text string) (int64, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	for _, unit := range []struct {
		name  string
		shift uint
	}{{"pb", 50}, {"tb", 40}, {"gb", 30}, {"mb", 20}, {"kb", 10}, {"b", 0}} {
		if digits, ok := strings.CutSuffix(text, unit.name); ok {
			n, err := strconv.ParseFloat(digits, 64)
			return int64(n * float64(int64(1)<<unit.shift)), err == nil
		}
	}
	return 0, false
}

// ClusterSettings are the flat settings of the cluster as they count: transient
// before persistent before defaults. Lists and objects are left out; a service
// that does not tell them has none.
func (c *Client) ClusterSettings(ctx context.Context) (map[string]string, error) {
	var told struct {
		Defaults, Persistent, Transient map[string]any
	}
	err := c.get(ctx, []string{"_cluster", "settings"}, url.Values{"flat_settings": {"true"}, "include_defaults": {"true"}}, true, &told)
	if err != nil && !fault.Is(err, fault.Refused) && !fault.Is(err, fault.Unauthorised) {
		return nil, err
	}
	settings := map[string]string{}
	for _, from := range []map[string]any{told.Defaults, told.Persistent, told.Transient} {
		for key, value := range from {
			if text, ok := value.(string); ok {
				settings[key] = text
			}
		}
	}
	return settings, nil
}

// Health is "green", "yellow" or "red": of one index, or of the cluster for "".
func (c *Client) Health(ctx context.Context, index string) (string, error) {
	path := []string{"_cluster", "health"}
	if index != "" {
		path = append(path, index)
	}
	var told struct {
		Status string `json:"status"`
	}
	err := c.get(ctx, path, nil, false, &told)
	return told.Status, err
}

// Shards are how many shards are open, and how many may be: cluster.max_shards_per_node
// for each node with data. Most is 0 where it is not told.
func (c *Client) Shards(ctx context.Context) (open, most int, err error) {
	var told struct {
		Active  int `json:"active_shards"`
		Missing int `json:"unassigned_shards"`
		Nodes   int `json:"number_of_data_nodes"`
	}
	if err := c.get(ctx, []string{"_cluster", "health"}, nil, false, &told); err != nil {
		return 0, 0, err
	}
	settings, err := c.ClusterSettings(ctx)
	if err != nil {
		return 0, 0, err
	}
	return told.Active + told.Missing, int(number(settings["cluster.max_shards_per_node"])) * told.Nodes, nil
}
