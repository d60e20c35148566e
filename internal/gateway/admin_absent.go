package gateway

import (
	"net/http"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// absentRoutes are endpoints of things that this store does not have, or not yet.
// Lists are empty; what would have to be done is refused with a reason that says
// what to do instead, so that nobody looks for a typing mistake.
var absentRoutes = []route{
	{"GET", "/_ingest/pipeline", patienceParams, patient((*call).noPipelines)},
	{"GET", "/_ingest/pipeline/{id}", patienceParams, patient((*call).noPipelines)},
	{"GET", "/_search/pipeline", patienceParams, patient((*call).noPipelines)},
	{"GET", "/_search/pipeline/{id}", patienceParams, patient((*call).noPipelines)},
	{"GET", "/_scripts/{id}", patienceParams, patient((*call).noScript)},
	{"PUT POST", "/_scripts/{id}", patienceParams + "context", patient((*call).refuseScript)},
	{"GET", "/_snapshot", patienceParams + "local", patient((*call).listRepositories)},
	{"GET", "/_snapshot/{repository}", patienceParams + "local", patient((*call).listRepositories)},
	{"GET", "/_snapshot/{repository}/{snapshot}", patienceParams + "ignore_unavailable verbose", patient((*call).listRepositories)},
	{"GET", "/_remote/info", "", func(c *call) error { return c.answer(http.StatusOK, object{}) }},
	{"PUT POST", "/{index}/_split/{target}", resizeParams, patient((*call).refuseResize)},
	{"PUT POST", "/{index}/_shrink/{target}", resizeParams, patient((*call).refuseResize)},
	{"PUT POST", "/{index}/_clone/{target}", resizeParams, patient((*call).refuseResize)},
}

const resizeParams = patienceParams + "copy_settings wait_for_active_shards wait_for_completion task_execution_timeout"

func (c *call) noPipelines() error { return c.answer(http.StatusNotFound, object{}) }

func (c *call) noScript() error {
	return c.answer(http.StatusNotFound, object{{"_id", c.name("id")}, {"found", false}})
}

func (c *call) refuseScript() error {
	return exception.New(exception.IllegalArgument, "unable to put stored script [%s]: this store runs no scripts", c.name("id"))
}

// listRepositories has none to list.
func (c *call) listRepositories() error {
	if repository := c.name("repository"); repository != "" && repository != "_all" && !isPattern(repository) {
		return exception.New(exception.RepositoryMissing, "[%s] missing", repository)
	}
	return c.answer(http.StatusOK, object{})
}

func (c *call) refuseResize() error {
	return exception.New(exception.IllegalArgument,
		"an index is not copied into another to change its number of shards: its shards are split and merged in place, while it answers; "+
			"reshelve split and reshelve merge, or POST /_reshelve/movements, do that (index [%s])", c.name("index"))
}
