package catalog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// composable is an index template (_index_template), read.
type composable struct {
	name string
	component
	patterns   []string
	composedOf []string // nil: not told
	priority   *int64
	stream     bool
	timestamp  string
}

func (t *composable) rank() int64 {
	if t.priority == nil {
		return 0
	}
	return *t.priority
}

// parseComposable reads a body.
func parseComposable(name string, body []byte) (composable, error) {
	t := composable{name: name}
	n, err := requireFields("index_template", body)
	if cause := exception.From(err); err != nil && cause.Cause != nil && !beginsObject(body) {
		err = cause.Cause // as the server, which looks at the first token by itself here
	}
	if err != nil {
		return t, err
	}
	if err := t.read(n); err != nil {
		return t, plain(err)
	}
	switch {
	case t.patterns == nil:
		return t, illegal("Required [index_patterns]")
	case len(t.patterns) == 0:
		return t, illegal("There must be at least one pattern, zero given")
	case t.rank() < 0:
		return t, exception.New(exception.ActionRequestValidation, "Validation Failed: 1: index template priority must be >= 0;")
	}
	return t, nil
}

// readComposable reads a stored template.
func readComposable(name string, raw json.RawMessage) composable {
	t := composable{name: name}
	_ = t.read(stored(raw)) // it was read before it was stored
	return t
}

func (t *composable) read(n *node) error {
	fields := t.fields()
	fields["index_patterns"] = field{lists, func(n *node) error { t.patterns = n.strings(); return nil }}
	fields["composed_of"] = field{lists, func(n *node) error { t.composedOf = n.strings(); return nil }}
	fields["priority"] = field{scalars, wholeNumber(&t.priority)}
	fields["data_stream"] = field{nullable, func(n *node) error {
		t.stream, t.timestamp = n.isObject(), "@timestamp"
		if name := n.get("timestamp_field").get("name"); name.isString() && name.text != "" {
			t.timestamp = name.text
		}
		return nil
	}}
	return readFields("index_template", n, fields)
}

