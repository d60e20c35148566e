package mapping

import (
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// tolerated are parameters that any type but the old ones may be given without
// effect.
var tolerated = set("store", "meta", "index", "doc_values", "index_options", "similarity", "boost")

// params reads the parameters of a leaf, multi-fields and copy_to among them.
func (r *reading) params(f *Field, o *object) error {
	return o.each(func(key string, v any) error {
		i := f.kind.index(key)
		if i >= 0 && f.kind.params[i].read == nil {
			i = -1
		}
		switch {
		case key == "type":
			return nil
		case key == "fields" && f.kind.multiAt >= 0:
			o.take(key)
			return r.multiFields(f, v)
		case key == "copy_to" && f.kind.multiAt >= 0:
			o.take(key)
			f.copyTo = readCopyTo(v)
			return nil
		case i < 0 && f.kind.old:
			return nil
		case i < 0 && tolerated[key]:
			o.take(key)
			return nil
		case i < 0:
			return exception.New(exception.MapperParsing, "unknown parameter [%s] on mapper [%s] of type [%s]", key, f.name, f.kind.name)
		case v == nil && !f.kind.params[i].null:
			return exception.New(exception.MapperParsing, "[%s] on mapper [%s] of type [%s] must not have a [null] value", key, f.name, f.kind.name)
		}
		o.take(key)
		if v == nil {
			return nil
		}
		var err error
		f.params[i], err = f.kind.params[i].read(r, f, key, v)
		return err
	})
}

func readCopyTo(v any) []string {
	list, ok := v.([]any)
	if !ok {
		return []string{javaText(v)}
	}
	var paths []string
	for _, item := range list {
		paths = append(paths, javaText(item))
	}
	return paths
}

func (r *reading) multiFields(f *Field, v any) error {
	fields, ok := v.(*object)
	if !ok {
		if list, ok := v.([]any); ok && len(list) == 0 {
			return nil
		}
		return exception.New(exception.MapperParsing, "expected map for property [fields] on field [%s] or [fields] but got a class %s", javaText(v), javaClass(v))
	}
	err := fields.each(func(name string, v any) error {
		refuse := func(format string, args ...any) error { return exception.New(exception.MapperParsing, format, args...) }
		if strings.Contains(name, ".") {
			return refuse("Field name [%s] which is a multi field of [%s] cannot contain '.'", name, f.name)
		}
		o, ok := v.(*object)
		if !ok {
			return refuse("illegal field [%s], only fields can be specified inside fields", name)
		}
		typeName := o.at["type"]
		if typeName == nil {
			return refuse("no type specified for property [%s]", name)
		}
		kind := types[javaText(typeName)]
		switch kind {
		case nil:
			return refuse("no handler for type [%s] declared on field [%s]", javaText(typeName), name)
		case objectType, nestedType, aliasType:
			return refuse("Type [%s] cannot be used in multi field", kind.name)
		}
		o = o.clone()
		multi, err := r.field(kind, name, f.path, o)
		if err != nil {
			return err
		}
		o.take("type")
		if err := noRemaining(o, "fields"); err != nil {
			return err
		}
		f.multi = append(f.multi, multi)
		return nil
	})
	inOrder(f.multi)
	return err
}

// noRemaining refuses keys that nobody has taken.
func noRemaining(o *object, name string) error {
	if rest := o.remaining(); rest != "" {
		return exception.New(exception.MapperParsing, "Mapping definition for [%s] has unsupported parameters: %s", name, rest)
	}
	return nil
}
