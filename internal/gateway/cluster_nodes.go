package gateway

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

const (
	nodesParams      = "flat_settings timeout"
	nodesStatsParams = "timeout completion_fields fielddata_fields fields groups level types include_segment_file_sizes"
)

var nodeRoutes = []route{
	{"GET", "/_nodes", nodesParams, (*call).nodesInfo},
	{"GET", "/_nodes/{node_id}", nodesParams, (*call).nodesInfo},
	{"GET", "/_nodes/{node_id}/{metric}", nodesParams, (*call).nodesInfo},
	{"GET", "/_nodes/stats", nodesStatsParams, (*call).nodesStats},
	{"GET", "/_nodes/stats/{metric}", nodesStatsParams, (*call).nodesStats},
	{"GET", "/_nodes/stats/{metric}/{index_metric}", nodesStatsParams, (*call).nodesStats},
	{"GET", "/_nodes/{node_id}/stats", nodesStatsParams, (*call).nodesStats},
	{"GET", "/_nodes/{node_id}/stats/{metric}", nodesStatsParams, (*call).nodesStats},
	{"GET", "/_nodes/{node_id}/stats/{metric}/{index_metric}", nodesStatsParams, (*call).nodesStats},
}

// roles are those of a node that does everything.
var roles = []string{"cluster_manager", "data", "ingest", "remote_cluster_client"}

// identity is a name of the form of a UUID, the same for the same things.
func identity(things ...any) string {
	sum := sha256.Sum256([]byte(fmt.Sprintln(things...)))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// nodeID is the id of the one node of this store.
func (s *Server) nodeID() string { return identity("node", s.store.Catalog().Cluster) }

// address is where the client has reached the server: what it may be told to come
// back to. host is without the port.
func (c *call) address() (address, host string) {
	local, ok := c.ctx().Value(http.LocalAddrContextKey).(net.Addr)
	if ok {
		if host, _, err := net.SplitHostPort(local.String()); err == nil {
			return local.String(), host
		}
	}
	return "127.0.0.1:0", "127.0.0.1" // a socket in a folder has no address
}

// isMe reports whether a filter of nodes means the one node.
func (c *call) isMe(filter string) bool {
	_, host := c.address()
	for _, name := range []string{"_all", "_local", "_master", "_cluster_manager", c.s.nodeID(), c.s.options.Name, host,
		"data:true", "ingest:true", "master:true", "cluster_manager:true"} {
		if wildcard.Match(filter, name) {
			return true
		}
	}
	return false
}

// nodeMembers is what every answer about the node begins with.
func (c *call) nodeMembers(statistics bool) object {
	address, host := c.address()
	if statistics {
		return object{{"timestamp", time.Now().UnixMilli()}, {"name", c.s.options.Name}, {"transport_address", address}, {"host", host},
			{"ip", address}, {"roles", roles}, {"attributes", object{}}}
	}
	return object{{"name", c.s.options.Name}, {"transport_address", address}, {"host", host}, {"ip", host}, {"version", c.s.version()},
		{"build_type", "reshelve"}, {"build_hash", c.s.options.Version}, {"roles", roles}, {"attributes", object{}}}
}

// nodeSummary is the node as routing answers show it.
func (c *call) nodeSummary() object {
	address, _ := c.address()
	return object{{c.s.nodeID(), object{{"name", c.s.options.Name}, {"ephemeral_id", identity("run", c.s.started)},
		{"transport_address", address}, {"attributes", object{}}}}}
}

// nodeMetrics are the parts of a node's description.
var nodeMetrics = []string{"settings", "os", "process", "jvm", "thread_pool", "transport", "http", "plugins", "ingest", "aggregations", "indices",
	"search_pipelines"}

// nodesInfo reads /_nodes/X as the server does: X is a filter of nodes, unless it
// consists of metrics.
func (c *call) nodesInfo() error {
	filter, metrics := c.name("node_id"), splitList(c.name("metric"))
	if c.name("metric") == "" && filter != "" {
		words := splitList(filter)
		if !slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(nodeMetrics, word) }) {
			filter, metrics = "", words
		}
	}
	look, err := c.settingsLook()
	if err != nil {
		return err
	}
	everything := len(metrics) == 0 || slices.Contains(metrics, "_all")
	node := c.nodeMembers(false)
	for _, name := range nodeMetrics {
		if everything || slices.Contains(metrics, name) {
			if part := c.nodePart(name, look); part != nil {
				node.add(name, part)
			}
		}
	}
	return c.answerNodes(filter, node)
}

// nodePart is one part of the node's description; nil when there is nothing to say.
func (c *call) nodePart(name string, look settingsLook) any {
	address, _ := c.address()
	switch name {
	case "settings":
		return settingsJSON(map[string]string{"cluster.name": c.s.options.Cluster, "node.name": c.s.options.Name, "client.type": "node"}, look)
	case "os":
		return object{{"refresh_interval_in_millis", 1000}, {"name", runtime.GOOS}, {"arch", runtime.GOARCH},
			{"available_processors", runtime.NumCPU()}, {"allocated_processors", runtime.GOMAXPROCS(0)}}
	case "process":
		return object{{"refresh_interval_in_millis", 1000}, {"id", os.Getpid()}, {"mlockall", false}}
	case "transport":
		return object{{"bound_address", []string{address}}, {"publish_address", address}, {"profiles", object{}}}
	case "http":
		return object{{"bound_address", []string{address}}, {"publish_address", address},
			{"max_content_length_in_bytes", c.s.options.BodyBytes}}
	case "plugins":
		return array{}
	case "ingest":
		return object{{"processors", array{}}}
	}
	return nil
}