// json is the template as it is stored and shown.
func (t *composable) json() []byte {
	var b bytes.Buffer
	b.WriteString(`{"index_patterns":`)
	b.Write(stringList(t.patterns))
	if t.templated {
		b.WriteString(`,"template":{`)
		b.Write(t.render(false))
		b.WriteByte('}')
	}
	if t.composedOf != nil || t.templated {
		b.WriteString(`,"composed_of":`)
		b.Write(stringList(t.composedOf))
	}
	if t.priority != nil {
		b.WriteString(`,"priority":` + strconv.FormatInt(*t.priority, 10))
	}
	b.Write(t.tail())
	if t.stream {
		b.WriteString(`,"data_stream":{"timestamp_field":{"name":`)
		b.Write(token.AppendString(nil, t.timestamp))
		b.WriteString(`}}`)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// WithComposable is the catalog with an index template. Merge checks the mappings that
// it composes.
func (c Catalog) WithComposable(name string, body []byte, create bool, merge Merge) (Catalog, error) {
	t, err := parseComposable(name, body)
	if err != nil {
		return c, err
	}
	if err := c.checkParts(t); err != nil {
		return c, err
	}
	if _, exists := c.Composable[name]; exists && create {
		return c, illegal("index template [%s] already exists", name)
	}
	if err := c.checkRank(t); err != nil {
		return c, err
	}
	if err := checkTemplate(name, t.patterns, t.Request); err != nil {
		return c, err
	}
	next := c
	if next.Composable, err = with(c.Composable, name, t.json()); err != nil {
		return c, err
	}
	if err := next.checkComposition(name, merge); err != nil {
		return c, illegal("composable template [%s] template after composition is invalid", name).CausedBy(exception.From(err))
	}
	return next, next.checkStreams(t)
}

// checkParts refuses components that do not exist.
func (c Catalog) checkParts(t composable) error {
	var missing []string
	for _, part := range t.composedOf {
		if _, ok := c.Components[part]; !ok {
			missing = append(missing, part)
		}
	}
	if len(missing) > 0 {
		return invalidTemplate(t.name, "index template ["+t.name+"] specifies component templates ["+strings.Join(missing, ", ")+"] that do not exist")
	}
	return nil
}

// checkRank refuses a template that another one of the same priority competes with.
func (c Catalog) checkRank(t composable) error {
	var rivals, told []string
	for _, name := range slices.Sorted(maps.Keys(c.Composable)) {
		other := readComposable(name, c.Composable[name])
		if name != t.name && other.rank() == t.rank() && overlapAny(t.patterns, other.patterns) {
			rivals = append(rivals, name)
			told = append(told, name+" => ["+strings.Join(other.patterns, ", ")+"]")
		}
	}
	if len(rivals) == 0 {
		return nil
	}
	return illegal("index template [%s] has index patterns [%s] matching patterns from existing templates [%s] with patterns (%s) that have the same priority [%d],"+
		" multiple index templates may not match during index creation, please use a different priority",
		t.name, strings.Join(t.patterns, ", "), strings.Join(rivals, ","), strings.Join(told, ","), t.rank())
}

// checkComposition refuses a template whose mappings do not go together.
func (c Catalog) checkComposition(name string, merge Merge) error {
	t := readComposable(name, c.Composable[name])
	if _, err := merge(c.composeWith(t, name, "", Request{}).Settings, c.mappingsOf(t, "")); err != nil {
		return illegal("invalid composite mappings for [%s]", name).CausedBy(exception.From(err))
	}
	return nil
}

// checkStreams refuses a template with which a data stream has no template of its kind
// any more. c has the template already.
func (c Catalog) checkStreams(t composable) error {
	var lost []string
	for name := range c.Streams {
		if best, ok := c.composableFor(name, false); !ok || !best.stream {
			lost = append(lost, name)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	slices.Sort(lost)
	why := ""
	if !t.stream {
		why = " and no data stream configuration"
	}
	return illegal("composable template [%s] with index patterns [%s], priority [%d]%s would cause data streams [%s] to no longer match a data stream template",
		t.name, strings.Join(t.patterns, ", "), t.rank(), why, strings.Join(lost, ", "))
}

// streamsOf are the data streams that were made by one of the templates, sorted.
func (c Catalog) streamsOf(templates []string) []string {
	var users []string
	for name, stream := range c.Streams {
		if slices.Contains(templates, stream.Template) {
			users = append(users, name)
		}
	}
	slices.Sort(users)
	return users
}

// WithoutComposable is the catalog without the index templates that a name or
// pattern means, unless data streams need one.
func (c Catalog) WithoutComposable(pattern string) (Catalog, error) {
	names, err := matching(c.Composable, pattern)
	if err != nil {
		return c, err
	}
	if users := c.streamsOf(names); len(users) > 0 {
		used := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return len(c.streamsOf([]string{name})) == 0 })
		return c, illegal("unable to remove composable templates [%s] as they are in use by a data streams [%s]",
			strings.Join(used, ", "), strings.Join(users, ", "))
	}
	next := c
	next.Composable = without(c.Composable, names)
	return next, nil
}

// composableFor is the index template of an index: the one of highest priority. An
// index that is asked to be hidden gets no template for all names.
func (c Catalog) composableFor(index string, hidden bool) (composable, bool) {
	var all []composable
	for name, raw := range c.Composable {
		t := readComposable(name, raw)
		matches := wildcard.MatchAny(t.patterns, index)
		if matches && (!hidden || !isGlobal(t.patterns)) {
			all = append(all, t)
		}
	}
	if len(all) == 0 {
		return composable{}, false
	}
	return slices.MinFunc(all, func(a, b composable) int {
		return cmp.Or(cmp.Compare(b.rank(), a.rank()), cmp.Compare(a.name, b.name))
	}), true
}
