package translate

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
)

// Index is the requests that make an index on the target: one, or one for each mapping type
// where types are split. It is fault.Refused when the target takes no metadata of ours, or
// when there are several types and no choice; and fault.Corrupt when i is no metadata.
func (r Route) Index(i Index) ([]Body, error) {
	created, _ := CreatedBy(i.Settings)
	t, err := r.start(created)
	if err != nil {
		return nil, fault.At(err, i.Name)
	}
	mappings, err := t.mappings(i, r.typed(i))
	if err != nil {
		return nil, fault.At(err, i.Name)
	}
	shared := t.changes
	bodies := make([]Body, 0, len(mappings))
	for _, m := range mappings {
		one, _ := r.start(created)
		one.changes = slices.Clone(shared)
		body, err := one.index(i, m, len(mappings) > 1, r.Shards)
		if err != nil {
			return nil, fault.At(err, i.Name)
		}
		bodies = append(bodies, body)
	}
	return bodies, nil
}

// index is the request for one mapping.
func (t *translation) index(i Index, m typed, split bool, shards int) (Body, error) {
	body := Body{Name: m.index}
	members := []member{}
	if m.mapping != nil {
		t.mapping(m.mapping, "mappings")
	}
	all := map[string]setting{}
	for name, value := range i.Settings {
		all[name] = asSetting(value)
	}
	all = t.settings(all)
	if shards > 0 && all["index.number_of_shards"].text != strconv.Itoa(shards) {
		all["index.number_of_shards"] = setting{text: strconv.Itoa(shards)}
		delete(all, "index.number_of_routing_shards")
		t.tell("shards", "settings.index.number_of_shards", "becomes "+strconv.Itoa(shards))
	}
	members = append(members, member{"settings", t.settingsNode(all)})
	if m.mapping != nil {
		members = append(members, member{"mappings", m.mapping})
	}
	if len(i.Aliases) > 0 {
		aliases, err := parse(i.Aliases)
		if err != nil {
			return body, err
		}
		t.aliases(aliases, "aliases", split)
		members = append(members, member{"aliases", aliases})
	}
	body.JSON = newObject(members...).json()
	body.Changes = t.told()
	return body, nil
}

// settingsNode writes settings, with those that the mapping asks for.
func (t *translation) settingsNode(all map[string]setting) *node {
	if t.knn {
		all["index.knn"] = setting{text: "true"}
	}
	if t.stripped && all["index.analysis.analyzer."+stripAnalyzer+".type"].text == "" {
		t.strip(all, "index.analysis.analyzer."+stripAnalyzer+".")
		t.tell("standard-html-strip", "settings.index.analysis.analyzer."+stripAnalyzer, "is defined, for fields use it")
	}
	n := newObject()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		n.members = append(n.members, member{name, all[name].node()})
	}
	return n
}

// typed is the mapping of one index of the target.
type typed struct {
	index   string
	mapping *node // nil: none
}

// typed tells whether the mappings lie under the names of types: Elasticsearch 7 shows an
// index that an older one made without them, though it has them still.
func (r Route) typed(i Index) bool { return i.Types != nil && Servers("elasticsearch 1-6").Has(r.From) }

// mappings are the mappings without types.
func (t *translation) mappings(i Index, underTypes bool) ([]typed, error) {
	if len(i.Mappings) == 0 {
		return []typed{{i.Name, nil}}, nil
	}
	root, err := parse(i.Mappings)
	if err != nil {
		return nil, err
	}
	if !root.isObject() {
		return nil, fault.New(fault.Corrupt, "the mappings are no object")
	}
	if !underTypes {
		return []typed{{i.Name, root}}, nil
	}
	if root.take("_default_") != nil {
		t.tell("default-mapping", "mappings._default_", "left out")
	}
	slices.SortFunc(root.members, func(a, b member) int { return strings.Compare(a.key, b.key) })
	for _, m := range root.members {
		if !m.value.isObject() {
			return nil, fault.New(fault.Corrupt, "the mapping of the type %s is no object", m.key)
		}
	}
	switch {
	case len(root.members) == 0:
		return []typed{{i.Name, nil}}, nil
	case len(root.members) == 1:
		if name := root.members[0].key; name != "_doc" {
			t.tell("type-name", "mappings."+name, "is the mapping of the index")
		}
		return []typed{{i.Name, root.members[0].value}}, nil
	case t.types == MergeTypes:
		return []typed{{i.Name, t.merge(root)}}, nil
	case t.types == SplitTypes:
		return t.split(i.Name, root), nil
	}
	names := []string{}
	for _, m := range root.members {
		names = append(names, m.key)
	}
	err = fault.New(fault.Refused, "there are %d mapping types: %s", len(names), strings.Join(names, ", "))
	return nil, fault.WithNext(err, "choose with --types: one index for each type (split), or one with the fields of all (merge)")
}

