package gateway

import (
	"net/http"
	"strings"
)

const catParams = "format h help s v time bytes size local master_timeout cluster_manager_timeout "

var catRoutes = []route{
	{"GET", "/_cat", "help s", (*call).catList},
	{"GET", "/_cat/allocation", catParams, patient((*call).catAllocation)},
	{"GET", "/_cat/indices", catIndicesParams, patient((*call).catIndices)},
	{"GET", "/_cat/indices/{index}", catIndicesParams, patient((*call).catIndices)},
	{"GET", "/_cat/shards", catParams, patient((*call).catShards)},
	{"GET", "/_cat/shards/{index}", catParams, patient((*call).catShards)},
	{"GET", "/_cat/count", catParams, (*call).catCount},
	{"GET", "/_cat/count/{index}", catParams, (*call).catCount},
	{"GET", "/_cat/aliases", catParams + expressionParams, (*call).catAliases},
	{"GET", "/_cat/aliases/{alias}", catParams + expressionParams, (*call).catAliases},
	{"GET", "/_cat/templates", catParams, patient((*call).catTemplates)},
	{"GET", "/_cat/templates/{name}", catParams, patient((*call).catTemplates)},
	{"GET", "/_cat/health", catParams + "ts", (*call).catHealth},
	{"GET", "/_cat/nodes", catParams + "full_id timeout", patient((*call).catNodes)},
	{"GET", "/_cat/cluster_manager", catParams, patient((*call).catManager)},
	{"GET", "/_cat/master", catParams, patient((*call).catMaster)},
	{"GET", "/_cat/plugins", catParams, patient(empty(pluginColumns))},
	{"GET", "/_cat/pending_tasks", catParams, patient(empty(pendingColumns))},
	{"GET", "/_cat/repositories", catParams, patient(empty(repositoryColumns))},
	{"GET", "/_cat/nodeattrs", catParams, patient(empty(attributeColumns))},
}

const catIndicesParams = catParams + expressionParams + "health pri include_unloaded_segments"

// catPages are the pages that there are, each as often as it has forms.
var catPages = []string{
	"/_cat/allocation", "/_cat/shards", "/_cat/shards/{index}", "/_cat/cluster_manager", "/_cat/nodes", "/_cat/indices", "/_cat/indices/{index}",
	"/_cat/count", "/_cat/count/{index}", "/_cat/health", "/_cat/pending_tasks", "/_cat/aliases", "/_cat/aliases/{alias}",
	"/_cat/plugins", "/_cat/nodeattrs", "/_cat/repositories", "/_cat/templates", "/_cat/templates/{name}",
}

// catList names the pages, after the sign that the server puts there.
func (c *call) catList() error {
	return c.plain([]byte("=^.^=\n" + strings.Join(catPages, "\n") + "\n"))
}

// tableView reads what the client asks of a table.
func (c *call) tableView() (tableView, error) {
	v := tableView{bytes: c.text("bytes", ""), time: c.text("time", "")}
	v.h, v.named = c.has("h")
	v.s, v.sorted = c.has("s")
	var err error
	if v.headings, err = c.boolean("v", false); err != nil {
		return v, err
	}
	v.siblings, err = c.boolean("pri", false)
	return v, err
}

// wantsJSON reports whether a table is asked for as JSON (or YAML) and not as text.
func (c *call) wantsJSON() bool {
	if format, ok := c.has("format"); ok {
		switch strings.ToLower(format) {
		case "json", "application/json", "yaml", "application/yaml":
			return true
		}
		return false
	}
	if c.look.vendor != (media{}) {
		return true
	}
	accept := c.r.Header.Get("Accept")
	return strings.HasPrefix(accept, "application/json") || strings.HasPrefix(accept, "application/yaml")
}

// show answers with a table whose rows are made when they are needed, which they
// are not to explain the columns.
func (c *call) show(columns []column, rows func() ([][]any, error)) error {
	t := table{columns: columns}
	help, err := c.boolean("help", false)
	if err != nil {
		return err
	}
	if help {
		return c.plain(t.appendHelp(nil))
	}
	v, err := c.tableView()
	if err != nil {
		return err
	}
	if t.rows, err = rows(); err != nil {
		return err
	}
	if err := t.sort(v); err != nil {
		return err
	}
	if c.wantsJSON() {
		return c.answer(http.StatusOK, t.rowsJSON(v))
	}
	return c.plain(t.appendText(nil, v))
}

// empty is the page of a table that never has rows here.
func empty(columns []column) func(*call) error {
	return func(c *call) error {
		return c.show(columns, func() ([][]any, error) { return nil, nil })
	}
}

var (
	pluginColumns = []column{
		{"id", "", "unique node id", hidden}, {"name", "n", "node name", 0}, {"component", "c", "component", 0},
		{"version", "v", "component version", 0}, {"description", "d", "plugin details", hidden},
	}
	pendingColumns = []column{
		{"insertOrder", "o", "task insertion order", right}, {"timeInQueue", "t", "how long task has been in queue", right},
		{"priority", "p", "task priority", 0}, {"source", "s", "task source", 0},
	}
	repositoryColumns = []column{{"id", "id,repoId", "unique repository id", 0}, {"type", "t,type", "repository type", 0}}
	attributeColumns  = []column{
		{"node", "name", "node name", 0}, {"id", "id,nodeId", "unique node id", hidden}, {"pid", "p", "process id", hidden},
		{"host", "h", "host name", 0}, {"ip", "i", "ip address", 0}, {"port", "po", "bound transport port", hidden},
		{"attr", "attr.name", "attribute description", 0}, {"value", "attr.value", "attribute value", 0},
	}
)
