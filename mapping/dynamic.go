package mapping

import (
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/date"
	"github.com/reshelve/reshelve/exception"
	json "github.com/reshelve/reshelve/token"
)

// splitPath takes a name with dots apart, as the server does for names in sources.
func splitPath(path string) ([]string, error) {
	refuse := func(format string, args ...any) ([]string, error) {
		return nil, exception.New(exception.IllegalArgument, format, args...)
	}
	if path == "" {
		return refuse("field name cannot be an empty string")
	}
	if !strings.Contains(path, ".") {
		return []string{path}, nil
	}
	parts := strings.Split(path, ".")
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	if len(parts) == 0 {
		return refuse("field name cannot contain only the character [.]")
	}
	for _, part := range parts {
		switch {
		case part == "":
			return refuse("object field starting or ending with a [.] makes object resolution ambiguous: [%s]", path)
		case strings.TrimSpace(part) == "":
			return refuse("object field cannot contain only whitespace: ['%s']", path)
		}
	}
	return parts, nil
}

// unknown reads the value of a name that o has no child for: a path with dots to
// a field that is known, or a new field.
func (w *walk) unknown(o *Field, name string, kind json.Kind) error {
	if o == w.m.root {
		if known, err := w.own(name, kind); known {
			return err
		}
	}
	parts, err := splitPath(name)
	if err != nil {
		return err
	}
	f := o
	for i, part := range parts {
		child := f.children[part]
		last := i == len(parts)-1
		switch {
		case child == nil || !last && !child.IsObject():
			return w.newField(o, parts, kind)
		case last:
			return w.value(child, kind)
		case child.disabled:
			_, err := w.r.Whole(kind)
			return err
		case child.kind == nestedType:
			return exception.New(exception.MapperParsing, "Cannot add a value for field [%s] since one of the intermediate objects is mapped as a nested object: [%s]", name, child.path)
		}
		f = child
	}
	return nil
}

// newField reads the value of a field below o that the mapping does not have.
func (w *walk) newField(o *Field, parts []string, kind json.Kind) error {
	switch kind {
	case json.Null:
		if o.dynamic == strict || o.dynamic == strictAllowTemplates { // not what is inherited
			return w.strictly(o.dynamic, o, strings.Join(parts, "."))
		}
		return nil
	case json.Object:
		return w.newObject(o, parts)
	case json.Array:
		return w.newArray(o, parts)
	}
	t, err := w.token(kind)
	if err != nil {
		return err
	}
	return w.addValue(o, parts, t, false)
}

func (w *walk) newObject(o *Field, parts []string) error {
	parent, rule, err := w.parent(o, parts)
	if err != nil {
		return err
	}
	name := parts[len(parts)-1]
	switch rule {
	case strict:
		return w.strictly(rule, o, name)
	case dynamicFalse:
		_, err := w.r.Whole(json.Object)
		return err
	}
	f, err := w.fromTemplate(parent, name, "object", rule)
	if err != nil {
		return err
	}
	if f == nil {
		f = newObject(name, join(parent.path, name))
	}
	w.add(parent, f)
	return w.value(f, json.Object)
}

func (w *walk) newArray(o *Field, parts []string) error {
	parent, rule, err := w.parent(o, parts)
	if err != nil {
		return err
	}
	name := parts[len(parts)-1]
	if rule == strict {
		return w.strictly(rule, parent, name)
	}
	if rule != dynamicFalse {
		f, err := w.fromTemplate(parent, name, "object", rule)
		if err != nil {
			return err
		}
		if f != nil && f.kind.whole {
			w.add(parent, f)
			return w.value(f, json.Array)
		}
	}
	return w.array(func(kind json.Kind) error { return w.newField(parent, []string{name}, kind) })
}

