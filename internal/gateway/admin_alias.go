package gateway

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

var aliasRoutes = []route{
	{"GET HEAD", "/_alias", expressionParams + "local", (*call).getAliases},
	{"GET", "/_aliases", expressionParams + "local", (*call).getAliases},
	{"GET HEAD", "/_alias/{name}", expressionParams + "local", (*call).getAliases},
	{"GET HEAD", "/{index}/_alias", expressionParams + "local", (*call).getAliases},
	{"GET HEAD", "/{index}/_alias/{name}", expressionParams + "local", (*call).getAliases},
	{"PUT POST", "/_alias/{name}", patienceParams, patient((*call).putAlias)},
	{"PUT POST", "/_aliases/{name}", patienceParams, patient((*call).putAlias)},
	{"PUT POST", "/{index}/_alias/{name}", patienceParams, patient((*call).putAlias)},
	{"PUT POST", "/{index}/_aliases/{name}", patienceParams, patient((*call).putAlias)},
	{"PUT", "/_alias", patienceParams, patient((*call).putAlias)},
	{"PUT", "/{index}/_alias", patienceParams, patient((*call).putAlias)},
	{"PUT", "/{index}/_aliases", patienceParams, patient((*call).putAlias)},
	{"DELETE", "/{index}/_alias/{name}", patienceParams, patient((*call).deleteAliases)},
	{"DELETE", "/{index}/_aliases/{name}", patienceParams, patient((*call).deleteAliases)},
	{"POST", "/_aliases", patienceParams, patient((*call).updateAliases)},
}

func (c *call) getAliases() error {
	found, err := c.metadata(allOfThem)
	if err != nil {
		return err
	}
	wanted := c.names("name")
	missing := missingAliases(found, wanted)
	answer, status := object{}, http.StatusOK
	if len(missing) > 0 {
		status = http.StatusNotFound
		answer = object{{"error", missingText(missing)}, {"status", status}}
	}
	for _, m := range eachIndex(found, func(s catalog.Status) object { return aliasesJSON(s.Aliases, wanted) }) {
		if c.name("name") == "" || len(m.value.(object)) > 0 {
			answer.add(m.name, object{{"aliases", m.value}})
		}
	}
	return c.answer(status, answer)
}

func missingText(missing []string) string {
	word := "alias"
	if len(missing) > 1 {
		word = "aliases"
	}
	return word + " [" + strings.Join(missing, ",") + "] missing"
}

// missingAliases are the names, and not the patterns, of a list that no index
// has, sorted. A name that the list takes away again is not missed.
func missingAliases(found []catalog.Status, wanted []string) []string {
	present := map[string]bool{}
	for _, s := range found {
		for name := range s.Aliases {
			present[name] = true
		}
	}
	wild := slices.IndexFunc(wanted, isPattern)
	if wild < 0 {
		wild = len(wanted)
	}
	var missing []string
	for i, name := range wanted {
		named := name != "_all" && !isPattern(name) && (i <= wild || !strings.HasPrefix(name, "-"))
		if named && !present[name] && !takenAway(wanted[max(i+1, min(wild, len(wanted))):], name) {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

func takenAway(list []string, name string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		rest, minus := strings.CutPrefix(entry, "-")
		return minus && (rest == "_all" || wildcard.Match(rest, name))
	})
}

// aliasesJSON shows the aliases of an index that a list of names means; nil: all.
func aliasesJSON(aliases map[string]catalog.Alias, wanted []string) object {
	o := object{}
	for _, name := range slices.Sorted(maps.Keys(aliases)) {
		if chosen(wanted, name) {
			o.add(name, aliasJSON(aliases[name]))
		}
	}
	return o
}

func aliasJSON(a catalog.Alias) object {
	o := object{}
	if len(a.Filter) > 0 {
		o.add("filter", a.Filter)
	}
	if a.IndexRouting != "" {
		o.add("index_routing", a.IndexRouting)
	}
	if a.SearchRouting != "" {
		o.add("search_routing", a.SearchRouting)
	}
	if a.WriteIndex != nil {
		o.add("is_write_index", *a.WriteIndex)
	}
	if a.Hidden != nil {
		o.add("is_hidden", *a.Hidden)
	}
	return o
}

// putAlias takes the index and the alias out of the path, or out of the body, which
// wins.
func (c *call) putAlias() error {
	body, err := c.content()
	if err != nil {
		return err
	}
	e := catalog.Expression{Names: splitList(c.name("index")), Options: changedOnes}
	if err := c.s.store.PutAlias(c.ctx(), e, c.name("name"), body); err != nil {
		return err
	}
	return c.acknowledge()
}

func (c *call) deleteAliases() error {
	e := catalog.Expression{Names: splitList(c.name("index")), Options: changedOnes}
	if err := c.s.store.DeleteAliases(c.ctx(), e, splitList(c.name("name"))); err != nil {
		return err
	}
	return c.acknowledge()
}

func (c *call) updateAliases() error {
	body, err := c.required()
	if err != nil {
		return err
	}
	if err := c.s.store.UpdateAliases(c.ctx(), body); err != nil {
		return err
	}
	return c.acknowledge()
}
