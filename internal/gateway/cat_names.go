package gateway

import (
	"encoding/json"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

var aliasColumns = []column{
	{"alias", "a", "alias name", 0},
	{"index", "i,idx", "index alias points to", 0},
	{"filter", "f,fi", "filter", 0},
	{"routing.index", "ri,routingIndex", "index routing", 0},
	{"routing.search", "rs,routingSearch", "search routing", 0},
	{"is_write_index", "w,isWriteIndex", "write index", 0},
}

func (c *call) catAliases() error {
	return c.show(aliasColumns, func() ([][]any, error) {
		e, err := c.expression("", allOfThem)
		if err != nil {
			return nil, err
		}
		found, err := c.s.store.Status(c.ctx(), e)
		if err == nil {
			err = showable(found)
		}
		if err != nil {
			return nil, err
		}
		var rows [][]any
		wanted := c.names("alias")
		for _, m := range eachIndex(found, func(s catalog.Status) object { return aliasRows(s, wanted) }) {
			for _, row := range m.value.(object) {
				rows = append(rows, row.value.([]any))
			}
		}
		return rows, nil
	})
}

// aliasRows are the rows of the aliases of an index, each under its name.
func aliasRows(s catalog.Status, wanted []string) object {
	o := object{}
	for _, name := range sortedNames(s.Aliases) {
		if !chosen(wanted, name) {
			continue
		}
		a := s.Aliases[name]
		filter, write := "-", "-"
		if len(a.Filter) > 0 {
			filter = "*"
		}
		if a.WriteIndex != nil {
			write = "false"
			if *a.WriteIndex {
				write = "true"
			}
		}
		o.add(name, []any{name, s.Name, filter, orDash(a.IndexRouting), orDash(a.SearchRouting), write})
	}
	return o
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

var templateColumns = []column{
	{"name", "n", "template name", 0},
	{"index_patterns", "t", "template index patterns", 0},
	{"order", "o,p", "template application order/priority number", 0},
	{"version", "v", "version", 0},
	{"composed_of", "c", "component templates comprising index template", 0},
}

// catalogued is what _cat/templates reads of a template of either kind.
type catalogued struct {
	IndexPatterns []string `json:"index_patterns"`
	Order         int64    `json:"order"`
	Priority      int64    `json:"priority"`
	Version       *int64   `json:"version"`
	ComposedOf    []string `json:"composed_of"`
}

func (c *call) catTemplates() error {
	return c.show(templateColumns, func() ([][]any, error) {
		known := c.s.store.Catalog()
		wanted := c.name("name")
		var rows [][]any
		for _, name := range serverOrder(known.Legacy, usualTable) {
			if wanted == "" || wildcard.Match(wanted, name) {
				t := readTemplate(known.Legacy[name])
				rows = append(rows, []any{name, listInWords(t.IndexPatterns), t.Order, orNothing(t.Version), ""})
			}
		}
		for _, name := range serverOrder(known.Composable, copiedTable(len(known.Composable))) {
			if wanted == "" || wildcard.Match(wanted, name) {
				t := readTemplate(known.Composable[name])
				rows = append(rows, []any{name, listInWords(t.IndexPatterns), t.Priority, orNothing(t.Version), listInWords(t.ComposedOf)})
			}
		}
		return rows, nil
	})
}

func readTemplate(kept json.RawMessage) catalogued {
	var t catalogued
	_ = json.Unmarshal(kept, &t) // what the catalog keeps was checked when it came
	return t
}

func listInWords(list []string) string { return "[" + strings.Join(list, ", ") + "]" }

func orNothing(n *int64) any {
	if n == nil {
		return nil
	}
	return *n
}
