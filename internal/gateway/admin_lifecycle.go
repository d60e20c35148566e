package gateway

import (
	"context"
	"net/http"
	"slices"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

var lifecycleRoutes = []route{
	{"POST", "/_open", openParams, patient((*call).openIndices)},
	{"POST", "/{index}/_open", openParams, patient((*call).openIndices)},
	{"POST", "/_close", closeParams, patient((*call).closeIndices)},
	{"POST", "/{index}/_close", closeParams, patient((*call).closeIndices)},
	{"GET POST", "/_refresh", expressionParams, (*call).refresh},
	{"GET POST", "/{index}/_refresh", expressionParams, (*call).refresh},
	{"GET POST", "/_flush", expressionParams + "force wait_if_ongoing", (*call).flush},
	{"GET POST", "/{index}/_flush", expressionParams + "force wait_if_ongoing", (*call).flush},
	{"GET POST", "/_flush/synced", expressionParams, (*call).flush},
	{"GET POST", "/{index}/_flush/synced", expressionParams, (*call).flush},
	{"POST", "/_forcemerge", mergeParams, (*call).forceMerge},
	{"POST", "/{index}/_forcemerge", mergeParams, (*call).forceMerge},
	{"PUT", "/{index}/_block/{block}", patienceParams + expressionParams, patient((*call).addBlock)},
	{"POST", "/_cache/clear", cacheParams, (*call).clearCache},
	{"POST", "/{index}/_cache/clear", cacheParams, (*call).clearCache},
}

const (
	openParams  = closeParams + "wait_for_completion task_execution_timeout"
	closeParams = patienceParams + expressionParams + "wait_for_active_shards "
	mergeParams = expressionParams + "max_num_segments only_expunge_deletes flush primary_only wait_for_completion"
	cacheParams = expressionParams + "fielddata fields query request file index"
)

func (c *call) openIndices() error {
	wanted, err := c.copies()
	if err != nil {
		return err
	}
	switch wait, err := c.boolean("wait_for_completion", true); {
	case err != nil:
		return err
	case !wait:
		return notYet("[wait_for_completion=false] of opening an index")
	}
	e, err := c.expression("index", catalog.Options{ExpandClosed: true})
	if err != nil {
		return err
	}
	names, err := c.s.store.OpenIndices(c.ctx(), e)
	if err != nil {
		return err
	}
	satisfied := true
	if wanted != 1 && len(names) > 0 {
		found, err := c.s.store.Status(c.ctx(), catalog.Expression{Names: names, Options: allOfThem})
		if err != nil {
			return err
		}
		satisfied = !slices.ContainsFunc(found, func(s catalog.Status) bool { return !enough(wanted, s) })
	}
	return c.answer(http.StatusOK, object{{"acknowledged", true}, {"shards_acknowledged", satisfied}})
}

func (c *call) closeIndices() error {
	if _, err := c.copies(); err != nil {
		return err
	}
	e, err := c.expression("index", openOnes)
	if err != nil {
		return err
	}
	names, err := c.s.store.CloseIndices(c.ctx(), e)
	if err != nil {
		return err
	}
	closed := object{}
	for _, name := range names {
		closed.add(name, object{{"closed", true}})
	}
	return c.answer(http.StatusOK, object{{"acknowledged", true}, {"shards_acknowledged", len(names) > 0}, {"indices", closed}})
}

// broadcast does something to the shards of the indices in the path, and tells
// how many copies of them there should be and how many there are.
func (c *call) broadcast(primariesOnly bool, do func(context.Context, catalog.Expression) (int, error)) error {
	e, err := c.expression("index", searched)
	if err != nil {
		return err
	}
	shards, err := do(c.ctx(), e)
	if err != nil {
		return err
	}
	if primariesOnly {
		return c.answer(http.StatusOK, object{{"_shards", shardCounts(shards, shards)}})
	}
	found, err := c.s.store.Status(c.ctx(), e)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, object{{"_shards", shardCounts(max(shards, healthOf(found).wanted()), shards)}})
}

func (c *call) refresh() error { return c.broadcast(false, c.s.store.Refresh) }

func (c *call) flush() error {
	force, err := c.boolean("force", false)
	if err != nil {
		return err
	}
	wait, err := c.boolean("wait_if_ongoing", true)
	if err != nil {
		return err
	}
	if force && !wait {
		return exception.New(exception.ActionRequestValidation, "Validation Failed: 1: wait_if_ongoing must be true for a force flush;")
	}
	return c.broadcast(false, c.s.store.Flush)
}

// forceMerge merges segments, and answers when that is done. What they are merged into is on
// disk then, whatever is said of flush.
func (c *call) forceMerge() error {
	most, err := c.integer("max_num_segments", 32, -1)
	if err != nil {
		return err
	}
	var wish store.Merging
	if wish.Expunge, err = c.boolean("only_expunge_deletes", false); err != nil {
		return err
	}
	wish.Segments = int(max(most, 0))
	if _, err := c.boolean("flush", false); err != nil {
		return err
	}
	switch wait, err := c.boolean("wait_for_completion", true); {
	case err != nil:
		return err
	case !wait:
		return notYet("[wait_for_completion=false] of a forced merge")
	}
	primariesOnly, err := c.boolean("primary_only", false)
	if err != nil {
		return err
	}
	if _, err := c.metadata(searched); err != nil {
		return err
	}
	return c.broadcast(primariesOnly, func(ctx context.Context, e catalog.Expression) (int, error) {
		return c.s.store.Merge(ctx, e, wish)
	})
}

// clearCache has no cache to clear.
func (c *call) clearCache() error {
	for _, name := range []string{"fielddata", "query", "request", "file"} {
		if _, err := c.boolean(name, false); err != nil {
			return err
		}
	}
	return c.broadcast(false, func(ctx context.Context, e catalog.Expression) (int, error) {
		found, err := c.s.store.Status(ctx, e)
		if err == nil {
			err = showable(found)
		}
		return healthOf(found).active, err
	})
}

// addBlock sets a setting that forbids something, on the indices that lack it.
func (c *call) addBlock() error {
	name := c.name("block")
	switch name {
	case "read_only", "read", "write", "metadata":
	case "read_only_allow_delete":
		return exception.New(exception.ActionRequestValidation, "Validation Failed: 1: read_only_allow_delete block is for internal use only;")
	default:
		return exception.New(exception.IllegalArgument, "No block found with name %s", name)
	}
	found, err := c.status(openOnes)
	if err != nil {
		return err
	}
	setting := "index.blocks." + name
	found = slices.DeleteFunc(found, func(s catalog.Status) bool { return s.Settings[setting] == "true" })
	blocked, names := array{}, []string{}
	for _, s := range found {
		names = append(names, s.Name)
		blocked = append(blocked, object{{"name", s.Name}, {"blocked", true}})
	}
	if len(names) > 0 {
		e := catalog.Expression{Names: names, Options: allOfThem}
		if err := c.s.store.PutSettings(c.ctx(), e, appendJSON(nil, object{{setting, true}}), false); err != nil {
			return err
		}
	}
	return c.answer(http.StatusOK, object{{"acknowledged", true}, {"shards_acknowledged", len(names) > 0}, {"indices", blocked}})
}
