package gateway

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/reshelve/reshelve/internal/store/catalog"
)

const stateParams = patienceParams + expressionParams + "local flat_settings wait_for_metadata_version wait_for_timeout"

var clusterRoutes = []route{
	{"GET", "/_cluster/health", healthParams, patient((*call).clusterHealth)},
	{"GET", "/_cluster/health/{index}", healthParams, patient((*call).clusterHealth)},
	{"GET", "/_cluster/settings", patienceParams + settingsParams + "local", patient((*call).getClusterSettings)},
	{"PUT", "/_cluster/settings", patienceParams + "flat_settings", patient((*call).putClusterSettings)},
	{"GET", "/_cluster/state", stateParams, patient((*call).clusterState)},
	{"GET", "/_cluster/state/{metric}", stateParams, patient((*call).clusterState)},
	{"GET", "/_cluster/state/{metric}/{index}", stateParams, patient((*call).clusterState)},
	{"GET", "/_cluster/stats", "flat_settings timeout", patient((*call).clusterStats)},
	{"GET", "/_cluster/stats/nodes/{node_id}", "flat_settings timeout", patient((*call).clusterStats)},
	{"GET", "/_cluster/pending_tasks", patienceParams + "local", patient(func(c *call) error {
		return c.answer(http.StatusOK, object{{"tasks", array{}}})
	})},
}

func (c *call) getClusterSettings() error {
	look, err := c.settingsLook()
	if err != nil {
		return err
	}
	set := c.s.store.Catalog().Settings
	answer := object{
		{"persistent", settingsJSON(set["persistent"], look)},
		{"transient", settingsJSON(set["transient"], look)},
	}
	if look.defaults {
		answer.add("defaults", settingsJSON(c.clusterDefaults(set), look))
	}
	return c.answer(http.StatusOK, answer)
}

// clusterDefaults are the settings that clients ask for although nobody set them.
func (c *call) clusterDefaults(set map[string]map[string]string) map[string]string {
	defaults := map[string]string{
		"action.auto_create_index":            "true",
		"action.destructive_requires_name":    "false",
		"cluster.max_shards_per_node":         "1000",
		"cluster.name":                        c.s.options.Cluster,
		"http.max_content_length":             strconv.FormatInt(c.s.options.BodyBytes, 10) + "b",
		"indices.query.bool.max_clause_count": "1024",
		"node.name":                           c.s.options.Name,
	}
	if disk := c.s.store.Health().Disk; disk.LowWater > 0 {
		for _, mark := range []string{"low", "high", "flood_stage"} { // there is one, below which nothing is written
			defaults["cluster.routing.allocation.disk.watermark."+mark] = strconv.FormatInt(disk.LowWater, 10) + "b"
		}
	}
	for _, kind := range set {
		for name := range kind {
			delete(defaults, name)
		}
	}
	return defaults
}

func (c *call) putClusterSettings() error {
	look, err := c.settingsLook()
	if err != nil {
		return err
	}
	body, err := c.required()
	if err != nil {
		return err
	}
	changed, err := c.s.store.PutClusterSettings(c.ctx(), body)
	if err != nil {
		return err
	}
	members, err := readObject(changed)
	if err != nil {
		return err
	}
	for i, m := range members {
		if m.name == "acknowledged" {
			continue
		}
		settings, err := flatSettings(m.value.(json.RawMessage))
		if err != nil {
			return err
		}
		members[i].value = settingsJSON(settings, look)
	}
	return c.answer(http.StatusOK, members)
}

// clusterState shows the parts that clients read: who the node is, the metadata of
// the indices, and where their shards are. What a cluster of servers keeps for
// itself (coordination, graveyards, in-sync copies) is not there.
func (c *call) clusterState() error {
	look, err := c.settingsLook()
	if err != nil {
		return err
	}
	options := catalog.Options{ExpandOpen: true, ExpandClosed: true, ExpandHidden: true, IgnoreUnavailable: true}
	found, err := c.status(options)
	if err != nil {
		return err
	}
	wanted := splitList(c.name("metric"))
	asked := func(metric string) bool {
		return len(wanted) == 0 || slices.Contains(wanted, "_all") || slices.Contains(wanted, metric)
	}
	known := c.s.store.Catalog()
	answer := object{{"cluster_name", c.s.options.Cluster}, {"cluster_uuid", known.Cluster}}
	if asked("version") {
		answer.add("version", stateVersion(found))
		answer.add("state_uuid", identity("state", known.Cluster, stateVersion(found)))
	}
	if asked("master_node") {
		answer.add("master_node", c.s.nodeID())
	}
	if asked("cluster_manager_node") {
		answer.add("cluster_manager_node", c.s.nodeID())
	}
	if asked("blocks") {
		answer.add("blocks", blocksJSON(found))
	}
	if asked("nodes") {
		answer.add("nodes", c.nodeSummary())
	}
	if asked("metadata") {
		metadata, err := metadataJSON(known, found, look)
		if err != nil {
			return err
		}
		answer.add("metadata", metadata)
	}
	if asked("routing_table") {
		answer.add("routing_table", object{{"indices", eachIndex(found, func(s catalog.Status) object {
			return object{{"shards", c.routingTable(s)}}
		})}})
	}
	if asked("routing_nodes") {
		answer.add("routing_nodes", c.routingNodes(found))
	}
	return c.answer(http.StatusOK, answer)
}