// answerNodes answers with the one node, when the filter means it.
func (c *call) answerNodes(filter string, node object) error {
	if _, err := c.duration("timeout", 0); err != nil {
		return err
	}
	nodes := object{}
	if filter == "" || slices.ContainsFunc(splitList(filter), c.isMe) {
		nodes.add(c.s.nodeID(), node)
	}
	return c.answer(http.StatusOK, object{{"_nodes", shardCounts(len(nodes), len(nodes))}, {"cluster_name", c.s.options.Cluster}, {"nodes", nodes}})
}

// nodeStatistics are the parts of a node's statistics in the server's order. Of
// what a Go program knows nothing about (buffer pools, breakers) nothing is told.
var nodeStatistics = []string{"indices", "os", "process", "jvm", "fs", "http"}

// knownStatistics are the parts that clients may ask for.
var knownStatistics = map[string]bool{
	"_all": true, "indices": true, "os": true, "process": true, "jvm": true, "thread_pool": true, "fs": true, "transport": true, "http": true,
	"breaker": true, "script": true, "discovery": true, "ingest": true, "adaptive_selection": true, "script_cache": true,
	"indexing_pressure": true, "shard_indexing_pressure": true, "search_backpressure": true, "cluster_manager_throttling": true,
	"weighted_routing": true, "file_cache": true, "task_cancellation": true, "search_pipeline": true,
	"resource_usage_stats": true, "segment_replication_backpressure": true, "repositories": true, "admission_control": true, "caches": true,
	"remote_store": true,
}

func (c *call) nodesStats() error {
	wanted := splitList(c.name("metric"))
	if err := c.unknown(wanted, knownStatistics, "metric"); err != nil {
		return err
	}
	everything := len(wanted) == 0 || slices.Contains(wanted, "_all")
	node := c.nodeMembers(true)
	for _, name := range nodeStatistics {
		if !everything && !slices.Contains(wanted, name) {
			continue
		}
		part, err := c.nodeStatistic(name)
		if err != nil {
			return err
		}
		node.add(name, part)
	}
	return c.answerNodes(c.name("node_id"), node)
}

func (c *call) nodeStatistic(name string) (object, error) {
	switch name {
	case "indices":
		return c.nodeIndices()
	case "os":
		return object{{"timestamp", time.Now().UnixMilli()}}, nil
	case "process":
		return object{{"timestamp", time.Now().UnixMilli()}, {"mem", object{{"total_virtual_in_bytes", int64(memory().Sys)}}}}, nil
	case "jvm": // there is none; its heap is the nearest thing to ours, and what tools draw
		m := memory()
		return object{{"timestamp", time.Now().UnixMilli()}, {"uptime_in_millis", time.Since(c.s.started).Milliseconds()},
			{"mem", object{{"heap_used_in_bytes", int64(m.HeapAlloc)}, {"heap_used_percent", percentOf(m.HeapAlloc, m.HeapSys)},
				{"heap_committed_in_bytes", int64(m.HeapSys)}, {"heap_max_in_bytes", int64(m.HeapSys)}}},
			{"threads", object{{"count", runtime.NumGoroutine()}}}}, nil
	case "fs":
		disk := c.s.store.Health().Disk
		total, data := object{}, array{}
		if disk.Total > 0 { // else nobody knows
			total = object{{"total_in_bytes", disk.Total}, {"free_in_bytes", disk.Free}, {"available_in_bytes", disk.Free}}
			data = append(data, total) // there is one folder, on one disk
		}
		return object{{"timestamp", time.Now().UnixMilli()}, {"total", total}, {"data", data}}, nil
	}
	return object{}, nil
}

// nodeIndices are the statistics of all indices together and, where that is asked for, of each.
func (c *call) nodeIndices() (object, error) {
	level := c.text("level", "node")
	switch level {
	case "node", "indices":
	case "shards":
		return nil, notYet("[level=shards] of _nodes/stats")
	default:
		return nil, exception.New(exception.IllegalArgument, "level parameter must be one of [indices] or [node] or [shards] but was [%s]", level)
	}
	found, err := c.s.store.Status(c.ctx(), catalog.Expression{Options: allOfThem})
	if err != nil {
		return nil, err
	}
	wanted := splitList(c.name("index_metric"))
	if len(wanted) == 0 || slices.Contains(wanted, "_all") {
		wanted = nil
	}
	all := statsJSON(totalOf(found), wanted, false)
	for i, part := range all {
		if part.name == "indexing" { // the node alone counts them
			all[i].value = append(part.value.(object), object{{"doc_status", c.s.writeStatuses()}}...)
		}
	}
	if level == "indices" {
		all.add("indices", eachIndex(found, func(s catalog.Status) object { return statsJSON(totalOf([]catalog.Status{s}), wanted, false) }))
	}
	return all, nil
}

// writeStatuses are the writes since the server was started, by the status of their answers.
func (s *Server) writeStatuses() object {
	o := object{}
	for digit := range s.statuses {
		if n := s.statuses[digit].Load(); n > 0 {
			o.add(strconv.Itoa(digit)+"xx", n)
		}
	}
	return o
}

func memory() runtime.MemStats {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m
}

func percentOf(part, whole uint64) int {
	if whole == 0 {
		return 0
	}
	return int(100 * part / whole)
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// unknown refuses words in the path that are not known.
func (c *call) unknown(words []string, known map[string]bool, what string) error {
	var strange []string
	for _, word := range words {
		if !known[word] {
			strange = append(strange, word)
		}
	}
	if len(strange) == 0 {
		return nil
	}
	return unrecognized(c.r.URL.Path, what, strange, sortedNames(known))
}
