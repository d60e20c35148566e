package catalog

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// clusterKnown are the settings of the cluster that do something here, beside searchSettings.
var clusterKnown = map[string]check{
	"action.auto_create_index":         func(_, value string) *exception.Error { _, err := parseAutoCreate(value); return err },
	"action.destructive_requires_name": boolean,
	"cluster.max_shards_per_node":      integer(1, 1<<31-1),
}

// clusterIdle are prefixes of settings that are taken and shown, and do nothing; see
// docs/settings.md for why.
var clusterIdle = []string{
	"cluster.routing.", "cluster.info.", "cluster.service.", "cluster.indices.", "cluster.no_cluster_manager_block",
	"cluster.persistent_tasks.", "discovery.", "indices.recovery.", "indices.mapping.dynamic_timeout", "gateway.slow_write_logging_threshold",
	"indices.id_field_data.", "search.low_level_cancellation", "logger.", "transport.tracer.", "http.tracer.",
	"script.", "ingest.", "snapshot.max_concurrent_operations", "cluster.metadata.",
}

// clusterRefused are prefixes of settings that the server knows and whose meaning would be
// lost here.
var clusterRefused = []string{
	"cluster.default_number_of_replicas", "cluster.remote.", "cluster.routing.allocation.disk.threshold_enabled",
	"cluster.routing.allocation.disk.watermark.flood_stage", "indices.breaker.", "network.breaker.",
}

// clusterFixed are settings that only a start may set.
var clusterFixed = []string{"node.", "cluster.name", "path.", "http.port", "http.host", "network.host", "transport.port", "discovery.type", "bootstrap."}

// WithCluster is the catalog with settings of the cluster changed by a body
// {"persistent":{…},"transient":{…}}, and the server's answer.
func (c Catalog) WithCluster(body []byte) (Catalog, []byte, error) {
	n, err := requireBody(body)
	if err != nil {
		return c, nil, err
	}
	next := c
	next.Settings = map[string]map[string]string{}
	answer := `{"acknowledged":true`
	changed := false
	var refused error
	for _, kind := range []string{"persistent", "transient"} {
		var all edits
		if section := n.get(kind); section != nil && !section.isObject() {
			return c, nil, notMap(section)
		} else if section != nil {
			flattenInto(&all, "", section)
		}
		changed = changed || len(all) > 0
		slices.SortFunc(all, func(a, b edit) int { return strings.Compare(a.name, b.name) })
		if err := all.checkCluster(kind); err != nil {
			refused = err // the server looks at the transient ones first
		}
		next.Settings[kind] = all.onto(c.clusterSettings(kind))
		maps.DeleteFunc(next.Settings[kind], func(name, _ string) bool { return all.resets(name) })
		answer += `,"` + kind + `":` + string(RenderSettings(all.values(), false))
	}
	switch {
	case !changed:
		return c, nil, actionInvalid("no settings to update")
	case refused != nil:
		return c, nil, refused
	}
	if err := next.checkKeeping(); err != nil {
		return c, nil, err
	}
	return next, []byte(answer + "}"), nil
}

func (c Catalog) clusterSettings(kind string) map[string]string {
	if c.Settings[kind] == nil {
		return map[string]string{}
	}
	return c.Settings[kind]
}

// resets reports whether a pattern among the edits resets the setting.
func (all edits) resets(name string) bool {
	return slices.ContainsFunc(all, func(e edit) bool { return e.reset && isPattern(e.name) && wildcard.Match(e.name, name) })
}

