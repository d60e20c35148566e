package migrate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// Setting replaces a setting of the snapshot in indices that are created.
type Setting struct {
	Index string `json:"index"` // of the target: a name, or a pattern in which * stands for any characters
	Name  string `json:"name"`  // with "index." in front; with ".*" at the end, and no value, all settings that begin so
	// Value is a text or a list of texts; nil: the index is made without it.
	Value any `json:"value"`
}

// Mapping replaces the mapping of the snapshot in indices that are created.
type Mapping struct {
	Index   string          `json:"index"` // as that of a Setting
	Mapping json.RawMessage `json:"mapping"`
}

// The rules of overrides, in the changes of a plan.
const (
	RuleSet     = "set"
	RuleMapping = "mapping"
)

const (
	settingShards  = "index.number_of_shards"
	settingRouting = "index.number_of_routing_shards"
)

// Fits tells whether a setting is for an index of the target.
func (s *Setting) Fits(index string) bool { return wildcard.Match(s.Index, index) }

// Fits tells whether a mapping is for an index of the target.
func (m *Mapping) Fits(index string) bool { return wildcard.Match(m.Index, index) }

// names are the names of the settings that it sets: those in settings that begin so, where it ends in a *.
func (s *Setting) names(settings map[string]any) (names []string) {
	prefix, family := strings.CutSuffix(s.Name, "*")
	if !family {
		return []string{s.Name}
	}
	for name := range settings {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// override applies the settings and mappings that fit an index to the body that makes it. Of several
// for one setting, or for the mapping, the last one counts.
func (m *Metadata) override(body *translate.Body) error {
	if len(m.Set) == 0 && len(m.Mappings) == 0 {
		return nil
	}
	var parts map[string]json.RawMessage
	settings := map[string]any{}
	err := json.Unmarshal(body.JSON, &parts)
	if err == nil && parts["settings"] != nil {
		err = json.Unmarshal(parts["settings"], &settings)
	}
	if err != nil {
		return fault.Wrap(fault.Bug, err)
	}
	changed := m.set(body, settings)
	for i := range m.Mappings {
		if by := &m.Mappings[i]; by.Fits(body.Name) && !m.mappedLater(i, body.Name) {
			parts["mappings"] = by.Mapping
			replace(body, "mappings", translate.Change{Rule: RuleMapping, Where: "mappings", What: "is the one that was asked for, in the place of the snapshot's"})
			changed = true
		}
	}
	if !changed {
		return nil
	}
	if parts["settings"], err = json.Marshal(settings); err == nil {
		body.JSON, err = json.Marshal(parts)
	}
	return fault.Wrap(fault.Bug, err)
}

// set applies the settings, and adds the changes to body.
func (m *Metadata) set(body *translate.Body, settings map[string]any) (changed bool) {
	before := map[string]any{}
	asked := map[string]bool{}
	for i := range m.Set {
		s := &m.Set[i]
		if !s.Fits(body.Name) {
			continue
		}
		for _, name := range s.names(settings) {
			if _, there := settings[name]; s.Value == nil && !there {
				continue
			}
			if !asked[name] {
				asked[name], before[name] = true, settings[name]
			}
			if settings[name] = s.Value; s.Value == nil {
				delete(settings, name)
			}
		}
	}
	if asked[settingShards] && !asked[settingRouting] && settings[settingRouting] != nil { // it may not be a multiple of the new number
		delete(settings, settingRouting)
		replace(body, "settings."+settingRouting, translate.Change{Rule: "shards", Where: "settings." + settingRouting, What: "left out, for the number of shards is another one"})
	}
	for name := range asked {
		now, there := settings[name]
		what := "left out"
		if there {
			what = "is " + valueText(now)
		}
		what += ", as it was asked for"
		if was := before[name]; was != nil && valueText(was) != valueText(now) {
			what += ", in the place of " + valueText(was)
		}
		replace(body, "settings."+name, translate.Change{Rule: RuleSet, Where: "settings." + name, What: what})
	}
	return len(asked) > 0
}

// mappedLater tells whether a later mapping is for the same index.
func (m *Metadata) mappedLater(i int, index string) bool {
	return slices.ContainsFunc(m.Mappings[i+1:], func(later Mapping) bool { return later.Fits(index) })
}

// replace puts a change in the place of all changes of a part, whose losses do not count any more. The
// changes of mapping types stay, since documents have types.
func replace(body *translate.Body, part string, by translate.Change) {
	body.Changes = slices.DeleteFunc(slices.Clone(body.Changes), func(c translate.Change) bool {
		ofTypes := strings.HasPrefix(c.Rule, "types-") && c.Rule != "types-conflict"
		return (c.Where == part || strings.HasPrefix(c.Where, part+".")) && (part != "mappings" || !ofTypes)
	})
	body.Changes = append(body.Changes, by)
	slices.SortStableFunc(body.Changes, func(a, b translate.Change) int { return strings.Compare(a.Where, b.Where) })
}

// valueText is the value of a setting for people.
func valueText(value any) string {
	if text, is := value.(string); is {
		return text
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// Checked is a copy with the settings and mappings as requests to the target have them, or the error of one that no index
// can be made with.
func (m Metadata) Checked() (Metadata, error) {
	m.Set, m.Mappings = slices.Clone(m.Set), slices.Clone(m.Mappings)
	for i := range m.Set {
		if err := m.Set[i].check(); err != nil {
			return m, err
		}
	}
	for i := range m.Mappings {
		if err := m.Mappings[i].check(); err != nil {
			return m, err
		}
	}
	return m, nil
}

// check completes the name and the value, and refuses what no index can be made with.
func (s *Setting) check() error {
	if s.Index == "" || s.Name == "" {
		err := fault.New(fault.Usage, "--set names no index, or no setting")
		return fault.WithNext(err, "write --set 'INDEX:SETTING=VALUE', as in --set 'books:index.codec=best_compression'")
	}
	if !strings.HasPrefix(s.Name, "index.") {
		s.Name = "index." + s.Name
	}
	place := "--set " + s.Index + ":" + s.Name
	value, err := settingValue(s.Value)
	if err != nil {
		return fault.At(err, place)
	}
	s.Value = value
	family := strings.Contains(s.Name, "*")
	if family && (value != nil || !strings.HasSuffix(s.Name, ".*") || strings.Count(s.Name, "*") > 1 || s.Name == "index.*") {
		err := fault.At(fault.New(fault.Usage, "a * can only remove all settings that begin so"), place)
		return fault.WithNext(err, "write it at the end and without a value, as in --set 'books:index.analysis.*=null'")
	}
	if why := translate.Unsettable(strings.TrimSuffix(s.Name, "*"), valueText(value)); why != "" && value != nil {
		return fault.WithNext(fault.At(fault.New(fault.Refused, "an index cannot be made with it: %s", why), place), "leave it out")
	}
	return nil
}

// settingValue is a value as requests have it: a text, or a list of texts.
func settingValue(value any) (any, error) {
	switch v := value.(type) {
	case nil, string:
		return v, nil
	case []any:
		texts := make([]any, 0, len(v))
		for _, item := range v {
			text, err := settingValue(item)
			if _, is := text.(string); err != nil || !is {
				return nil, fault.WithNext(fault.New(fault.Usage, "the value is a list of what are not texts"), "write a text, a list of texts, or null")
			}
			texts = append(texts, text)
		}
		return texts, nil
	case bool, float64, int, json.Number:
		return valueText(v), nil
	}
	return nil, fault.WithNext(fault.New(fault.Usage, "the value is an object"), "name each of its settings by itself")
}

// check takes the mapping out of the answer of a server about an index, and refuses what is no mapping.
func (m *Mapping) check() error {
	place := "--mapping " + m.Index
	none := func(why string) error {
		err := fault.At(fault.New(fault.Usage, "%s", why), place)
		return fault.WithNext(err, `give a mapping as {"properties":{…}}`)
	}
	if m.Index == "" {
		return none("it names no index")
	}
	for range 3 { // GET INDEX/_mapping shows {"INDEX":{"mappings":{…}}}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(m.Mapping, &members); err != nil || members == nil {
			return none("the mapping is no JSON object")
		}
		inner, wrapped := members["mappings"]
		if !wrapped && len(members) == 1 {
			for name, only := range members { // properties may have one field that is called mappings
				var index map[string]json.RawMessage
				if name != "properties" && json.Unmarshal(only, &index) == nil && len(index) == 1 && index["mappings"] != nil {
					inner, wrapped = only, true
				}
			}
		}
		if !wrapped {
			return nil
		}
		if len(members) > 1 {
			return none("beside the mappings there is more, which would have no effect")
		}
		m.Mapping = inner
	}
	return nil
}