// addValue adds the field that a value asks for, and reads the value into it.
// A copy is not copied further.
func (w *walk) addValue(o *Field, parts []string, t token, copied bool) error {
	parent, rule, err := w.parent(o, parts)
	if err != nil {
		return err
	}
	name := parts[len(parts)-1]
	switch {
	case rule == strict:
		return w.strictly(rule, parent, name)
	case rule == dynamicFalse:
		return nil
	case t.kind == json.Null || !t.kind.IsScalar(): // copies alone are these
		end := map[json.Kind]json.Kind{json.Object: json.ObjectEnd, json.Array: json.ArrayEnd, json.Null: json.Null}[t.kind]
		return exception.New(exception.IllegalState, "Can't handle serializing a dynamic type with content token [%s] and field name [%s]", end, name)
	}
	f, err := w.guess(parent, name, t, rule)
	if err != nil {
		return err
	}
	if f.kind == aliasType {
		return exception.New(exception.IllegalArgument, "Cannot write to a field alias [%s].", f.path)
	}
	w.add(parent, f)
	if f.IsObject() {
		return w.object(f, t.kind)
	}
	if err := w.leaf(f, t); err != nil || copied {
		return err
	}
	for _, path := range f.copyTo {
		if err := w.copy(path, t); err != nil {
			return err
		}
	}
	return nil
}

// parent is the object that a new field at parts below o belongs to, made where
// it is new itself, and the rule for new fields in it.
func (w *walk) parent(o *Field, parts []string) (*Field, dynamic, error) {
	for i, part := range parts[:len(parts)-1] {
		child := o.children[part]
		switch {
		case child != nil && child.IsObject():
			o = child
			continue
		case child != nil:
			return nil, 0, exception.New(exception.MapperParsing, "Could not dynamically add mapping for field [%s]. Existing mapping for [%s] must be of type object but found [%s].",
				strings.Join(parts, "."), child.path, child.kind.name)
		}
		rule := w.rule(o)
		switch rule {
		case strict:
			return nil, 0, w.strictly(rule, o, part)
		case dynamicFalse:
			return o, rule, nil
		}
		if err := deepest(o.path, parts[i:], w.limits.Depth); err != nil {
			w.deep = err
			return nil, 0, err
		}
		f, err := w.fromTemplate(o, part, "object", rule)
		if err != nil {
			return nil, 0, err
		}
		if f == nil {
			f = newObject(part, join(o.path, part))
		}
		if f.kind == nestedType {
			return nil, 0, exception.New(exception.MapperParsing, "It is forbidden to create dynamic nested objects ([%s]) through `copy_to` or dots in field names", f.path)
		}
		w.add(o, f)
		o = f
	}
	return o, w.rule(o), nil
}

// rule is the rule for new fields in an object: its own, or that of the nearest
// object around it.
func (w *walk) rule(o *Field) dynamic {
	if o.dynamic != inherited {
		return o.dynamic
	}
	rule, f := dynamicTrue, w.m.root
	if f.dynamic != inherited {
		rule = f.dynamic
	}
	for part := range strings.SplitSeq(o.path, ".") {
		if f = f.children[part]; f == nil {
			break
		}
		if f.dynamic != inherited {
			rule = f.dynamic
		}
	}
	return rule
}

func (w *walk) strictly(rule dynamic, parent *Field, name string) error {
	path := parent.path
	if path == "" {
		path = "_doc"
	}
	return exception.New(exception.StrictDynamicMapping, "mapping set to %s, dynamic introduction of [%s] within [%s] is not allowed", rule, name, path)
}

