package migrate

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// Applied is what templates of the target do to an index when it is made there.
type Applied struct {
	Index string `json:"index"`
	// Templates are those that apply: one composable template, or else all legacy ones that fit, the weakest first.
	Templates []AppliedTemplate `json:"templates"`
	// Adds are what the index gets from the templates, besides what the request that makes it says.
	Adds []Addition `json:"adds,omitempty"`
	// DefaultPipeline and FinalPipeline are the ingest pipelines of the index, whether the request or a template names them.
	DefaultPipeline string `json:"defaultPipeline,omitempty"`
	FinalPipeline   string `json:"finalPipeline,omitempty"`

	// Aliases are those that templates give to the index.
	Aliases map[string]json.RawMessage `json:"-"`
}

// AppliedTemplate is a template that applies to an index.
type AppliedTemplate struct {
	Template
	// Priority is that of a composable template, and the order of a legacy one.
	Priority   int64    `json:"priority"`
	Components []string `json:"components,omitempty"`
	// Streams: the template is for data streams, so that the target refuses to make an index whose name fits it.
	Streams bool `json:"streams,omitempty"`
}

// Addition is what a template adds to an index.
type Addition struct {
	Template string `json:"template"`
	Where    string `json:"where"`
	What     string `json:"what"`
}

// TargetTemplates are the templates of a target.
type TargetTemplates struct {
	bodies  map[Template]json.RawMessage
	applies []candidate // all but component templates
}

// candidate is a template with the patterns of the names that it applies to.
type candidate struct {
	AppliedTemplate
	patterns []string
}

// With is a copy with one more template, which replaces one of its kind and name.
func (all *TargetTemplates) With(t Template, body json.RawMessage) *TargetTemplates {
	more := &TargetTemplates{maps.Clone(all.bodies), slices.Clone(all.applies)}
	more.add(t, body)
	return more
}

func (all *TargetTemplates) add(t Template, body json.RawMessage) {
	all.bodies[t] = body
	if t.Kind == ComponentTemplate {
		return
	}
	p, rank := readPart(body), readRanks(body)
	a := candidate{AppliedTemplate{t, rank.Priority, p.Components, p.stream()}, p.patterns()}
	if t.Kind == LegacyTemplate {
		a.AppliedTemplate = AppliedTemplate{Template: t, Priority: rank.Order}
	}
	all.applies = append(slices.DeleteFunc(all.applies, func(other candidate) bool { return other.Template == t }), a)
}

// ReadTemplates reads all templates of a target.
func ReadTemplates(ctx context.Context, target *cluster.Client) (*TargetTemplates, error) {
	server, err := target.Server(ctx)
	if err != nil {
		return nil, err
	}
	all := &TargetTemplates{bodies: map[Template]json.RawMessage{}}
	for _, kind := range TemplateKinds {
		if kind != LegacyTemplate && server.Product == cluster.Elasticsearch && !server.Version.AtLeast(7, 8) {
			continue // it knows no templates of this kind
		}
		found, err := target.Templates(ctx, kind.onTarget(), "")
		if err != nil {
			return nil, fault.At(err, string(kind)+"s")
		}
		for _, name := range slices.Sorted(maps.Keys(found)) {
			all.add(Template{kind, name}, found[name])
		}
	}
	return all, nil
}

// layer is what one template, or one of its components, says of an index. Layers are laid upon each other.
type layer struct {
	template string
	settings map[string]string
	mappings map[string]any
	aliases  map[string]json.RawMessage
}

// bodyParts are what a request that makes an index, or a template, says of the index.
type bodyParts struct {
	Settings map[string]any             `json:"settings"`
	Mappings map[string]any             `json:"mappings"`
	Aliases  map[string]json.RawMessage `json:"aliases"`
}

// ranks are how strong a template is, and what it says of an index.
type ranks struct {
	Priority int64     `json:"priority"`
	Order    int64     `json:"order"`
	Template bodyParts `json:"template"`
}

