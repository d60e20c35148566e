package gateway

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

const putTemplateParams = patienceParams + "create cause order"

var templateRoutes = []route{
	{"GET", "/_template", patienceParams + "flat_settings local", patient((*call).getLegacyTemplates)},
	{"GET HEAD", "/_template/{name}", patienceParams + "flat_settings local", patient((*call).getLegacyTemplates)},
	{"PUT POST", "/_template/{name}", putTemplateParams, patient((*call).putLegacyTemplate)},
	{"DELETE", "/_template/{name}", patienceParams, patient((*call).deleteLegacyTemplates)},

	{"GET", "/_index_template", patienceParams + "flat_settings local", patient((*call).getIndexTemplates)},
	{"GET HEAD", "/_index_template/{name}", patienceParams + "flat_settings local", patient((*call).getIndexTemplates)},
	{"PUT POST", "/_index_template/{name}", putTemplateParams, patient((*call).putIndexTemplate)},
	{"DELETE", "/_index_template/{name}", patienceParams, patient((*call).deleteIndexTemplates)},
	{"POST", "/_index_template/_simulate_index/{name}", putTemplateParams, patient((*call).simulateIndex)},
	{"POST", "/_index_template/_simulate", putTemplateParams, patient((*call).simulateTemplate)},
	{"POST", "/_index_template/_simulate/{name}", putTemplateParams, patient((*call).simulateTemplate)},

	{"GET", "/_component_template", patienceParams + "local", patient((*call).getComponents)},
	{"GET HEAD", "/_component_template/{name}", patienceParams + "flat_settings local", patient((*call).getComponents)},
	{"PUT POST", "/_component_template/{name}", putTemplateParams, patient((*call).putComponent)},
	{"DELETE", "/_component_template/{name}", patienceParams, patient((*call).deleteComponents)},
}

// templateJSON shows a template, as the catalog keeps it, with its settings as a
// tree or flat. The catalog keeps members in the server's order.
func templateJSON(kept json.RawMessage, look settingsLook) (any, error) {
	members, err := readObject(kept)
	if err != nil {
		return nil, err
	}
	for i, m := range members {
		raw := m.value.(json.RawMessage)
		switch m.name {
		case "settings":
			settings, err := flatSettings(raw)
			if err != nil {
				return nil, err
			}
			members[i].value = settingsJSON(settings, look)
		case "aliases":
			aliases, err := inServerOrder(raw)
			if err != nil {
				return nil, err
			}
			members[i].value = aliases
		case "template":
			inner, err := templateJSON(raw, look)
			if err != nil {
				return nil, err
			}
			members[i].value = inner
		}
	}
	return members, nil
}

func (c *call) getLegacyTemplates() error {
	look, err := c.settingsLook()
	if err != nil {
		return err
	}
	kept := c.s.store.Catalog().Legacy
	found := map[string]json.RawMessage{}
	for name, template := range kept {
		if wanted := c.names("name"); wanted == nil || wildcard.MatchAny(wanted, name) {
			found[name] = template
		}
	}
	status := http.StatusOK
	if len(found) == 0 && c.name("name") != "" {
		status = http.StatusNotFound
	}
	answer := object{}
	for _, name := range serverOrder(found, usualTable) {
		template, err := templateJSON(found[name], look)
		if err != nil {
			return err
		}
		answer.add(name, template)
	}
	return c.answer(status, answer)
}

func (c *call) getIndexTemplates() error {
	return c.listTemplates(c.s.store.Catalog().Composable, "index_templates", "index_template", "index template")
}

func (c *call) getComponents() error {
	return c.listTemplates(c.s.store.Catalog().Components, "component_templates", "component_template", "component template")
}

// listTemplates shows the templates of a kind that one name or pattern means.
func (c *call) listTemplates(kept map[string]json.RawMessage, list, one, kind string) error {
	wanted := c.name("name")
	found := map[string]json.RawMessage{}
	for name, template := range kept {
		if wanted == "" || wildcard.Match(wanted, name) {
			found[name] = template
		}
	}
	if len(found) == 0 && wanted != "" && !isPattern(wanted) {
		return exception.New(exception.ResourceNotFound, "%s matching [%s] not found", kind, wanted)
	}
	templates := array{}
	for _, name := range serverOrder(found, copiedTable(len(kept))) {
		template, err := templateJSON(found[name], settingsLook{})
		if err != nil {
			return err
		}
		templates = append(templates, object{{"name", name}, {one, template}})
	}
	return c.answer(http.StatusOK, object{{list, templates}})
}

// putTemplate hands a template to the store.
func (c *call) putTemplate(put func(ctx context.Context, name string, body []byte, create bool) error) error {
	create, err := c.boolean("create", false)
	if err != nil {
		return err
	}
	body, err := c.required()
	if err != nil {
		return err
	}
	if err := put(c.ctx(), c.name("name"), body, create); err != nil {
		return err
	}
	return c.acknowledge()
}

func (c *call) putLegacyTemplate() error { return c.putTemplate(c.s.store.PutLegacyTemplate) }
func (c *call) putIndexTemplate() error  { return c.putTemplate(c.s.store.PutIndexTemplate) }
func (c *call) putComponent() error      { return c.putTemplate(c.s.store.PutComponentTemplate) }

func (c *call) deleteTemplates(remove func(ctx context.Context, name string) error) error {
	if err := remove(c.ctx(), c.name("name")); err != nil {
		return err
	}
	return c.acknowledge()
}

func (c *call) deleteLegacyTemplates() error {
	return c.deleteTemplates(c.s.store.DeleteLegacyTemplates)
}
func (c *call) deleteIndexTemplates() error { return c.deleteTemplates(c.s.store.DeleteIndexTemplates) }
func (c *call) deleteComponents() error     { return c.deleteTemplates(c.s.store.DeleteComponentTemplates) }

func (c *call) simulateIndex() error {
	return c.simulate(c.s.store.SimulateIndex)
}

func (c *call) simulateTemplate() error {
	create, err := c.boolean("create", false)
	if err != nil {
		return err
	}
	return c.simulate(func(ctx context.Context, name string, body []byte) ([]byte, error) {
		return c.s.store.SimulateTemplate(ctx, name, body, create)
	})
}

func (c *call) simulate(simulation func(ctx context.Context, name string, body []byte) ([]byte, error)) error {
	body, err := c.content()
	if err != nil {
		return err
	}
	if c.name("name") == "" && len(body) == 0 {
		return exception.New(exception.ActionRequestValidation,
			"Validation Failed: 1: either index name or index template body must be specified for simulation;")
	}
	out, err := simulation(c.ctx(), c.name("name"), body)
	if err != nil {
		return err
	}
	template, err := templateJSON(out, settingsLook{})
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, template)
}

// sortedNames are the keys of a map, sorted.
func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
