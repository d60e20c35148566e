package gateway

import (
	"net/http"
	"runtime"
	"time"

	"github.com/reshelve/reshelve/internal/store/catalog"
)

// clusterStats describes what there is, in the parts that clients read.
func (c *call) clusterStats() error {
	found, err := c.s.store.Status(c.ctx(), catalog.Expression{Options: allOfThem})
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, object{
		{"_nodes", shardCounts(1, 1)}, {"cluster_name", c.s.options.Cluster}, {"cluster_uuid", c.s.store.Catalog().Cluster},
		{"timestamp", time.Now().UnixMilli()}, {"status", healthOf(found).colour().String()},
		{"indices", append(object{{"count", len(found)}, {"shards", shardSpread(found)}},
			statsJSON(totalOf(found), []string{"docs", "store", "fielddata", "query_cache", "completion", "segments"}, false)...)},
		{"nodes", c.clusterNodes()},
	})
}

// shardSpread tells how many shards the indices have.
func shardSpread(found []catalog.Status) object {
	if len(found) == 0 {
		return object{}
	}
	least, most, all := shardCount(found[0]), 0, 0
	for _, s := range found {
		n := shardCount(s)
		least, most, all = min(least, n), max(most, n), all+n
	}
	spread := object{{"min", least}, {"max", most}, {"avg", float64(all) / float64(len(found))}}
	return object{
		{"total", all}, {"primaries", all}, {"replication", 0.0},
		{"index", object{{"shards", spread}, {"primaries", spread}, {"replication", object{{"min", 0.0}, {"max", 0.0}, {"avg", 0.0}}}}},
	}
}

func (c *call) clusterNodes() object {
	count := object{{"total", 1}, {"cluster_manager", 1}, {"coordinating_only", 0}}
	for _, role := range []string{"data", "ingest", "master", "remote_cluster_client"} {
		count.add(role, 1)
	}
	count.add("search", 0)
	return object{
		{"count", count}, {"versions", []string{c.s.version()}},
		{"os", object{{"available_processors", runtime.NumCPU()}, {"allocated_processors", runtime.GOMAXPROCS(0)},
			{"names", array{object{{"name", runtime.GOOS}, {"count", 1}}}}}},
		{"discovery_types", object{{"single-node", 1}}}, {"plugins", array{}},
		{"packaging_types", array{object{{"type", "unknown"}, {"count", 1}}}}, // what the server says of one that was not packed
		{"network_types", object{{"transport_types", object{}}, {"http_types", object{{"reshelve", 1}}}}},
	}
}
