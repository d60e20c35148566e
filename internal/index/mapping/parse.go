package mapping

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// Parse reads the object under "mappings" of an index or template. Errors are
// exceptions (package exception).
func Parse(mappings []byte, l Limits) (*Mapping, error) {
	tree, err := parseTree(mappings)
	if err != nil {
		return nil, err
	}
	if _, typed := tree.at["_doc"]; typed && len(tree.keys) == 1 {
		return nil, exception.New(exception.IllegalArgument, "The mapping definition cannot be nested under a type")
	}
	r := &reading{limits: &l}
	update, err := r.mapping(tree)
	if err != nil {
		return nil, failedToParse(err)
	}
	return update, update.complete(&l)
}

// failedToParse is how the creation of an index tells what is wrong with a
// definition; put-mapping tells the cause alone.
func failedToParse(err error) error {
	cause := exception.From(err)
	return exception.New(exception.MapperParsing, "Failed to parse mapping [_doc]: %s", cause.Reason).CausedBy(cause)
}

// reading is the reading of one definition.
type reading struct {
	limits *Limits
	fields int // read so far, those that are told twice counted twice
}

// count refuses definitions of far more fields than there may be while they are
// read: merging those that are told twice would take the square of their number.
func (r *reading) count() error {
	r.fields++
	if most := r.limits.TotalFields; most < math.MaxInt/2 && r.fields > 2*most+1000 {
		return tooMany(most)
	}
	return nil
}

