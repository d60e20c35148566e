package gateway

import (
	"net/http"
	"slices"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

var streamRoutes = []route{
	{"GET", "/_data_stream", "", (*call).getStreams},
	{"GET", "/_data_stream/{name}", "", (*call).getStreams},
	{"PUT", "/_data_stream/{name}", "", (*call).createStream},
	{"DELETE", "/_data_stream/{name}", "", (*call).deleteStreams},
	{"GET", "/_data_stream/_stats", "", (*call).streamStats},
	{"GET", "/_data_stream/{name}/_stats", "", (*call).streamStats},
	{"POST", "/{index}/_rollover", rolloverParams, patient((*call).rollover)},
	{"POST", "/{index}/_rollover/{new_index}", rolloverParams, patient((*call).rollover)},
}

const rolloverParams = patienceParams + "dry_run wait_for_active_shards"

// streams are the names of the data streams that stand in the path, sorted. One
// that is named and absent is index_not_found_exception.
func (c *call) streams(known map[string]catalog.Stream) ([]string, error) {
	wanted := c.names("name")
	for _, name := range wanted {
		if _, ok := known[name]; !ok && !isPattern(name) {
			return nil, exception.NoSuchIndex(name)
		}
	}
	var found []string
	for _, name := range sortedNames(known) {
		if wanted == nil || wildcard.MatchAny(wanted, name) {
			found = append(found, name)
		}
	}
	return found, nil
}

// backing is what there is to say of the backing indices of a data stream.
func (c *call) backing(s catalog.Stream) ([]catalog.Status, error) {
	return c.s.store.Status(c.ctx(), catalog.Expression{Names: s.Indices, Options: allOfThem})
}

func (c *call) getStreams() error {
	known := c.s.store.Catalog()
	names, err := c.streams(known.Streams)
	if err != nil {
		return err
	}
	streams := array{}
	for _, name := range names {
		s := known.Streams[name]
		status, err := c.backing(s)
		if err != nil {
			return err
		}
		indices := array{}
		for _, index := range s.Indices {
			indices = append(indices, object{{"index_name", index}, {"index_uuid", known.Indices[index].UUID}})
		}
		streams = append(streams, object{
			{"name", name}, {"timestamp_field", object{{"name", s.Timestamp}}}, {"indices", indices},
			{"generation", s.Generation}, {"status", healthOf(status).colour().shouted()}, {"template", s.Template},
		})
	}
	return c.answer(http.StatusOK, object{{"data_streams", streams}})
}

func (c *call) createStream() error {
	if err := c.s.store.CreateStream(c.ctx(), c.name("name")); err != nil {
		return err
	}
	return c.acknowledge()
}

func (c *call) deleteStreams() error {
	if err := c.s.store.DeleteStreams(c.ctx(), splitList(c.name("name"))); err != nil {
		return err
	}
	return c.acknowledge()
}

// streamStats tells sizes. The newest time of a stream needs a search: it is left
// at 0, which is what the server says of an empty one.
func (c *call) streamStats() error {
	human, err := c.boolean("human", false)
	if err != nil {
		return err
	}
	known := c.s.store.Catalog()
	names, err := c.streams(known.Streams)
	if err != nil {
		return err
	}
	var all []catalog.Status
	streams := array{}
	for _, name := range names {
		status, err := c.backing(known.Streams[name])
		if err != nil {
			return err
		}
		all = slices.Concat(all, status)
		one := object{{"data_stream", name}, {"backing_indices", len(status)}}
		if t := totalOf(status); !t.unsized {
			one = append(one, sizeJSON("store_size", "_bytes", t.bytes, human)...)
		}
		one.add("maximum_timestamp", 0)
		streams = append(streams, one)
	}
	h := healthOf(all)
	answer := object{
		{"_shards", shardCounts(h.wanted(), h.active)}, {"data_stream_count", len(names)}, {"backing_indices", len(all)},
	}
	if t := totalOf(all); !t.unsized {
		answer = append(answer, sizeJSON("total_store_size", "_bytes", t.bytes, human)...)
	}
	answer.add("data_streams", streams)
	return c.answer(http.StatusOK, answer)
}

func (c *call) rollover() error {
	dryRun, err := c.boolean("dry_run", false)
	if err != nil {
		return err
	}
	if _, err := c.copies(); err != nil {
		return err
	}
	body, err := c.content()
	if err != nil {
		return err
	}
	r, err := c.s.store.Rollover(c.ctx(), c.name("index"), c.name("new_index"), body, dryRun)
	if err != nil {
		return err
	}
	met := make(map[string]bool, len(r.Conditions))
	for _, condition := range r.Conditions {
		met[condition.Text] = condition.Met
	}
	conditions := object{}
	for _, text := range serverOrder(met, usualTable) {
		conditions.add(text, met[text])
	}
	return c.answer(http.StatusOK, object{
		{"acknowledged", r.RolledOver}, {"shards_acknowledged", r.RolledOver}, {"old_index", r.OldIndex}, {"new_index", r.NewIndex},
		{"rolled_over", r.RolledOver}, {"dry_run", r.DryRun}, {"conditions", conditions},
	})
}