// fromTemplate is a new field by the first dynamic template that is for it; nil
// when there is none.
func (w *walk) fromTemplate(parent *Field, name, guess string, rule dynamic) (*Field, error) {
	t := w.m.findTemplate(join(parent.path, name), name, guess)
	if t == nil {
		if rule == strictAllowTemplates {
			return nil, w.strictly(rule, parent, name)
		}
		return nil, nil
	}
	dynamicType := defaultTypes[guess]
	definition := t.definition(name, dynamicType)
	typeName := dynamicType
	if v, ok := definition.take("type"); ok && v != nil {
		typeName = javaText(v)
	}
	kind := types[typeName]
	if kind == nil {
		return nil, exception.New(exception.MapperParsing, "failed to find type parsed [%s] for [%s]", typeName, name)
	}
	r := &reading{limits: w.limits}
	f, err := r.field(kind, name, parent.path, definition)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// defaultTypes are what a guess becomes without other word.
var defaultTypes = map[string]string{"object": "object", "string": "text", "long": "long", "double": "float", "boolean": "boolean", "date": "date", "binary": "binary"}

// guess is the new field that a value asks for.
func (w *walk) guess(parent *Field, name string, t token, rule dynamic) (*Field, error) {
	guess, plain := "string", "text"
	var format string
	switch t.kind {
	case json.Integer:
		guess, plain = "long", "long"
	case json.Float:
		guess, plain = "double", "float"
	case json.True, json.False:
		guess, plain = "boolean", "boolean"
	case json.String:
		guess, plain, format = w.m.guessString(string(t.text))
	}
	f, err := w.fromTemplate(parent, name, guess, rule)
	if err != nil {
		return nil, err
	}
	path := join(parent.path, name)
	set := func(f *Field, param string, v any) { f.params[f.kind.index(param)] = v }
	switch {
	case f != nil:
		if guess == "date" && f.format != nil && f.params[f.kind.index("format")] == nil && f.kind != types["date_range"] {
			set(f, "format", format)
			set(f, "print_format", firstFormat(format))
			err = f.finish()
		}
		return f, err
	case plain == "text":
		f = newLeaf(name, path, textType)
		multi := newLeaf("keyword", join(path, "keyword"), keywordType)
		set(multi, "ignore_above", int64(256))
		f.multi = []*Field{multi}
		if err := multi.finish(); err != nil {
			return nil, err
		}
	default:
		f = newLeaf(name, path, types[plain])
		if plain == "date" {
			set(f, "format", format)
			set(f, "print_format", firstFormat(format))
		}
	}
	return f, f.finish()
}

// firstFormat is the one that writes dates, of a list of formats.
func firstFormat(formats string) string {
	first, _, _ := strings.Cut(formats, "||")
	return first
}

// detector is one format of date detection.
type detector struct {
	format *date.Format
	text   string
}

// The formats of date detection where dynamic_date_formats tells no other.
var defaultDetectors = []string{defaultDateFormat, "yyyy/MM/dd HH:mm:ss||yyyy/MM/dd||epoch_millis"}

// detectors makes the formats of date detection ready.
func detectors(formats []string, given bool) ([]detector, error) {
	if !given {
		formats = defaultDetectors
	}
	var list []detector
	for _, text := range formats {
		format, err := date.ParseFormat(text)
		if err != nil {
			return nil, err
		}
		list = append(list, detector{format, text})
	}
	return list, nil
}

// readFormats reads dynamic_date_formats.
func readFormats(v any) ([]string, error) {
	list, ok := v.([]any)
	if !ok {
		if v == "none" {
			return nil, nil
		}
		list = []any{v}
	}
	var formats []string
	for _, item := range list {
		text, isText := item.(string)
		switch {
		case ok && strings.HasPrefix(javaText(item), "epoch_"):
			return nil, exception.New(exception.MapperParsing, "Epoch [%s] is not supported as dynamic date format", javaText(item))
		case !isText:
			return nil, exception.New(exception.IllegalArgument, "Invalid format: [%s]: expected string value", javaText(item))
		}
		formats = append(formats, text)
	}
	return formats, nil
}

// guessString tells what a new field with this text is: what a template may
// match, the type without template, and the format of a date.
func (m *Mapping) guessString(text string) (guess, plain, format string) {
	_, err := strconv.ParseInt(text, 10, 64)
	long := err == nil
	double := long || isDouble(text)
	switch {
	case long && m.numbers == yes:
		return "long", "long", ""
	case double && m.numbers == yes:
		return "double", "float", ""
	case !double && m.dates != no:
		for _, d := range m.detect {
			if _, _, err := d.format.Parse(text); err == nil {
				return "date", "date", d.text
			}
		}
	}
	return "string", "text", ""
}

// isDouble reports whether the server's language reads the text as a number: with
// white space around, and with a suffix.
func isDouble(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" || strings.Contains(text, "_") {
		return false
	}
	bare := strings.TrimLeft(text, "+-")
	switch bare {
	case "NaN", "Infinity":
		return len(text)-len(bare) <= 1
	}
	if c := bare[:min(1, len(bare))]; c == "i" || c == "I" || c == "n" || c == "N" {
		return false // words that Go knows
	}
	if strings.ContainsAny(text[len(text)-1:], "dDfF") && !strings.HasPrefix(strings.ToLower(bare), "0x") {
		text = text[:len(text)-1]
	}
	f, err := strconv.ParseFloat(text, 64)
	return err == nil || f != 0 // too large is infinite
}