func hasPrefix(prefixes []string, name string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

func (all edits) checkCluster(kind string) error {
	for _, e := range all {
		check, known := clusterKnown[e.name]
		if s, ok := searchSettings[e.name]; ok {
			check, known = s.check, true
		}
		switch {
		case known && !e.reset:
			if err := check(e.name, printed(e.value)); err != nil {
				return err
			}
		case known, e.reset && (isPattern(e.name) || hasPrefix(clusterRefused, e.name)):
		case hasPrefix(clusterRefused, e.name):
			return illegal("setting [%s] is not supported by reshelve", e.name)
		case hasPrefix(clusterFixed, e.name):
			return illegal("%s setting [%s], not dynamically updateable", kind, e.name)
		case !hasPrefix(clusterIdle, e.name):
			return illegal("%s setting [%s], not recognized", kind, e.name)
		}
	}
	return nil
}

// cluster is a setting of the cluster; transient ones count before persistent ones.
func (c Catalog) cluster(name, fallback string) string {
	for _, kind := range []string{"transient", "persistent"} {
		if value, ok := c.Settings[kind][name]; ok {
			return value
		}
	}
	return fallback
}

// MaxShards is how many shards may be open, copies counted: the setting
// cluster.max_shards_per_node, 1000 unless set.
func (c Catalog) MaxShards() int {
	n, err := strconv.Atoi(c.cluster("cluster.max_shards_per_node", "1000"))
	if err != nil {
		return 1000 // what is stored was checked
	}
	return n
}

// autoCreate is the setting action.auto_create_index.
type autoCreate struct {
	never bool
	rules []autoRule // nil: every name
}

type autoRule struct {
	pattern string
	allow   bool
}

func parseAutoCreate(value string) (autoCreate, *exception.Error) {
	if value == "true" || value == "false" {
		return autoCreate{never: value == "false"}, nil
	}
	var a autoCreate
	for _, part := range strings.Split(value, ",") {
		part = strings.TrimSpace(part)
		pattern, minus := strings.CutPrefix(part, "-")
		if !minus {
			pattern = strings.TrimPrefix(part, "+")
		}
		switch {
		case part == "":
			return a, illegal("Can't parse [%s] for setting [action.auto_create_index] must be either [true, false, or a comma separated list of index patterns]", value)
		case pattern == "":
			return a, illegal("Can't parse [%s] for setting [action.auto_create_index] must contain an index name after [%s]", value, part)
		}
		a.rules = append(a.rules, autoRule{pattern, !minus})
	}
	return a, nil
}

// AutoCreate refuses to make an index because a write names it, when the cluster's
// settings say so.
func (c Catalog) AutoCreate(index string) error {
	setting := c.cluster("action.auto_create_index", "true")
	refused := func(why string) error {
		return exception.New(exception.IndexNotFound, "no such index [%s] and %s", index, why).With("index", index).With("index_uuid", "_na_")
	}
	a, _ := parseAutoCreate(printed(setting)) // checked when it was set
	if why := a.forbids(index, setting); why != "" {
		return refused(why)
	}
	return nil
}

// AutoCreates reports whether a server with that action.auto_create_index makes an index, or a data
// stream, because a write names it. A value that is not understood is one that does.
func AutoCreates(setting, name string) bool {
	a, err := parseAutoCreate(setting)
	return err != nil || a.forbids(name, setting) == ""
}

// forbids says why the setting does not let an index be made; "" when it does.
func (a autoCreate) forbids(index, setting string) string {
	if a.never {
		return "[action.auto_create_index] is [false]"
	}
	for _, rule := range a.rules {
		if !wildcard.Match(rule.pattern, index) {
			continue
		}
		if rule.allow {
			return ""
		}
		return "[action.auto_create_index] contains [-" + rule.pattern + "] which forbids automatic creation of the index"
	}
	if len(a.rules) > 0 {
		return "[action.auto_create_index] ([" + setting + "]) doesn't match"
	}
	return ""
}

// CheckDestructive refuses patterns in a request that removes or closes, when the
// cluster's settings say so.
func (c Catalog) CheckDestructive(names []string) error {
	if c.cluster("action.destructive_requires_name", "false") != "true" {
		return nil
	}
	if len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return name == "_all" || isPattern(name) }) {
		return illegal("Wildcard expressions or all indices are not allowed")
	}
	return nil
}
