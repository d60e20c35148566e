package gateway

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

const healthParams = patienceParams + "expand_wildcards level local wait_for_active_shards wait_for_nodes wait_for_events " +
	"wait_for_no_relocating_shards wait_for_no_initializing_shards wait_for_status awareness_attribute ensure_node_weighed_in"

// colour is how healthy an index is.
type colour int

const (
	green  colour = iota
	yellow        // some replicas are not there: always so when there should be any
	red           // an index that was asked for is not there
)

func (h colour) String() string { return [...]string{"green", "yellow", "red"}[h] }

func (h colour) shouted() string { return strings.ToUpper(h.String()) }

// shardHealth counts the shards of some indices. There is one copy of each shard; the
// replicas that settings ask for are unassigned.
type shardHealth struct {
	active     int
	unassigned int
}

func (h shardHealth) wanted() int { return h.active + h.unassigned }

func (h shardHealth) colour() colour {
	if h.unassigned > 0 {
		return yellow
	}
	return green
}

// percent is the share of copies that are there.
func (h shardHealth) percent() float64 {
	if h.wanted() == 0 {
		return 100
	}
	return float64(h.active) / float64(h.wanted()) * 100
}

func healthOf(found []catalog.Status) shardHealth {
	var h shardHealth
	for _, s := range found {
		n := shardCount(s)
		h.active += n
		h.unassigned += n * replicas(s)
	}
	return h
}

// clusterHealth answers at once: what is not so now will not become so by waiting,
// since there is one node, all shards are open and no replica ever comes.
func (c *call) clusterHealth() error {
	e, err := c.expression("index", catalog.Options{ExpandOpen: true, ExpandClosed: true, ExpandHidden: true, IgnoreUnavailable: true})
	if err != nil {
		return err
	}
	found, err := c.s.store.Status(c.ctx(), e)
	if err != nil {
		return err
	}
	h := healthOf(found)
	status := h.colour()
	absent := c.absent(e.Names)
	if absent {
		status = red
	}
	met, err := c.waitsAreMet(h, status)
	if err != nil {
		return err
	}
	timedOut := absent || !met
	code := http.StatusOK
	if timedOut {
		code = http.StatusRequestTimeout
	}
	percent := 100.0 // of green indices; else, as the server tells it, of all there are
	if h.colour() != green {
		everything, err := c.s.store.Status(c.ctx(), catalog.Expression{Options: allOfThem})
		if err != nil {
			return err
		}
		percent = healthOf(everything).percent()
	}
	answer := c.healthJSON(h, status, timedOut, percent)
	if level := c.text("level", "cluster"); level == "indices" || level == "shards" {
		answer.add("indices", eachIndex(found, func(s catalog.Status) object { return indexHealthJSON(s, level == "shards") }))
	}
	return c.answer(code, answer)
}

// absent reports whether a name, not a pattern, is nobody's.
func (c *call) absent(names []string) bool {
	known := c.s.store.Catalog()
	return slices.ContainsFunc(names, func(name string) bool {
		_, index := known.Indices[name]
		_, alias := known.Aliases[name]
		_, stream := known.Streams[name]
		return !index && !alias && !stream && !isPattern(name) && name != "_all" && !strings.HasPrefix(name, "-")
	})
}

// waitsAreMet reports whether what the client would wait for is so.
func (c *call) waitsAreMet(h shardHealth, now colour) (bool, error) {
	wanted := red
	if text, ok := c.has("wait_for_status"); ok {
		at := slices.Index([]string{"green", "yellow", "red"}, strings.ToLower(text))
		if at < 0 {
			return false, exception.New(exception.IllegalArgument,
				"No enum constant org.opensearch.cluster.health.ClusterHealthStatus.%s", strings.ToUpper(text))
		}
		wanted = colour(at)
	}
	copies := 0
	if text, ok := c.has("wait_for_active_shards"); ok {
		var err error
		if copies, err = parseCopies(text); err != nil {
			return false, err
		}
		if copies < 0 {
			copies = h.wanted()
		}
	}
	for _, name := range []string{"wait_for_no_relocating_shards", "wait_for_no_initializing_shards", "local"} {
		if _, err := c.boolean(name, false); err != nil {
			return false, err
		}
	}
	nodes, err := oneNodeIs(c.text("wait_for_nodes", ""))
	return nodes && now <= wanted && h.active >= copies, err
}

// oneNodeIs reports whether one node satisfies a condition such as 1, >=1, <3 or ge(1).
func oneNodeIs(condition string) (bool, error) {
	if condition == "" {
		return true, nil
	}
	operator, number := "", condition
	for _, known := range []string{">=", "<=", ">", "<", "ge(", "le(", "gt(", "lt("} {
		if rest, ok := strings.CutPrefix(condition, known); ok {
			operator, number = known, strings.TrimSuffix(rest, ")")
			break
		}
	}
	n, err := strconv.Atoi(number)
	if err != nil {
		return false, exception.NotNumber(number)
	}
	switch operator {
	case ">=", "ge(":
		return 1 >= n, nil
	case "<=", "le(":
		return 1 <= n, nil
	case ">", "gt(":
		return 1 > n, nil
	case "<", "lt(":
		return 1 < n, nil
	}
	return n == 1, nil
}

func (c *call) healthJSON(h shardHealth, status colour, timedOut bool, percent float64) object {
	return object{
		{"cluster_name", c.s.options.Cluster}, {"status", status.String()}, {"timed_out", timedOut},
		{"number_of_nodes", 1}, {"number_of_data_nodes", 1}, {"discovered_master", true}, {"discovered_cluster_manager", true},
		{"active_primary_shards", h.active}, {"active_shards", h.active}, {"relocating_shards", 0}, {"initializing_shards", 0},
		{"unassigned_shards", h.unassigned}, {"delayed_unassigned_shards", 0}, {"number_of_pending_tasks", 0},
		{"number_of_in_flight_fetch", 0}, {"task_max_waiting_in_queue_millis", 0}, {"active_shards_percent_as_number", percent},
	}
}

func indexHealthJSON(s catalog.Status, shards bool) object {
	h := healthOf([]catalog.Status{s})
	o := object{
		{"status", h.colour().String()}, {"number_of_shards", h.active}, {"number_of_replicas", replicas(s)},
		{"active_primary_shards", h.active}, {"active_shards", h.active}, {"relocating_shards", 0},
		{"initializing_shards", 0}, {"unassigned_shards", h.unassigned},
	}
	if !shards {
		return o
	}
	each := object{}
	for i := range h.active {
		each.add(strconv.Itoa(shardNumber(s, i)), object{
			{"status", h.colour().String()}, {"primary_active", true}, {"active_shards", 1}, {"relocating_shards", 0},
			{"initializing_shards", 0}, {"unassigned_shards", replicas(s)},
		})
	}
	o.add("shards", each)
	return o
}

// shardNumber is the number of the i-th shard of an index, by range.
func shardNumber(s catalog.Status, i int) int {
	if i < len(s.Shards) {
		return int(s.Shards[i].Number)
	}
	return i
}
