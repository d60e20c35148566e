package gateway

import (
	"slices"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// indexColumns are the columns of _cat/indices that this store can fill. Sizes are
// of ids, routing values and sources before compression: what the documents are, not
// what the files are.
var indexColumns = slices.Concat([]column{
	{"health", "h", "current health status", 0},
	{"status", "s", "open/close status", 0},
	{"index", "i,idx", "index name", 0},
	{"uuid", "id,uuid", "index uuid", 0},
	{"pri", "p,shards.primary,shardsPrimary", "number of primary shards", right},
	{"rep", "r,shards.replica,shardsReplica", "number of replica shards", right},
	{"docs.count", "dc,docsCount", "available docs", right},
	{"docs.deleted", "dd,docsDeleted", "deleted docs", right},
	{"creation.date", "cd", "index creation date (millisecond value)", hidden},
	{"creation.date.string", "cds", "index creation date (as string)", hidden},
	{"store.size", "ss,storeSize", "store size of primaries & replicas", right},
	{"pri.store.size", "", "store size of primaries", right},
}, withPrimaries(countColumns), []column{
	{"search.throttled", "sth", "indicates if the index is search throttled", hidden},
})

// countColumns are counts that _cat/indices and _cat/shards share.
var countColumns = []column{
	{"get.total", "gto,getTotal", "number of get ops", right | hidden},
	{"indexing.delete_total", "idto,indexingDeleteTotal", "number of delete ops", right | hidden},
	{"indexing.index_total", "iito,indexingIndexTotal", "number of indexing ops", right | hidden},
	{"merges.current", "mc,mergesCurrent", "number of current merges", right | hidden},
	{"merges.total", "mt,mergesTotal", "number of completed merge ops", right | hidden},
	{"refresh.total", "rto,refreshTotal", "total refreshes", right | hidden},
	{"segments.count", "sc,segmentsCount", "number of segments", right | hidden},
	{"segments.memory", "sm,segmentsMemory", "memory used by segments", right | hidden},
}

func countCells(t totals) []any {
	return []any{t.gets, t.deletions, t.indexed, 0, 0, t.refreshes, t.segments, size(0)}
}

// withPrimaries puts beside each column one about the primaries alone.
func withPrimaries(columns []column) []column {
	var both []column
	for _, c := range columns {
		both = append(both, c, column{"pri." + c.name, "", c.help, c.flags})
	}
	return both
}

func (c *call) catIndices() error {
	wanted, err := c.wantedHealth()
	if err != nil {
		return err
	}
	return c.show(indexColumns, func() ([][]any, error) {
		found, err := c.metadata(openClosed)
		if err != nil {
			return nil, err
		}
		byName := map[string]catalog.Status{}
		for _, s := range found {
			if wanted == "" || healthOf([]catalog.Status{s}).colour().String() == wanted {
				byName[s.Name] = s
			}
		}
		var rows [][]any
		for _, name := range serverOrder(byName, usualTable) {
			rows = append(rows, indexRow(byName[name]))
		}
		return rows, nil
	})
}

// wantedHealth reads the parameter health; "" when it was not given.
func (c *call) wantedHealth() (string, error) {
	text, ok := c.has("health")
	if !ok {
		return "", nil
	}
	lower := strings.ToLower(text)
	if lower != "green" && lower != "yellow" && lower != "red" {
		return "", exception.New(exception.IllegalArgument, "unknown cluster health status [%s]", text)
	}
	return lower, nil
}

func indexRow(s catalog.Status) []any {
	t := totalOf([]catalog.Status{s})
	row := []any{healthOf([]catalog.Status{s}).colour(), openOrClose(s), s.Name, s.UUID, shardCount(s), replicas(s),
		t.docs, t.deleted, s.Created.UnixMilli(), formatInstant(s.Created), t.stored(), t.stored()}
	for _, cell := range countCells(t) {
		row = append(row, cell, cell)
	}
	if s.Entry.Closed { // nothing is known of its shards
		for i, c := range indexColumns {
			if strings.HasPrefix(c.name, "docs.") || strings.HasSuffix(c.name, "store.size") || i >= 12 {
				row = setCell(row, i, nil)
			}
		}
	}
	return append(row[:len(indexColumns)-1], "false")
}

func setCell(row []any, at int, value any) []any {
	if at < len(row) {
		row[at] = value
	}
	return row
}

// shardColumns are the columns of _cat/shards.
var shardColumns = slices.Concat([]column{
	{"index", "i,idx", "index name", 0},
	{"shard", "s,sh", "shard name", 0},
	{"prirep", "p,pr,primaryOrReplica", "primary or replica", 0},
	{"state", "st", "shard state", 0},
	{"docs", "d,dc", "number of docs in shard", right},
	{"store", "sto", "store size of shard (how much disk it uses)", right},
	{"ip", "", "ip of node where it lives", 0},
	{"id", "", "unique id of node where it lives", hidden},
	{"node", "n", "name of node where it lives", 0},
	{"unassigned.reason", "ur", "reason shard is unassigned", hidden},
	{"unassigned.at", "ua", "time shard became unassigned (UTC)", hidden},
	{"unassigned.for", "uf", "time has been unassigned", right | hidden},
	{"range", "", "order keys that the shard owns (Reshelve)", hidden},
	{"epoch", "", "placement version at which its ownership last changed (Reshelve)", right | hidden},
}, countColumns)

func (c *call) catShards() error {
	return c.show(shardColumns, func() ([][]any, error) {
		found, err := c.metadata(searched)
		if err != nil {
			return nil, err
		}
		byName := map[string]catalog.Status{}
		for _, s := range found {
			byName[s.Name] = s
		}
		var rows [][]any
		for _, name := range serverOrder(byName, usualTable) {
			rows = append(rows, c.shardRows(byName[name])...)
		}
		return rows, nil
	})
}

// shardRows are a row for each shard, and rows for the replicas that it lacks.
func (c *call) shardRows(s catalog.Status) [][]any {
	_, host := c.address()
	var rows [][]any
	for _, shard := range s.Shards {
		var t totals
		t.add(shard)
		row := []any{s.Name, int(shard.Number), "p", "STARTED", t.docs, t.stored(), host, c.s.nodeID(), c.s.options.Name,
			nil, nil, nil, shard.Range.String(), shard.Epoch}
		rows = append(rows, append(row, countCells(t)...))
		for range min(replicas(s), mostReplicasShown) {
			row := []any{s.Name, int(shard.Number), "r", "UNASSIGNED", nil, nil, nil, nil, nil,
				"INDEX_CREATED", formatInstant(s.Created), time.Since(s.Created).Truncate(time.Millisecond), nil, nil}
			rows = append(rows, append(row, make([]any, len(countColumns))...))
		}
	}
	return rows
}
