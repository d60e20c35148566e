package catalog

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// backing begins the names of the indices behind data streams.
const backing = ".ds-"

// Compose is what a new index becomes: the request on top of the templates for its
// name. The template's index settings, then the request's; mappings the lowest first.
func (c Catalog) Compose(index string, r Request) (Creation, error) {
	if err := c.Available(index); err != nil {
		return Creation{}, err
	}
	if err := CheckIndexName(index); err != nil {
		return Creation{}, err
	}
	creation, err := c.compose(index, r)
	if err != nil {
		return creation, err
	}
	return creation, creation.complete(index)
}

func (c Catalog) compose(index string, r Request) (Creation, error) {
	t, ok := c.composableFor(index, r.settings.values()["index.hidden"] == "true")
	switch {
	case !ok:
		return c.composeLegacy(index, r), nil
	case t.stream:
		return Creation{}, illegal("cannot create index with name [%s], because it matches with template [%s] that creates data streams only,"+
			" use create data stream api instead", index, t.name)
	}
	return c.composeWith(t, index, "", r), nil
}

// composeWith is what an index becomes by one template; stream is the data stream
// that it backs.
func (c Catalog) composeWith(t composable, index, stream string, r Request) Creation {
	creation := Creation{Settings: map[string]string{}, Aliases: map[string]Alias{}}
	maps.Copy(creation.Aliases, r.aliases)
	parts := c.parts(t)
	for _, part := range parts {
		creation.Settings = part.settings.onto(creation.Settings)
	}
	creation.Settings = r.settings.onto(creation.Settings)
	for _, part := range slices.Backward(parts) {
		addAliases(creation.Aliases, part.aliases, index)
	}
	creation.Mappings = c.mappingsOf(t, stream)
	if r.mappings != nil {
		creation.Mappings = append(creation.Mappings, r.mappings)
	}
	return creation
}

// parts are the components of a template in their order, then the template itself.
func (c Catalog) parts(t composable) []Request {
	var parts []Request
	for _, name := range t.composedOf {
		parts = append(parts, readComponent(c.Components[name]).Request)
	}
	return append(parts, t.Request)
}

// mappingsOf are the mappings that a template composes, the lowest first; for an index
// behind a data stream, its timestamp field too.
func (c Catalog) mappingsOf(t composable, stream string) []json.RawMessage {
	var list []json.RawMessage
	if stream != "" {
		list = append(list, json.RawMessage(`{"properties":{`+string(token.AppendString(nil, t.timestamp))+`:{"type":"date"}}}`))
	}
	for _, part := range c.parts(t) {
		if part.mappings != nil {
			list = append(list, part.mappings)
		}
	}
	if stream == "" {
		return list
	}
	field := ""
	if t.timestamp != "@timestamp" {
		field = `,"timestamp_field":{"name":` + string(token.AppendString(nil, t.timestamp)) + `}`
	}
	return append(list, json.RawMessage(`{"_data_stream_timestamp":{"enabled":true`+field+`}}`))
}

// complete puts the settings that every index has, and refuses what does not go
// together.
func (cr *Creation) complete(index string) error {
	for name, value := range map[string]string{"index.number_of_shards": "1", "index.number_of_replicas": "1", "index.replication.type": "DOCUMENT"} {
		if _, set := cr.Settings[name]; !set {
			cr.Settings[name] = value
		}
	}
	if err := checkNew(index, cr.Settings); err != nil {
		return err
	}
	return checkCopies(cr.Settings)
}

// Sign puts the settings that the store itself gives an index: how it was named, who it
// is and since when.
func (cr *Creation) Sign(provided, uuid string, created time.Time) {
	cr.Settings["index.provided_name"] = provided
	cr.Settings["index.uuid"] = uuid
	cr.Settings["index.creation_date"] = strconv.FormatInt(created.UnixMilli(), 10)
	cr.Settings["index.version.created"] = byName["index.version.created"].fallback
}

// Simulation is what would come of templates.
type Simulation struct {
	Settings    map[string]string
	Mappings    []json.RawMessage // merged in order
	Aliases     map[string]Alias
	Overlapping []Overlap
}

// Overlap is a template that matches too and yields.
type Overlap struct {
	Name     string   `json:"name"`
	Patterns []string `json:"index_patterns"`
}

// SimulateIndex is what an index of the name would get from templates; body may hold
// one more template. False when no template matches.
func (c Catalog) SimulateIndex(index string, body []byte, uuid string, merge Merge) (Simulation, bool, error) {
	c, _, err := c.withSimulated("", body, true, uuid, merge)
	if err != nil {
		return Simulation{}, false, err
	}
	t, ok := c.composableFor(index, false)
	if !ok {
		return Simulation{}, false, nil
	}
	return c.simulate(t, index), true, nil
}

// SimulateTemplate is what a template gives to indices: the one in body, as if it were put under
// the name, or the one of the name. With create, one of body must be new.
func (c Catalog) SimulateTemplate(name string, body []byte, create bool, uuid string, merge Merge) (Simulation, error) {
	n, err := parseBody(body)
	if err != nil {
		return Simulation{}, err
	}
	if name == "" && n == nil {
		return Simulation{}, actionInvalid("either index name or index template body must be specified for simulation")
	}
	c, added, err := c.withSimulated(name, body, create, uuid, merge)
	if err != nil {
		return Simulation{}, err
	}
	if n != nil {
		name = added
	}
	raw, ok := c.Composable[name]
	if !ok {
		return Simulation{}, illegal("unable to simulate template [%s] that does not exist", name)
	}
	return c.simulate(readComposable(name, raw), name), nil
}

// withSimulated is the catalog with a template that is only tried: in the place of the one of
// that name, or under a name of its own when that is "".
func (c Catalog) withSimulated(name string, body []byte, create bool, uuid string, merge Merge) (Catalog, string, error) {
	n, err := parseBody(body)
	if err != nil || n == nil {
		return c, "", err
	}
	if name == "" {
		name = "simulate_template_" + strings.ToLower(uuid)
	}
	next, err := c.WithComposable(name, body, create, merge)
	return next, name, err
}

func (c Catalog) simulate(t composable, index string) Simulation {
	creation := c.composeWith(t, index, "", Request{})
	s := Simulation{Settings: creation.Settings, Mappings: creation.Mappings, Aliases: creation.Aliases, Overlapping: []Overlap{}}
	for _, name := range slices.Sorted(maps.Keys(c.Legacy)) {
		old := legacy{name: name}
		_ = old.read(stored(c.Legacy[name])) // it was read before it was stored
		if overlapAny(t.patterns, old.patterns) {
			s.Overlapping = append(s.Overlapping, Overlap{name, old.patterns})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Composable)) {
		other := readComposable(name, c.Composable[name])
		if name != t.name && overlapAny(t.patterns, other.patterns) {
			s.Overlapping = append(s.Overlapping, Overlap{name, other.patterns})
		}
	}
	return s
}

// JSON is the simulation as the server shows it; mappings are merged by merge.
func (s Simulation) JSON(merge Merge) ([]byte, error) {
	mappings, err := merge(s.Settings, s.Mappings)
	if err != nil {
		return nil, err
	}
	out := append([]byte(`{"template":{"settings":`), RenderSettings(s.Settings, false)...)
	if string(mappings) != "{}" {
		out = append(append(out, `,"mappings":`...), mappings...)
	}
	overlapping, err := json.Marshal(s.Overlapping)
	out = append(append(out, `,"aliases":`...), renderAliases(s.Aliases)...)
	out = append(append(out, `},"overlapping":`...), overlapping...)
	return append(out, '}'), err
}
