package gateway

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// settingsLook is how settings are shown.
type settingsLook struct {
	flat     bool
	human    bool
	defaults bool
}

func (c *call) settingsLook() (settingsLook, error) {
	var look settingsLook
	for name, into := range map[string]*bool{"flat_settings": &look.flat, "human": &look.human, "include_defaults": &look.defaults} {
		var err error
		if *into, err = c.boolean(name, false); err != nil {
			return look, err
		}
	}
	return look, nil
}

// settingsJSON shows flat settings: as they are, or as a tree of their names.
func settingsJSON(settings map[string]string, look settingsLook) object {
	if look.flat {
		var o object
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			o.add(name, settingValue(settings[name]))
		}
		return o
	}
	return settingsTree(settings, 0)
}

// deepestSetting is how many parts of a setting's name become objects. No setting
// has so many; a name that is made of dots must not become a tree that nobody can
// read.
const deepestSetting = 40

// settingsTree makes a tree out of dotted names. A name that is a part of another
// ("a" beside "a.b") keeps its dots, as it does in the server.
func settingsTree(settings map[string]string, depth int) object {
	branches := map[string]map[string]string{}
	for name, value := range settings {
		head, rest, dotted := strings.Cut(name, ".")
		if _, clash := settings[head]; dotted && !clash && depth < deepestSetting {
			if branches[head] == nil {
				branches[head] = map[string]string{}
			}
			branches[head][rest] = value
			continue
		}
		branches[name] = nil
	}
	var o object
	for _, name := range serverOrder(branches, smallTable) {
		if branches[name] != nil {
			o.add(name, settingsTree(branches[name], depth+1))
		} else {
			o.add(name, settingValue(settings[name]))
		}
	}
	return o
}

// flatSettings reads a tree of settings, as settingsTree shows it.
func flatSettings(tree json.RawMessage) (map[string]string, error) {
	members, err := readObject(tree)
	if err != nil {
		return nil, err
	}
	flat := map[string]string{}
	for _, m := range members {
		raw := m.value.(json.RawMessage)
		var value string
		switch {
		case json.Unmarshal(raw, &value) == nil:
			flat[m.name] = value
		case raw[0] == '{':
			under, err := flatSettings(raw)
			if err != nil {
				return nil, err
			}
			for name, value := range under {
				flat[m.name+"."+name] = value
			}
		default: // a list, which is kept as JSON text
			flat[m.name] = string(raw)
		}
	}
	return flat, nil
}

// settingValue shows a list as a list: it is kept as JSON text.
func settingValue(value string) any {
	if list, ok := settingList(value); ok {
		return list
	}
	return value
}

// shownSettings are the settings of an index with what is shown but not kept:
// what it is called, and, for people, its date and version in words.
func shownSettings(s catalog.Status, look settingsLook) map[string]string {
	shown := maps.Clone(s.Settings)
	if shown == nil {
		shown = map[string]string{}
	}
	setDefault := func(name, value string) {
		if _, ok := shown[name]; !ok {
			shown[name] = value
		}
	}
	setDefault("index.uuid", s.UUID)
	setDefault("index.provided_name", s.Name)
	setDefault("index.creation_date", formatMillis(s.Created))
	if s.Entry.Closed {
		setDefault("index.verified_before_close", "true")
	}
	if look.human {
		shown["index.creation_date_string"] = formatInstant(s.Created)
		shown["index.version.created_string"] = compatible
	}
	return shown
}

func formatInstant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func formatMillis(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

// settingList reads a setting that holds a list, which is kept as a JSON array of
// strings.
func settingList(value string) (array, bool) {
	if !strings.HasPrefix(value, "[") {
		return nil, false
	}
	var texts []string
	if json.Unmarshal([]byte(value), &texts) != nil {
		return nil, false
	}
	list := make(array, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list, true
}

// chosenSettings are the settings whose names match one of the patterns.
func chosenSettings(settings map[string]string, patterns []string) map[string]string {
	if len(patterns) == 0 || slices.Contains(patterns, "_all") {
		return settings
	}
	chosen := map[string]string{}
	for name, value := range settings {
		if wildcard.MatchAny(patterns, name) {
			chosen[name] = value
		}
	}
	return chosen
}
