package mapping

import (
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	json "github.com/reshelve/reshelve/internal/opensearch/token"
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
	if err := w.add(parent, f); err != nil {
		return err
	}
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
			if err := w.add(parent, f); err != nil {
				return err
			}
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
	if err := w.add(parent, f); err != nil {
		return err
	}
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
		if err := w.add(o, f); err != nil {
			return nil, 0, err
		}
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
	f.seal()
	return f, nil
}