// mapping reads a whole definition.
func (r *reading) mapping(tree *object) (*Mapping, error) {
	tree = tree.clone()
	m := &Mapping{root: newObject("", "")}
	var own []string
	err := tree.each(func(key string, v any) error {
		if _, ok := ownTypes[key]; ok {
			own = append(own, key)
			return nil
		}
		known, err := r.objectParam(m.root, key, v)
		if !known && err == nil {
			known, err = r.rootParam(m, key, v)
		}
		if known {
			tree.take(key)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(own)
	for _, name := range own {
		v, _ := tree.take(name)
		f, err := r.readOwn(name, v)
		if err != nil {
			return nil, err
		}
		m.own = append(m.own, f)
	}
	if v, ok := tree.take("_meta"); ok && v != nil {
		if m.meta, err = asObject(v); err != nil {
			return nil, err
		}
	}
	if rest := tree.remaining(); rest != "" {
		return nil, exception.New(exception.MapperParsing, "Root mapping definition has unsupported parameters: %s", rest)
	}
	m.root.seal()
	m.detect, err = detectors(m.formats, m.formatsSet)
	return m, err
}

// rootParam reads a parameter that the root alone has.
func (r *reading) rootParam(m *Mapping, key string, v any) (known bool, err error) {
	switch key {
	case "dynamic_date_formats", "date_formats":
		m.formats, err = readFormats(v)
		m.formatsSet = true
	case "dynamic_templates":
		m.templates, err = readTemplates(v)
		m.templateSet = true
	case "date_detection":
		m.dates, err = readTristate(key, v)
	case "numeric_detection":
		m.numbers, err = readTristate(key, v)
	default:
		return false, nil
	}
	return true, err
}

func readTristate(name string, v any) (tristate, error) {
	on, err := namedBool(v, name)
	if on {
		return yes, err
	}
	return no, err
}

// objectParam reads a parameter that each object has.
func (r *reading) objectParam(f *Field, key string, v any) (known bool, err error) {
	switch key {
	case "dynamic":
		f.dynamic, err = readDynamic(v)
	case "enabled":
		var on bool
		on, err = namedBool(v, "enabled.enabled")
		f.disabled, f.set.enabled = !on, true
	case "properties":
		switch v := v.(type) {
		case *object:
			return true, r.properties(f, v)
		case []any:
			if len(v) == 0 {
				return true, nil
			}
		}
		return true, exception.New(exception.OpenSearchParse, "properties must be a map type")
	case "include_in_all":
	case "composite":
		err = exception.New(exception.IllegalArgument, "star tree index is under an experimental feature and can be activated only by enabling "+
			"opensearch.experimental.feature.composite_index.star_tree.enabled feature flag in the JVM options")
	case "derived":
		switch v := v.(type) {
		case *object:
			return len(v.keys) == 0, nil
		case []any:
			return len(v) == 0, nil
		}
		return true, exception.New(exception.OpenSearchParse, "derived must be a map type")
	default:
		return false, nil
	}
	return true, err
}

func readDynamic(v any) (dynamic, error) {
	if v == nil {
		return 0, nullNode("fieldNode")
	}
	switch strings.ToLower(javaText(v)) {
	case "strict":
		return strict, nil
	case "strict_allow_templates":
		return strictAllowTemplates, nil
	}
	on, err := namedBool(v, "dynamic.dynamic")
	if on {
		return dynamicTrue, err
	}
	return dynamicFalse, err
}

// properties reads the children of an object.
func (r *reading) properties(parent *Field, properties *object) error {
	return properties.each(func(key string, v any) error {
		o, ok := v.(*object)
		if !ok {
			if list, ok := v.([]any); ok && len(list) == 0 {
				return nil
			}
			return exception.New(exception.MapperParsing, "Expected map for property [fields] on field [%s] but got a class java.lang.String", key)
		}
		kind, err := typeOf(key, o)
		if err != nil {
			return err
		}
		parts, err := r.split(parent, key)
		if err != nil {
			return err
		}
		inner, err := parent.within(parts[:len(parts)-1])
		if err != nil {
			return err
		}
		o = o.clone()
		f, err := r.field(kind, parts[len(parts)-1], inner.path, o)
		if err != nil {
			return err
		}
		o.take("type")
		if err := noRemaining(o, key); err != nil {
			return err
		}
		return inner.add(f)
	})
}

// within is the object at parts below f while f is built: what is missing is made,
// and what is there must be such an object as is made.
func (f *Field) within(parts []string) (*Field, error) {
	for _, part := range parts {
		fresh := newObject(part, join(f.path, part))
		existing := f.children[part]
		switch {
		case existing == nil:
			f.put(fresh)
			f = fresh
			continue
		case !existing.IsObject():
			return mergeField(existing, fresh, false) // fails
		}
		if err := existing.canMerge(fresh, false); err != nil {
			return nil, err
		}
		f = existing
	}
	return f, nil
}

// typeOf finds the type that a field's definition names or implies.
func typeOf(name string, o *object) (*fieldType, error) {
	v := o.at["type"]
	if v == nil {
		_, enabled := o.at["enabled"]
		if o.at["properties"] != nil || len(o.at) == 1 && enabled && o.at["enabled"] != nil {
			return objectType, nil
		}
		return nil, exception.New(exception.MapperParsing, "No type specified for field [%s]", name)
	}
	if kind := types[javaText(v)]; kind != nil {
		return kind, nil
	}
	return nil, exception.New(exception.MapperParsing, "No handler for type [%s] declared on field [%s]", javaText(v), name)
}

// split takes a key with dots apart, as Java splits: empty parts at the end are
// dropped. Paths deeper than the limit are refused before they are made.
func (r *reading) split(parent *Field, key string) ([]string, error) {
	parts := strings.Split(key, ".")
	for len(parts) > 1 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	if len(parts) == 1 && parts[0] == "" && key != "" {
		return nil, exception.New(exception.MapperParsing, "Invalid field name %s", key)
	}
	if slices.Contains(parts, "") {
		return nil, exception.New(exception.IllegalArgument, "name cannot be empty string")
	}
	if len(parts) > 1 {
		return parts, deepest(parent.path, parts, r.limits.Depth)
	}
	return parts, nil
}

// deepest refuses parts below a path when they are deeper than the limit, before
// their paths are made: those would take the square of their number.
func deepest(path string, parts []string, limit int) error {
	above := 0
	if path != "" {
		above = strings.Count(path, ".") + 1
	}
	if above+len(parts) <= limit {
		return nil
	}
	return tooDeep(join(path, strings.Join(parts[:max(1, min(len(parts)-1, limit-above))], ".")), limit)
}

// field reads one definition; keys that it knows are taken from o.
func (r *reading) field(kind *fieldType, name, parentPath string, o *object) (*Field, error) {
	if name == "" {
		return nil, exception.New(exception.IllegalArgument, "name cannot be empty string")
	}
	if err := r.count(); err != nil {
		return nil, err
	}
	path := join(parentPath, name)
	switch kind {
	case objectType, nestedType:
		return r.object(kind, name, path, o)
	case aliasType:
		f := &Field{name: name, path: path, kind: aliasType}
		target, ok := o.take("path")
		if !ok || target == nil || javaText(target) == "" {
			return nil, exception.New(exception.MapperParsing, "The [path] property must be specified for field [%s].", name)
		}
		f.target = javaText(target)
		return f, nil
	}
	f := newLeaf(name, path, kind)
	if err := r.params(f, o); err != nil {
		return nil, err
	}
	return f, f.finish()
}

func (r *reading) object(kind *fieldType, name, path string, o *object) (*Field, error) {
	f := newObject(name, path)
	f.kind = kind
	for _, include := range []struct {
		key     string
		to, set *bool
	}{{"include_in_parent", &f.includeInParent, &f.set.inParent}, {"include_in_root", &f.includeInRoot, &f.set.inRoot}} {
		v, ok := o.take(include.key)
		if !ok || v == nil {
			continue
		}
		on, err := namedBool(v, name+"."+include.key)
		if err != nil {
			return nil, err
		}
		if kind == nestedType {
			*include.to, *include.set = on, true
		}
	}
	err := o.each(func(key string, v any) error {
		known, err := r.objectParam(f, key, v)
		if known {
			o.take(key)
		}
		return err
	})
	return f, err
}

// put adds a child while the object is built, in place of one with the same name;
// seal is due afterwards.
func (f *Field) put(child *Field) { f.children[child.name] = child }

// add is put, but merges the child with one that is there: "a.b" and "a" may be
// told side by side.
func (f *Field) add(child *Field) error {
	if existing := f.children[child.name]; existing != nil {
		existing.seal()
		child.seal()
		var err error
		if child, err = mergeField(existing, child, false); err != nil {
			return err
		}
	}
	f.put(child)
	return nil
}

// seal puts the children of an object, and of those in it, in order.
func (f *Field) seal() {
	if f.children == nil {
		return
	}
	for _, child := range f.children {
		child.seal()
	}
	f.order = inOrder(slices.Collect(maps.Values(f.children)))
}

// withPut is the order of children of whom those of some names were put among others that are in order.
func withPut(before []*Field, children map[string]*Field, put []*Field) []*Field {
	if len(put) > len(before)/8 {
		return inOrder(slices.Collect(maps.Values(children)))
	}
	after := slices.Grow(slices.Clone(before), len(put))
	for _, f := range put {
		f = children[f.name]
		if at, found := spot(after, f.name); found {
			after[at] = f
		} else {
			after = slices.Insert(after, at, f)
		}
	}
	if len(after) != len(children) { // some were not in order
		return inOrder(slices.Collect(maps.Values(children)))
	}
	return after
}

// spot is where a name is, or would be, among fields in order.
func spot(fields []*Field, name string) (at int, found bool) {
	return slices.BinarySearchFunc(fields, name, func(f *Field, name string) int {
		switch {
		case f.name == name:
			return 0
		case java.Less(f.name, name):
			return -1
		}
		return 1
	})
}

// inOrder sorts fields by name, as the server does.
func inOrder(fields []*Field) []*Field {
	slices.SortFunc(fields, func(a, b *Field) int {
		if java.Less(a.name, b.name) {
			return -1
		}
		return 1
	})
	return fields
}
