package migrate

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
	"github.com/reshelve/reshelve/snapshot"
)

// TemplateKind is a kind of template, as plans, records and ledgers name it.
type TemplateKind string

// The kinds, in the order in which they are made: a composable template needs its components.
const (
	ComponentTemplate  TemplateKind = "component-template"
	ComposableTemplate TemplateKind = "template"
	LegacyTemplate     TemplateKind = "legacy-template"
)

// TemplateKinds are all kinds, in the order in which they are made.
var TemplateKinds = []TemplateKind{ComponentTemplate, ComposableTemplate, LegacyTemplate}

// onTarget is what package cluster calls the kind.
func (k TemplateKind) onTarget() cluster.TemplateKind {
	switch k {
	case ComponentTemplate:
		return cluster.ComponentTemplate
	case ComposableTemplate:
		return cluster.ComposableTemplate
	}
	return cluster.LegacyTemplate
}

// Template is one template of the plan.
type Template struct {
	Kind TemplateKind `json:"kind"`
	Name string       `json:"name"`
}

// Choice says which templates of a snapshot are moved. The zero value of a kind's patterns is
// the default: all of the kind, or, when not all indices are moved, those that apply to one
// that is, with the components that they are made of. What servers install themselves goes
// along only when a pattern names it: a name with a dot in front, `_meta.managed`, and
// templates of nothing but indices with a dot in front.
type Choice struct {
	Patterns map[TemplateKind][]string
	// None leaves all templates out.
	None bool
	// For are the names that templates must apply to by default; nil: any.
	For []string
}

// part is what is read of a template to choose it.
type part struct {
	Patterns   json.RawMessage `json:"index_patterns"`
	Pattern    string          `json:"template"` // up to 5.x
	Components []string        `json:"composed_of"`
	Meta       struct {
		Managed json.RawMessage `json:"managed"`
	} `json:"_meta"`
	Stream json.RawMessage `json:"data_stream"`
}

// stream reports whether the template makes data streams.
func (p *part) stream() bool { return len(p.Stream) > 0 && string(p.Stream) != "null" }

// Templates are the templates of a snapshot's global state that are chosen, in the order in
// which they are made. A pattern that names none is fault.NotFound.
func (c Choice) Templates(g *snapshot.Global) ([]Template, error) {
	if c.None {
		return nil, nil
	}
	chosen, needed := []Template{}, map[string]bool{}
	for _, kind := range []TemplateKind{LegacyTemplate, ComposableTemplate, ComponentTemplate} {
		bodies, err := templatesOf(g, kind)
		if err != nil {
			return nil, err
		}
		names := slices.Sorted(maps.Keys(bodies))
		if err := c.named(kind, names); err != nil {
			return nil, err
		}
		for _, name := range names {
			p := readPart(bodies[name])
			part := kind == ComponentTemplate && len(c.Patterns[kind]) == 0 && needed[name]
			if !part && !c.takes(kind, name, &p) {
				continue
			}
			chosen = append(chosen, Template{kind, name})
			for _, component := range p.Components {
				needed[component] = true
			}
		}
	}
	slices.SortStableFunc(chosen, func(a, b Template) int {
		return slices.Index(TemplateKinds, a.Kind) - slices.Index(TemplateKinds, b.Kind)
	})
	return chosen, nil
}

// StreamTemplates are those of the templates that make data streams, and their components.
func StreamTemplates(g *snapshot.Global, templates []Template) (map[Template]bool, error) {
	bodies, err := templatesOf(g, ComposableTemplate)
	if err != nil {
		return nil, err
	}
	first, needed := map[Template]bool{}, map[string]bool{}
	for _, t := range templates {
		if t.Kind != ComposableTemplate {
			continue
		}
		if p := readPart(bodies[t.Name]); p.stream() {
			first[t] = true
			for _, component := range p.Components {
				needed[component] = true
			}
		}
	}
	for _, t := range templates {
		if t.Kind == ComponentTemplate && needed[t.Name] {
			first[t] = true
		}
	}
	return first, nil
}

// named refuses patterns that name nothing, so that a misspelt one is not an empty plan.
func (c Choice) named(kind TemplateKind, names []string) error {
	for _, pattern := range c.Patterns[kind] {
		if !slices.ContainsFunc(names, func(name string) bool { return wildcard.Match(pattern, name) }) {
			err := fault.New(fault.NotFound, "no %s of the snapshot fits %q", kind, pattern)
			if len(names) == 0 {
				return fault.WithNext(err, "it holds none: templates are in snapshots that were made with the global state")
			}
			return fault.WithNext(err, "it holds %s", strings.Join(names[:min(len(names), 20)], ", "))
		}
	}
	return nil
}