// To is what the templates do to the index, or the data stream, that has the name and is made by a request with the body.
func (all *TargetTemplates) To(name string, body json.RawMessage) (*Applied, error) {
	var asked bodyParts
	if err := json.Unmarshal(body, &asked); err != nil {
		return nil, fault.Wrap(fault.Bug, err)
	}
	settings := flat(asked.Settings)
	a := &Applied{Index: name, Aliases: map[string]json.RawMessage{}}
	layers, err := all.layers(a, settings["index.hidden"] == "true")
	if err != nil {
		return nil, err
	}
	effective, by := map[string]string{}, map[string]string{}
	for _, l := range layers {
		for setting, value := range l.settings {
			effective[setting], by[setting] = value, l.template
		}
		for alias, properties := range l.aliases {
			alias = strings.ReplaceAll(alias, "{index}", name)
			a.Aliases[alias], by["alias "+alias] = properties, l.template
		}
	}
	for _, setting := range slices.Sorted(maps.Keys(effective)) {
		if _, own := settings[setting]; !own {
			a.Adds = append(a.Adds, Addition{by[setting], "settings." + setting, effective[setting]})
			settings[setting] = effective[setting]
		}
	}
	for i, l := range slices.Backward(layers) { // the strongest first: a weaker one adds only what is then still lacking
		a.addMappings(l.template, "mappings", l.mappings, asked.Mappings)
		if i > 0 {
			asked.Mappings = overlaid(asked.Mappings, l.mappings)
		}
	}
	for _, alias := range slices.Sorted(maps.Keys(a.Aliases)) {
		if _, own := asked.Aliases[alias]; !own {
			a.Adds = append(a.Adds, Addition{by["alias "+alias], "aliases." + alias, brief(a.Aliases[alias])})
		}
	}
	a.DefaultPipeline, a.FinalPipeline = pipelineNamed(settings["index.default_pipeline"]), pipelineNamed(settings[finalPipeline])
	return a, nil
}

// pipelineNamed is the name of a pipeline; "" for none.
func pipelineNamed(pipeline string) string {
	if pipeline == noPipeline {
		return ""
	}
	return pipeline
}

// layers are those of the templates that apply to the index, the weakest first, and it notes these templates in a. A template
// for all names does not apply to a hidden index.
func (all *TargetTemplates) layers(a *Applied, hidden bool) ([]layer, error) {
	var best *AppliedTemplate
	for i := range all.applies {
		t := &all.applies[i]
		if !slices.ContainsFunc(t.patterns, func(pattern string) bool { return wildcard.Match(pattern, a.Index) && (!hidden || pattern != "*") }) {
			continue
		}
		if t.Kind == LegacyTemplate {
			a.Templates = append(a.Templates, t.AppliedTemplate)
		} else if best == nil || t.Priority > best.Priority {
			best = &t.AppliedTemplate
		}
	}
	if best != nil {
		a.Templates = []AppliedTemplate{*best}
		return all.composed(best)
	}
	slices.SortFunc(a.Templates, func(x, y AppliedTemplate) int {
		return cmp.Or(cmp.Compare(x.Priority, y.Priority), cmp.Compare(x.Name, y.Name))
	})
	var layers []layer
	for _, t := range a.Templates {
		var parts bodyParts
		if err := json.Unmarshal(all.bodies[t.Template], &parts); err != nil {
			return nil, unreadable(t.Template, err)
		}
		layers = append(layers, layer{t.Name, flat(parts.Settings), parts.Mappings, parts.Aliases})
	}
	return layers, nil
}

// composed are the layers of a composable template: those of its components, in their order, and then its own.
func (all *TargetTemplates) composed(t *AppliedTemplate) (layers []layer, err error) {
	var parts []Template
	for _, component := range t.Components {
		parts = append(parts, Template{ComponentTemplate, component})
	}
	for _, part := range append(parts, t.Template) {
		body, there := all.bodies[part]
		if !there { // Elasticsearch lets a template name components that are yet to come
			continue
		}
		var whole ranks
		if err := json.Unmarshal(body, &whole); err != nil {
			return nil, unreadable(part, err)
		}
		layers = append(layers, layer{part.Name, flat(whole.Template.Settings), whole.Template.Mappings, whole.Template.Aliases})
	}
	return layers, nil
}

func unreadable(t Template, err error) error {
	return fault.New(fault.Corrupt, "the target's %s %s is not understood: %w", t.Kind, t.Name, err)
}

// readRanks reads priority and order, as far as the template has them.
func readRanks(body json.RawMessage) (r ranks) {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) == nil {
		_ = json.Unmarshal(members["priority"], &r.Priority)
		_ = json.Unmarshal(members["order"], &r.Order)
	}
	return r
}
