package gateway

import (
	"encoding/json"
	"net/http"

	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

const putMappingParams = patienceParams + expressionParams + "write_index_only"

var mappingRoutes = []route{
	{"GET", "/_mapping", patienceParams + expressionParams + "local", patient((*call).getMapping)},
	{"GET", "/_mappings", patienceParams + expressionParams + "local", patient((*call).getMapping)},
	{"GET", "/{index}/_mapping", patienceParams + expressionParams + "local", patient((*call).getMapping)},
	{"GET", "/{index}/_mappings", patienceParams + expressionParams + "local", patient((*call).getMapping)},
	{"PUT POST", "/{index}/_mapping", putMappingParams, patient((*call).putMapping)},
	{"PUT POST", "/{index}/_mappings", putMappingParams, patient((*call).putMapping)},
	{"GET", "/_mapping/field/{fields}", expressionParams + "include_defaults local", (*call).getFieldMapping},
	{"GET", "/{index}/_mapping/field/{fields}", expressionParams + "include_defaults local", (*call).getFieldMapping},
	{"GET", "/_settings", patienceParams + expressionParams + settingsParams + "local", patient((*call).getSettings)},
	{"GET", "/_settings/{name}", patienceParams + expressionParams + settingsParams + "local", patient((*call).getSettings)},
	{"GET", "/{index}/_settings", patienceParams + expressionParams + settingsParams + "local", patient((*call).getSettings)},
	{"GET", "/{index}/_settings/{name}", patienceParams + expressionParams + settingsParams + "local", patient((*call).getSettings)},
	{"GET", "/{index}/_setting/{name}", patienceParams + expressionParams + settingsParams + "local", patient((*call).getSettings)},
	{"PUT", "/_settings", patienceParams + expressionParams + "preserve_existing flat_settings", patient((*call).putSettings)},
	{"PUT", "/{index}/_settings", patienceParams + expressionParams + "preserve_existing flat_settings", patient((*call).putSettings)},
}

func (c *call) getMapping() error {
	found, err := c.metadata(openOnes)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, eachIndex(found, func(s catalog.Status) object {
		return object{{"mappings", mappingJSON(s)}}
	}))
}

// mappingJSON is the mapping of an index; one without fields is {}.
func mappingJSON(s catalog.Status) json.RawMessage {
	if len(s.Mapping) == 0 {
		return json.RawMessage("{}")
	}
	return s.Mapping
}

func (c *call) putMapping() error {
	body, err := c.required()
	if err != nil {
		return err
	}
	e, err := c.expression("index", changedOnes)
	if err != nil {
		return err
	}
	writeIndexOnly, err := c.boolean("write_index_only", false)
	if err != nil {
		return err
	}
	if err := c.s.store.PutMapping(c.ctx(), e, body, writeIndexOnly); err != nil {
		return err
	}
	return c.acknowledge()
}

func (c *call) getFieldMapping() error {
	defaults, err := c.boolean("include_defaults", false)
	if err != nil {
		return err
	}
	mappings, err := c.mappings(openOnes, catalog.ReadMetadata)
	if err != nil {
		return err
	}
	found := make(map[string]object, len(mappings))
	for name, m := range mappings {
		if found[name], err = inServerOrder(m.FieldMappings(c.name("fields"), defaults)); err != nil {
			return err
		}
	}
	answer := object{}
	for _, name := range serverOrder(found, usualTable) {
		answer.add(name, object{{"mappings", found[name]}})
	}
	if len(answer) == 0 {
		return c.answer(http.StatusNotFound, answer)
	}
	return c.answer(http.StatusOK, answer)
}

// mappings are those of the indices in the path, but for indices whose settings
// block the access: where fields are asked for, those are passed over.
func (c *call) mappings(defaults catalog.Options, access catalog.Access) (map[string]*mapping.Mapping, error) {
	found, err := c.status(defaults)
	if err != nil {
		return nil, err
	}
	mappings := make(map[string]*mapping.Mapping, len(found))
	for _, s := range found {
		if m, ok := c.s.store.Mapping(s.Name); ok && catalog.Blocked(s.Name, s.Settings, access) == nil {
			mappings[s.Name] = m
		}
	}
	return mappings, nil
}

func (c *call) getSettings() error {
	look, err := c.settingsLook()
	if err != nil {
		return err
	}
	found, err := c.metadata(openClosed)
	if err != nil {
		return err
	}
	patterns := c.names("name")
	answer := object{}
	for _, m := range eachIndex(found, func(s catalog.Status) object { return settingsOf(s, patterns, look) }) {
		if len(m.value.(object)[0].value.(object)) > 0 { // an index without any of the wanted settings is left out
			answer = append(answer, m)
		}
	}
	return c.answer(http.StatusOK, answer)
}

func settingsOf(s catalog.Status, patterns []string, look settingsLook) object {
	o := object{{"settings", settingsJSON(chosenSettings(shownSettings(s, look), patterns), look)}}
	if look.defaults {
		o.add("defaults", settingsJSON(chosenSettings(catalog.Defaults(s.Settings), patterns), look))
	}
	return o
}

func (c *call) putSettings() error {
	preserve, err := c.boolean("preserve_existing", false)
	if err != nil {
		return err
	}
	body, err := c.required()
	if err != nil {
		return err
	}
	e, err := c.expression("index", changedOnes)
	if err != nil {
		return err
	}
	if err := c.s.store.PutSettings(c.ctx(), e, body, preserve); err != nil {
		return err
	}
	return c.acknowledge()
}
