package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// prefix begins the name of every setting of an index.
const prefix = "index."

// A list among settings is kept as the JSON array of its strings.

// edit sets a setting, or resets it.
type edit struct {
	name, value string
	reset       bool
}

// edits are changes of settings by name; each name once.
type edits []edit

// flatten takes settings apart: objects become dotted names. Names outside of
// "index." get it, unless they are patterns.
func flatten(n *node) edits {
	all := edits{}
	flattenInto(&all, "", n)
	return all.normalized()
}

func flattenInto(all *edits, path string, n *node) {
	switch n.kind {
	case token.Object:
		if path != "" {
			path += "."
		}
		for _, m := range n.members {
			flattenInto(all, path+m.name, m.value)
		}
	case token.Null:
		*all = append(*all, edit{name: path, reset: true})
	default:
		*all = append(*all, edit{name: path, value: n.setting()})
	}
}

// setting is a value as a setting holds it.
func (n *node) setting() string {
	if !n.isArray() {
		return n.text
	}
	list := []byte{'['}
	for i, item := range n.items {
		if i > 0 {
			list = append(list, ',')
		}
		text := item.text
		if !item.kind.IsScalar() {
			text = string(item.json())
		}
		list = token.AppendString(list, text)
	}
	return string(append(list, ']'))
}

// normalized gives names their prefix. Of a name that comes twice the last value
// counts, and one that was written without prefix.
func (all edits) normalized() edits {
	if all == nil {
		return nil
	}
	byName := map[string]edit{}
	for _, withPrefix := range []bool{true, false} {
		for _, e := range all {
			if strings.HasPrefix(e.name, prefix) != withPrefix {
				continue
			}
			if !withPrefix && !strings.HasSuffix(e.name, "*") && !strings.HasPrefix(e.name, "archived.") {
				e.name = prefix + e.name
			}
			byName[e.name] = e
		}
	}
	return slices.AppendSeq(make(edits, 0, len(byName)), maps.Values(byName)).sorted()
}

func (all edits) sorted() edits {
	slices.SortFunc(all, func(a, b edit) int { return cmp.Compare(a.name, b.name) })
	return all
}

// values are the settings that are set.
func (all edits) values() map[string]string {
	set := map[string]string{}
	for _, e := range all {
		if !e.reset {
			set[e.name] = e.value
		}
	}
	return set
}

var byName = func() map[string]setting {
	m := make(map[string]setting, len(known))
	for _, s := range known {
		m[prefix+s.name] = s
	}
	return m
}()

// find is what is known of a setting.
func find(name string) (setting, bool) {
	if s, ok := byName[name]; ok {
		return s, true
	}
	for _, family := range families {
		if strings.HasPrefix(name, prefix+family.name) && len(name) > len(prefix+family.name) {
			return family, true
		}
	}
	return setting{}, false
}

// check refuses settings that nobody knows, and values that they cannot have.
func (all edits) check() *exception.Error {
	for _, e := range all {
		if strings.HasSuffix(e.name, "*") {
			continue
		}
		s, ok := find(e.name)
		switch {
		case removed[e.name] != "" && !e.reset:
			if err := boolean(e.name, printed(e.value)); err != nil {
				return err
			}
			return illegal("%s", removed[e.name])
		case required[e.name] != "" && !slices.ContainsFunc(all, func(other edit) bool { return other.name == required[e.name] }):
			return illegal("missing required setting [%s] for setting [%s]", required[e.name], e.name)
		case !ok && removed[e.name] == "":
			return unknownSetting(e.name)
		case e.reset || !ok:
			continue
		}
		if err := s.check(e.name, printed(e.value)); err != nil {
			return err
		}
	}
	return nil
}

// checkSupported refuses values that the server takes and that would be lost here.
func (all edits) checkSupported() error {
	for _, e := range all {
		if only, ok := unsupported[e.name]; ok && !e.reset && e.value != only {
			return illegal("setting [%s] with value [%s] is not supported by reshelve", e.name, printed(e.value))
		}
	}
	return nil
}

// printed is a value as errors show it: lists with blanks and without quotes.
func printed(value string) string {
	list, ok := asList(value)
	if !ok {
		return value
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// asList reads a value that is a list.
func asList(value string) ([]string, bool) {
	if len(value) < 2 || value[0] != '[' || value[len(value)-1] != ']' {
		return nil, false
	}
	n, err := parseBody([]byte(value))
	if err != nil || !n.isArray() {
		return nil, false
	}
	list := []string{}
	for _, item := range n.items {
		if !item.isString() {
			return nil, false
		}
		list = append(list, item.text)
	}
	return list, true
}

// unknownSetting is the exception about a setting that nobody knows, with those
// that it may have been meant for.
func unknownSetting(name string) *exception.Error {
	if proposed := exception.DidYouMean(name, maps.Keys(byName), 0.7); proposed != "" {
		return illegal("unknown setting [%s] %s", name, proposed)
	}
	return illegal("unknown setting [%s] please check that any required plugins are installed, or check the breaking changes documentation for removed settings", name)
}

// similarities are the types that a similarity may have.
var similarities = []string{"BM25", "boolean", "DFR", "IB", "LMDirichlet", "LMJelinekMercer", "DFI", "scripted"}

// checkNew refuses settings of a new index that do not go together.
func checkNew(index string, settings map[string]string) error {
	if settings["index.soft_deletes.enabled"] == "false" {
		return illegal("Creating indices with soft-deletes disabled is no longer supported. Please do not specify a value for setting [index.soft_deletes.enabled].")
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		kind, ok := strings.CutPrefix(name, "index.similarity.")
		if kind, ok2 := strings.CutSuffix(kind, ".type"); ok && ok2 && !slices.Contains(similarities, settings[name]) {
			return illegal("Unknown Similarity type [%s] for [%s]", settings[name], kind)
		}
	}
	shards := number(settings, "index.number_of_shards")
	routed, set := settings["index.number_of_routing_shards"]
	routing, _ := strconv.Atoi(routed)
	switch {
	case !set:
		for routing = shards * 2; routing*2 <= 1024; routing *= 2 { // what the server makes room for by itself
		}
	case routing < shards:
		return illegal("index.number_of_routing_shards [%d] must be >= index.number_of_shards [%d]", routing, shards)
	case routing%shards != 0:
		return illegal("the number of source shards [%d] must be a factor of [%d]", shards, routing)
	}
	if size := number(settings, "index.routing_partition_size"); size > 1 && size >= routing {
		return illegal("routing partition size [%d] should be a positive number less than the number of shards [%d] for [%s]", size, routing, index)
	}
	return nil
}

// number is a setting that is a whole number, or its default.
func number(settings map[string]string, name string) int {
	value, ok := settings[name]
	if !ok {
		value = byName[name].fallback
	}
	n, _ := strconv.Atoi(value) // checked when it was set
	return n
}

// checkPrivate refuses private settings of a new index.
func (all edits) checkPrivate() error {
	var why []string
	for _, e := range all {
		if s, ok := find(e.name); ok && s.change == private && !e.reset {
			why = append(why, "private index setting ["+e.name+"] can not be set explicitly")
		}
	}
	if len(why) > 0 {
		return exception.New(exception.Validation, "%s", validationFailed(why))
	}
	return nil
}

// validationFailed numbers what is wrong, as the server does.
func validationFailed(why []string) string {
	var b strings.Builder
	b.WriteString("Validation Failed: ")
	for i, w := range why {
		b.WriteString(strconv.Itoa(i+1) + ": " + w + ";")
	}
	return b.String()
}
