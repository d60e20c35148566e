package gateway

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// The parameters that administrative requests share.
const (
	patienceParams = "timeout master_timeout cluster_manager_timeout "
	settingsParams = "flat_settings include_defaults "
)

var indexRoutes = []route{
	{"PUT", "/{index}", patienceParams + "wait_for_active_shards", patient((*call).createIndex)},
	{"DELETE", "/{index}", patienceParams + expressionParams, patient((*call).deleteIndices)},
	{"GET", "/{index}", patienceParams + expressionParams + settingsParams + "local", patient((*call).getIndices)},
	{"HEAD", "/{index}", patienceParams + expressionParams + settingsParams + "local", patient((*call).indicesExist)},
}

// What absent, closed and hidden names mean to administrative requests.
var (
	openOnes    = catalog.Options{ExpandOpen: true}
	openClosed  = catalog.Options{ExpandOpen: true, ExpandClosed: true}
	allOfThem   = catalog.Options{ExpandOpen: true, ExpandClosed: true, ExpandHidden: true}
	changedOnes = catalog.Options{ExpandOpen: true, ExpandClosed: true, NoIndicesIsError: true}
	deletedOnes = catalog.Options{ExpandOpen: true, ExpandClosed: true, ForbidAliases: true}
)

// patient checks the times that a client would wait for a cluster. Here nothing
// is waited for: a change is done when it is answered.
func patient(handle func(*call) error) func(*call) error {
	return func(c *call) error {
		_, old := c.has("master_timeout")
		_, renamed := c.has("cluster_manager_timeout")
		if old && renamed {
			return exception.New(exception.OpenSearchParse, "Please only use one of the request parameters [master_timeout, cluster_manager_timeout].")
		}
		for _, name := range []string{"timeout", "master_timeout", "cluster_manager_timeout"} {
			if _, err := c.duration(name, 0); err != nil {
				return err
			}
		}
		return handle(c)
	}
}

// copies is how many copies of a shard a client wants active: -1 means all.
func (c *call) copies() (int, error) {
	text, ok := c.has("wait_for_active_shards")
	if !ok {
		return 1, nil
	}
	return parseCopies(text)
}

func parseCopies(text string) (int, error) {
	if text == "all" {
		return -1, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	switch {
	case err != nil:
		return 0, exception.New(exception.IllegalArgument, "cannot parse ActiveShardCount[%s]", text).
			CausedBy(exception.NotNumber(text))
	case n < 0:
		return 0, exception.New(exception.IllegalArgument, "shard count cannot be a negative value")
	}
	return int(n), nil
}

// enough reports whether the one copy of each shard that there is satisfies a
// client that asked for wanted ones.
func enough(wanted int, s catalog.Status) bool {
	if wanted < 0 {
		wanted = 1 + replicas(s)
	}
	return wanted <= 1
}

// replicas is the number that the settings ask for; there never are any.
func replicas(s catalog.Status) int {
	n, err := strconv.Atoi(s.Settings["index.number_of_replicas"])
	if err != nil {
		return 1
	}
	return n
}

// shardCount is how many shards an index has, also when it is closed.
func shardCount(s catalog.Status) int {
	if n, err := strconv.Atoi(s.Settings["index.number_of_shards"]); err == nil && len(s.Shards) == 0 {
		return n
	}
	return len(s.Shards)
}

func (c *call) createIndex() error {
	wanted, err := c.copies()
	if err != nil {
		return err
	}
	body, err := c.content()
	if err != nil {
		return err
	}
	created, err := c.s.store.CreateIndex(c.ctx(), c.name("index"), body)
	if err != nil {
		return err
	}
	satisfied := created.ShardsAcknowledged
	if wanted != 1 {
		status, err := c.s.store.Status(c.ctx(), catalog.Expression{Names: []string{created.Index}, Options: allOfThem})
		if err != nil || len(status) != 1 {
			return err
		}
		satisfied = enough(wanted, status[0])
	}
	return c.answer(http.StatusOK, object{{"acknowledged", true}, {"shards_acknowledged", satisfied}, {"index", created.Index}})
}

func (c *call) deleteIndices() error {
	e, err := c.expression("index", deletedOnes)
	if err != nil {
		return err
	}
	if err := c.s.store.DeleteIndices(c.ctx(), e); err != nil {
		return err
	}
	return c.acknowledge()
}

func (c *call) getIndices() error {
	look, err := c.settingsLook()
	if err != nil {
		return err
	}
	found, err := c.metadata(openOnes)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, eachIndex(found, func(s catalog.Status) object { return indexJSON(s, look) }))
}

func (c *call) indicesExist() error {
	if _, err := c.metadata(openOnes); err != nil {
		return err
	}
	return c.json(http.StatusOK, nil)
}

// indexJSON is one index as GET /{index} shows it.
func indexJSON(s catalog.Status, look settingsLook) object {
	o := object{
		{"aliases", aliasesJSON(s.Aliases, nil)},
		{"mappings", mappingJSON(s)},
		{"settings", settingsJSON(shownSettings(s, look), look)},
	}
	if look.defaults {
		o.add("defaults", settingsJSON(catalog.Defaults(s.Settings), look))
	}
	if s.Entry.Stream != "" {
		o.add("data_stream", s.Entry.Stream)
	}
	return o
}

// status is what there is to say of the indices that stand in the path.
func (c *call) status(defaults catalog.Options) ([]catalog.Status, error) {
	e, err := c.expression("index", defaults)
	if err != nil {
		return nil, err
	}
	return c.s.store.Status(c.ctx(), e)
}

// metadata is status, refused when the settings of an index block its metadata.
func (c *call) metadata(defaults catalog.Options) ([]catalog.Status, error) {
	found, err := c.status(defaults)
	if err != nil {
		return nil, err
	}
	return found, showable(found)
}

// showable refuses to show indices whose settings block their metadata.
func showable(found []catalog.Status) error {
	for _, s := range found {
		if blocked := catalog.Blocked(s.Name, s.Settings, catalog.ReadMetadata); blocked != nil {
			return blocked
		}
	}
	return nil
}

// eachIndex shows indices by their names, in the server's order.
func eachIndex(found []catalog.Status, show func(catalog.Status) object) object {
	byName := make(map[string]catalog.Status, len(found))
	for _, s := range found {
		byName[s.Name] = s
	}
	o := object{}
	for _, name := range serverOrder(byName, usualTable) {
		o.add(name, show(byName[name]))
	}
	return o
}

// names are the names between commas that stand in the path; nil for all.
func (c *call) names(name string) []string {
	text := c.name(name)
	if text == "" || text == "_all" {
		return nil
	}
	return strings.Split(text, ",")
}