// add puts a new field into the additions.
func (w *walk) add(parent, f *Field) {
	w.sink = nil
	if w.additions == nil {
		w.additions, w.known = newObject("", ""), w.m.root.withoutRedundantIncludes(true)
	}
	if w.lowest == "" || less(f.path, w.lowest) {
		w.lowest, w.atLowest = f.path, 0
	}
	if f.path == w.lowest {
		w.atLowest++
	}
	to, known := w.additions, w.known
	if parent.path != "" {
		for part := range strings.SplitSeq(parent.path, ".") {
			if known != nil {
				known = known.children[part]
			}
			next := to.children[part]
			if next == nil {
				next = known.shell()
				to.put(next)
			}
			if !next.IsObject() {
				return // which was told as a conflict when the object was added
			}
			to = next
		}
	}
	// what the walk goes on with stays without children, so that each of several
	// values asks for all that it needs
	added := *f
	if f.IsObject() {
		added.children, added.order = map[string]*Field{}, nil
		for _, child := range f.order {
			added.put(child)
		}
	}
	existing := to.children[f.name]
	if existing == nil {
		to.put(&added)
		return
	}
	merged, err := mergeChild(existing, &added, false)
	if err == nil {
		to.put(merged)
		return
	}
	if w.conflict == nil || less(f.path, w.conflict.path) {
		_, later := mergeField(&added, existing, false)
		if later == nil || f.path == w.lowest && w.atLowest == 2 {
			later = err
		}
		w.conflict = &conflict{path: f.path, first: err, later: later}
	}
}

// conflict is of two additions to one path. The server goes through additions by
// name and, but for the first of all, asks the later of two whether it can be
// merged with the earlier.
type conflict struct {
	path         string
	first, later error
}

// tell is the error, given the lowest path of all additions.
func (c *conflict) tell(lowest string) error {
	return c.later
}

// own reads a value of one of the server's own fields, of which a source may hold
// but one.
func (w *walk) own(name string, kind json.Kind) (known bool, err error) {
	if top, _, dotted := strings.Cut(name, "."); dotted {
		if _, own := ownTypes[top]; own {
			return true, exception.New(exception.MapperParsing, "Could not dynamically add mapping for field [%s]. Existing mapping for [%s] must be of type object but found [%s].", name, top, top)
		}
		return false, nil
	}
	if _, own := ownTypes[name]; !own {
		return false, nil
	}
	t, err := w.token(kind)
	if err != nil {
		return true, err
	}
	switch {
	case name != "_doc_count":
		err = exception.New(exception.MapperParsing, "Field [%s] is a metadata field and cannot be added inside a document. Use the index API request parameters.", name)
	case t.kind != json.Integer && t.kind != json.Float:
		line, column := w.here().lineColumn(w.at)
		err = exception.New(exception.Parsing, "Failed to parse object: expecting token of type [VALUE_NUMBER] but found [%s]", t.kind).With("line", line).With("col", column)
	case number(t.text).float() < 1:
		err = exception.New(exception.IllegalArgument, "Field [%s] must be a positive integer.", name)
	default:
		return true, nil
	}
	return true, w.unreadable(&Field{path: name, kind: &fieldType{name: name}}, t, err)
}

// shell is an object without children, to hold additions.
func (f *Field) shell() *Field {
	shell := newObject(f.name, f.path)
	shell.kind, shell.includeInParent, shell.includeInRoot, shell.disabled = f.kind, f.includeInParent, f.includeInRoot, f.disabled
	return shell
}