// stateVersion grows with every change of an index that it is made of.
func stateVersion(found []catalog.Status) int64 {
	version := int64(1)
	for _, s := range found {
		version += s.MappingVersion + s.SettingsVersion
	}
	return version
}

func metadataJSON(known catalog.Catalog, found []catalog.Status, look settingsLook) (object, error) {
	templates := object{}
	for _, name := range serverOrder(known.Legacy, usualTable) {
		template, err := templateJSON(known.Legacy[name], look)
		if err != nil {
			return nil, err
		}
		templates.add(name, template)
	}
	return object{
		{"cluster_uuid", known.Cluster}, {"cluster_uuid_committed", true}, {"templates", templates},
		{"indices", eachIndex(found, func(s catalog.Status) object { return indexMetadata(s, look) })},
	}, nil
}

func indexMetadata(s catalog.Status, look settingsLook) object {
	mappings := object{}
	if text := string(mappingJSON(s)); text != "{}" {
		mappings.add("_doc", mappingJSON(s))
	}
	terms := object{}
	for _, shard := range s.Shards {
		terms.add(strconv.Itoa(int(shard.Number)), shard.Term)
	}
	return object{
		{"version", s.MappingVersion + s.SettingsVersion}, {"mapping_version", s.MappingVersion},
		{"settings_version", s.SettingsVersion}, {"state", openOrClose(s)},
		{"settings", settingsJSON(shownSettings(s, look), look)}, {"mappings", mappings},
		{"aliases", sortedNames(s.Aliases)}, {"primary_terms", terms}, {"rollover_info", object{}}, {"system", false},
	}
}

// openOrClose is the state of an index in the server's words.
func openOrClose(s catalog.Status) string {
	if s.Entry.Closed {
		return "close"
	}
	return "open"
}

// block is a setting that forbids something, as the state shows it.
type block struct {
	setting, id, description string
	levels                   []string
}

var blocks = []block{
	{"index.blocks.read_only", "5", "index read-only (api)", []string{"write", "metadata_write"}},
	{"index.blocks.read", "7", "index read (api)", []string{"read"}},
	{"index.blocks.write", "8", "index write (api)", []string{"write"}},
	{"index.blocks.metadata", "9", "index metadata (api)", []string{"metadata_read", "metadata_write"}},
	{"index.blocks.read_only_allow_delete", "12", "index read-only / allow delete (api)", []string{"write", "metadata_write"}},
}

func blocksJSON(found []catalog.Status) object {
	indices := object{}
	for _, m := range eachIndex(found, indexBlocks) {
		if len(m.value.(object)) > 0 {
			indices = append(indices, m)
		}
	}
	if len(indices) == 0 {
		return object{}
	}
	return object{{"indices", indices}}
}

func indexBlocks(s catalog.Status) object {
	o := object{}
	if s.Entry.Closed {
		o.add("4", object{{"description", "index closed"}, {"retryable", false}, {"levels", []string{"read", "write"}}})
	}
	for _, b := range blocks {
		if s.Settings[b.setting] == "true" {
			o.add(b.id, object{{"description", b.description}, {"retryable", false}, {"levels", b.levels}})
		}
	}
	return o
}

func (c *call) routingTable(s catalog.Status) object {
	shards := object{}
	for i := range shardCount(s) {
		number := shardNumber(s, i)
		copies := array{c.shardRouting(s, number)}
		for range min(replicas(s), mostReplicasShown) {
			copies = append(copies, unassigned(s, number))
		}
		shards.add(strconv.Itoa(number), copies)
	}
	return shards
}

// mostReplicasShown bounds answers: a setting may ask for any number of replicas.
const mostReplicasShown = 16

// unassigned is a replica that settings ask for, and which nobody has.
func unassigned(s catalog.Status, number int) object {
	return object{
		{"state", "UNASSIGNED"}, {"primary", false}, {"node", nil}, {"relocating_node", nil}, {"shard", number}, {"index", s.Name},
		{"recovery_source", object{{"type", "PEER"}}},
		{"unassigned_info", object{{"reason", "INDEX_CREATED"}, {"at", formatInstant(s.Created)}, {"delayed", false},
			{"allocation_status", "no_attempt"}}},
	}
}

func (c *call) routingNodes(found []catalog.Status) object {
	missing, here := array{}, array{}
	for _, s := range found {
		for i := range shardCount(s) {
			number := shardNumber(s, i)
			here = append(here, c.shardRouting(s, number))
			for range min(replicas(s), mostReplicasShown) {
				missing = append(missing, unassigned(s, number))
			}
		}
	}
	return object{{"unassigned", missing}, {"nodes", object{{c.s.nodeID(), here}}}}
}
