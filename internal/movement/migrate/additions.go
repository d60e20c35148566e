package migrate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// addMappings adds what the mappings of a template have, and those of the index lack. Where both have a field or a
// parameter, that of the index counts, except that the dynamic templates of both apply.
func (a *Applied) addMappings(template, where string, theirs, own map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(theirs)) {
		ownValue, has := own[key]
		theirObject, isObject := theirs[key].(map[string]any)
		ownObject, ownIsObject := ownValue.(map[string]any)
		switch {
		case has && isObject && ownIsObject && a.replacesFields() && (isField(theirObject) || isField(ownObject)):
		case has && isObject && ownIsObject:
			a.addMappings(template, where+"."+key, theirObject, ownObject)
		case has && key != "dynamic_templates":
		case isObject && (key == "properties" || len(theirObject) == 0): // each field by itself; an empty object adds nothing
			a.addMappings(template, where+"."+key, theirObject, nil)
		default:
			text, _ := json.Marshal(theirs[key]) // it was read from JSON
			a.Adds = append(a.Adds, Addition{template, where + "." + key, brief(text)})
		}
	}
}

// replacesFields reports whether the mapping of a field replaces that of a weaker template as a whole, as with composable
// templates. With legacy templates it gets the parameters that it lacks.
func (a *Applied) replacesFields() bool {
	return len(a.Templates) > 0 && a.Templates[0].Kind == ComposableTemplate
}

// isField reports whether a mapping is that of a field that holds values, and not of an object.
func isField(mapping map[string]any) bool {
	kind, is := mapping["type"].(string)
	return is && kind != "object" && kind != "nested"
}

// overlaid are the own mappings, with what the others have and these lack.
func overlaid(own, others map[string]any) map[string]any {
	all := maps.Clone(own)
	if all == nil {
		all = map[string]any{}
	}
	for key, value := range others {
		ownValue, has := all[key]
		ownObject, ownIsObject := ownValue.(map[string]any)
		otherObject, isObject := value.(map[string]any)
		switch {
		case !has:
			all[key] = value
		case ownIsObject && isObject:
			all[key] = overlaid(ownObject, otherObject)
		}
	}
	return all
}

// flat are settings by their full names, with "index." in front.
func flat(settings map[string]any) map[string]string {
	all := map[string]string{}
	var walk func(prefix string, members map[string]any)
	walk = func(prefix string, members map[string]any) {
		for key, value := range members {
			switch v := value.(type) {
			case nil:
			case map[string]any:
				walk(prefix+key+".", v)
			case string:
				all[prefix+key] = v
			default:
				text, _ := json.Marshal(v) // it was read from JSON
				all[prefix+key] = string(text)
			}
		}
	}
	walk("", settings)
	for key, value := range maps.Clone(all) {
		if !strings.HasPrefix(key, "index.") {
			delete(all, key)
			all["index."+key] = value
		}
	}
	return all
}

// brief is a text for people, cut where it gets long.
func brief(text json.RawMessage) string {
	const most = 120
	if runes := []rune(string(text)); len(runes) > most {
		return fmt.Sprintf("%s… (%d bytes)", string(runes[:most]), len(text))
	}
	return string(text)
}