// takes tells whether a template is moved by its own name or by what it applies to.
func (c Choice) takes(kind TemplateKind, name string, p *part) bool {
	for _, pattern := range c.Patterns[kind] {
		if wildcard.Match(pattern, name) && (!strings.HasPrefix(name, ".") || strings.HasPrefix(pattern, ".")) {
			return true
		}
	}
	if len(c.Patterns[kind]) > 0 || p.private(kind, name) {
		return false
	}
	if c.For == nil {
		return true
	}
	return kind != ComponentTemplate && slices.ContainsFunc(c.For, func(index string) bool {
		return slices.ContainsFunc(p.patterns(), func(pattern string) bool { return wildcard.Match(pattern, index) })
	})
}

// private tells whether a server made the template for itself.
func (p *part) private(kind TemplateKind, name string) bool {
	if strings.HasPrefix(name, ".") || string(p.Meta.Managed) == "true" {
		return true
	}
	dotted := func(pattern string) bool { return strings.HasPrefix(pattern, ".") }
	patterns := p.patterns()
	return kind != ComponentTemplate && len(patterns) > 0 && !slices.ContainsFunc(patterns, func(s string) bool { return !dotted(s) })
}

func (p *part) patterns() []string {
	var many []string
	if json.Unmarshal(p.Patterns, &many) == nil && len(many) > 0 {
		return many
	}
	var one string
	if json.Unmarshal(p.Patterns, &one) == nil && one != "" {
		return []string{one}
	}
	if p.Pattern != "" {
		return []string{p.Pattern}
	}
	return nil
}

// readPart reads what there is: of a composable template, "template" is an object.
func readPart(body json.RawMessage) (p part) {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return p
	}
	p.Patterns = members["index_patterns"]
	_ = json.Unmarshal(members["template"], &p.Pattern)
	_ = json.Unmarshal(members["composed_of"], &p.Components)
	_ = json.Unmarshal(members["_meta"], &p.Meta)
	p.Stream = members["data_stream"]
	return p
}

// templatesOf are the templates of a kind by name.
func templatesOf(g *snapshot.Global, kind TemplateKind) (map[string]json.RawMessage, error) {
	data := map[TemplateKind]json.RawMessage{
		LegacyTemplate: g.Templates, ComposableTemplate: g.ComposableTemplates, ComponentTemplate: g.ComponentTemplates,
	}[kind]
	bodies := map[string]json.RawMessage{}
	if len(data) == 0 {
		return bodies, nil
	}
	if err := json.Unmarshal(data, &bodies); err != nil {
		return nil, fault.New(fault.Corrupt, "the %ss of the snapshot are not understood: %w", kind, err)
	}
	return bodies, nil
}

// TranslateTemplate is the body that makes a template of the plan on the target, and every
// change that the rules of package translate make to it.
func TranslateTemplate(ctx context.Context, from *snapshot.Snapshot, g *snapshot.Global, target *cluster.Client, m Metadata, t Template) (body translate.Body, err error) {
	bodies, err := templatesOf(g, t.Kind)
	if err != nil {
		return body, err
	}
	route, err := routeOf(ctx, from, g, target, m)
	if err != nil {
		return body, err
	}
	data, there := bodies[t.Name]
	switch {
	case !there:
		err = fault.New(fault.NotFound, "the snapshot holds no %s of that name", t.Kind)
	case t.Kind == ComponentTemplate:
		body, err = route.ComponentTemplate(t.Name, data)
	case t.Kind == ComposableTemplate:
		body, err = route.Template(t.Name, data)
	default:
		body, err = route.LegacyTemplate(t.Name, data)
	}
	if err != nil {
		return body, fault.At(err, string(t.Kind)+" "+t.Name)
	}
	return body, nil
}

// routeOf is the route of what belongs to no index: the server that made the snapshot is told
// by its version and by any index.
func routeOf(ctx context.Context, from *snapshot.Snapshot, g *snapshot.Global, target *cluster.Client, m Metadata) (r translate.Route, err error) {
	server, err := target.Server(ctx)
	if err != nil {
		return r, err
	}
	r = translate.Route{Types: m.Types, To: serverOf(server)}
	var settings map[string]string
	if len(from.Indices) > 0 {
		idx, err := from.Index(ctx, from.Indices[0])
		if err != nil && !fault.Is(err, fault.NotFound) {
			return r, err
		}
		if err == nil {
			settings = idx.Setting
		}
	}
	r.From = translate.SnapshotBy(from.Version, settings)
	if settings == nil && r.From.Major < 5 && len(g.ComposableTemplates)+len(g.ComponentTemplates) > 0 {
		r.From.Product = "opensearch" // those of Elasticsearch came with 7.8
	}
	return r, nil
}

// serverOf is a target as package translate knows it.
func serverOf(s *cluster.Server) translate.Server {
	return translate.Server{Product: string(s.Product), Major: s.Version.Major, Minor: s.Version.Minor}
}