// split makes an index of each type.
func (t *translation) split(name string, root *node) []typed {
	var all []typed
	names := placesOf(name, root)
	for _, m := range root.members {
		all = append(all, typed{names[m.key], m.value})
		t.tell("types-split", "mappings."+m.key, "is the index "+names[m.key])
	}
	return all
}

// placesOf are the indices of split types; the names of types may be no names of indices.
func placesOf(name string, root *node) map[string]string {
	names, taken := map[string]string{}, map[string]bool{name: true}
	for _, m := range root.members {
		clean := strings.Map(func(c rune) rune {
			if c < ' ' || strings.ContainsRune(` "*\<|,>/?#:`, c) {
				return '-'
			}
			return c
		}, strings.ToLower(m.key))
		place := name + "-" + clean
		for n := 2; taken[place]; n++ {
			place = name + "-" + clean + "-" + strconv.Itoa(n)
		}
		taken[place], names[m.key] = true, place
	}
	return names
}

// Places tells the index of the target for the documents of each mapping type. A document
// of a type that is not there, or of no type, belongs to the index under "".
func (r Route) Places(i Index) (map[string]string, error) {
	places := map[string]string{"": i.Name}
	if !r.typed(i) || r.Types != SplitTypes || len(i.Mappings) == 0 {
		return places, nil
	}
	root, err := parse(i.Mappings)
	if err != nil {
		return nil, fault.At(err, i.Name)
	}
	root.take("_default_")
	slices.SortFunc(root.members, func(a, b member) int { return strings.Compare(a.key, b.key) })
	if len(root.members) > 1 {
		for typ, place := range placesOf(i.Name, root) {
			places[typ] = place
		}
	}
	return places, nil
}

// merge makes one mapping of those of all types.
func (t *translation) merge(root *node) *node {
	first := root.members[0]
	t.freeRouting(root)
	names := []string{first.key}
	for _, m := range root.members[1:] {
		names = append(names, m.key)
		t.mergeObject(first.value, m.value, "mappings", 0)
	}
	t.tell("types-merged", "mappings", strings.Join(names, ", "))
	return first.value
}

// freeRouting takes `_routing` out of types that require it when others do not: their documents
// have none, and the target would refuse them.
func (t *translation) freeRouting(root *node) {
	var require []string
	for _, m := range root.members {
		if on, _ := lenient(m.value.at("_routing").at("required").text()); on {
			require = append(require, m.key)
		}
	}
	if len(require) == 0 || len(require) == len(root.members) {
		return
	}
	for _, m := range root.members {
		m.value.take("_routing")
	}
	t.tell("types-routing", "mappings._routing", "left out: only "+strings.Join(require, ", ")+" required it")
}

// mergeObject adds to an object what another has.
func (t *translation) mergeObject(to, from *node, where string, depth int) {
	for _, m := range from.members {
		have := to.at(m.key)
		below := join(where, m.key)
		switch {
		case have == nil:
			to.set(m.key, m.value)
		case m.key == "dynamic_templates" && have.isList() && m.value.isList():
			have.items = append(have.items, m.value.items...)
			have.changed = true
		case have.isObject() && m.value.isObject() && depth < deepest && (have.at("type") == nil || have.at("type").text() == m.value.at("type").text()):
			t.mergeObject(have, m.value, below, depth+1)
		case string(have.json()) != string(m.value.json()):
			t.tell("types-conflict", below, brief(have)+" is kept, "+brief(m.value)+" is left out")
		}
	}
}
