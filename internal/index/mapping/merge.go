package mapping

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// Merge is the mapping after update, the body of a put-mapping request or the
// additions of a document, has been merged into it. Errors are exceptions.
func (m *Mapping) Merge(update []byte, l Limits) (*Mapping, error) {
	from, err := readUpdate(update, &l)
	if err != nil {
		return nil, err
	}
	return m.merge(from, &l, false)
}

// readUpdate reads the body of a put-mapping request, or additions.
func readUpdate(update []byte, l *Limits) (*Mapping, error) {
	tree, err := parseTree(update)
	if err != nil {
		return nil, err
	}
	if _, typed := tree.at["_doc"]; typed && len(tree.keys) == 1 {
		return nil, exception.New(exception.IllegalArgument, "Types cannot be provided in put mapping requests")
	}
	r := &reading{limits: l}
	return r.mapping(tree)
}

// MergeTemplate is Merge by the rules of templates, when several make the mapping
// of one index: a later definition of a field replaces an earlier one, unless one
// of both is an object; dynamic templates are replaced by name, _meta by key.
func (m *Mapping) MergeTemplate(update []byte, l Limits) (*Mapping, error) {
	tree, err := parseTree(update)
	if err != nil {
		return nil, err
	}
	r := &reading{limits: &l}
	from, err := r.mapping(tree)
	if err != nil {
		return nil, failedToParse(err)
	}
	return m.merge(from, &l, true)
}

func (m *Mapping) merge(from *Mapping, l *Limits, template bool) (*Mapping, error) {
	merged := *m
	var err error
	if merged.root, err = mergeObject(m.root.withoutRedundantIncludes(true), from.root, template); err != nil {
		return nil, err
	}
	if merged.own, err = mergeOwn(m, from, template); err != nil {
		return nil, err
	}
	if from.dates != unset {
		merged.dates = from.dates
	}
	if from.numbers != unset {
		merged.numbers = from.numbers
	}
	if from.formatsSet {
		merged.formats, merged.formatsSet, merged.detect = from.formats, true, from.detect
	}
	if from.templateSet {
		merged.templates, merged.templateSet = from.templates, true
		if template {
			merged.templates = mergeTemplates(m.templates, from.templates)
		}
	}
	if from.meta != nil {
		merged.meta = from.meta
		if template && m.meta != nil {
			merged.meta = withDefaults(from.meta, m.meta)
		}
	}
	return &merged, merged.completeAfter(m, from, l)
}

func mergeTemplates(into, from []*template) []*template {
	merged := slices.Clone(into)
	for _, t := range from {
		at := slices.IndexFunc(merged, func(other *template) bool { return other.name == t.name })
		if at >= 0 {
			merged[at] = t
		} else {
			merged = append(merged, t)
		}
	}
	return merged
}

// withDefaults adds what o does not have, objects key by key.
func withDefaults(o, defaults *object) *object {
	merged := o.clone()
	keys := slices.Clone(o.keys)
	for _, key := range defaults.keys {
		value, ok := merged.at[key]
		if !ok {
			keys = append(keys, key)
			merged.at[key] = defaults.at[key]
			continue
		}
		inner, isObject := value.(*object)
		if other, both := defaults.at[key].(*object); isObject && both {
			merged.at[key] = withDefaults(inner, other)
		}
	}
	merged.keys = hashOrder(keys)
	return merged
}

func mergeOwn(m, from *Mapping, template bool) ([]*Field, error) {
	merged := m.own
	for _, f := range from.own {
		if !template {
			var err error
			if f, err = mergeLeaf(m.ownField(f.name), f); err != nil {
				return nil, err
			}
		}
		merged = inOrder(append(slices.DeleteFunc(slices.Clone(merged), func(other *Field) bool { return other.name == f.name }), f))
	}
	return merged, nil
}

// mergeField merges two definitions of the field at one path.
func mergeField(into, from *Field, template bool) (*Field, error) {
	switch {
	case into.IsObject():
		return mergeObject(into, from, template)
	case template && !from.IsObject():
		return from, nil
	case into.kind == aliasType && from.kind != aliasType:
		return nil, exception.New(exception.IllegalArgument, "Cannot merge a field alias mapping [%s] with a mapping that is not for a field alias.", into.path)
	case into.kind == aliasType:
		return from, nil
	}
	return mergeLeaf(into, from)
}

func mergeObject(into, from *Field, template bool) (*Field, error) {
	if !from.IsObject() {
		return nil, notAnObject(from)
	}
	switch {
	case into.kind == nestedType && from.kind != nestedType:
		return nil, exception.New(exception.IllegalArgument, "cannot change object mapping from nested to non-nested")
	case into.kind != nestedType && from.kind == nestedType:
		return nil, exception.New(exception.IllegalArgument, "cannot change object mapping from non-nested to nested")
	}
	merged := *into
	if err := merged.mergeRules(from, template); err != nil {
		return nil, err
	}
	if len(from.order) == 0 {
		return &merged, nil
	}
	merged.children = maps.Clone(into.children)
	for _, child := range from.order {
		existing := into.children[child.name]
		if existing == nil {
			merged.put(child)
			continue
		}
		both, err := mergeChild(existing, child, template)
		if err != nil {
			return nil, err
		}
		merged.put(both)
	}
	merged.order = withPut(into.order, merged.children, from.order)
	return &merged, nil
}

// canMerge tells whether the rules of an object may be merged, without merging.
func (f *Field) canMerge(from *Field, template bool) error {
	rules := *f
	rules.children, rules.order = nil, nil
	_, err := mergeObject(&rules, from, template)
	return err
}

// mergeChild is mergeField for children of objects that are both whole.
func mergeChild(into, from *Field, template bool) (*Field, error) {
	if !into.IsObject() && from.IsObject() {
		return nil, notAnObject(from)
	}
	return mergeField(into, from, template)
}

func notAnObject(f *Field) error {
	return exception.New(exception.IllegalArgument, "can't merge a non object mapping [%s] with an object mapping", f.path)
}

// mergeRules merges what an object has beside its children.
func (f *Field) mergeRules(from *Field, template bool) error {
	fixed := func(format string, args ...any) error { return exception.New(exception.Mapper, format, args...) }
	if from.dynamic != inherited {
		f.dynamic = from.dynamic
	}
	if template {
		if from.set.enabled {
			f.disabled, f.set.enabled = from.disabled, true
		}
		if from.set.inParent {
			f.includeInParent, f.set.inParent = from.includeInParent, true
		}
		if from.set.inRoot {
			f.includeInRoot, f.set.inRoot = from.includeInRoot, true
		}
		return nil
	}
	switch {
	case f.includeInParent != from.includeInParent:
		return fixed("the [include_in_parent] parameter can't be updated on a nested object mapping")
	case f.includeInRoot != from.includeInRoot:
		return fixed("the [include_in_root] parameter can't be updated on a nested object mapping")
	case f.disabled != from.disabled && (f.path != "" || from.set.enabled):
		name := f.path
		if name == "" {
			name = "_doc"
		}
		return fixed("the [enabled] parameter can't be updated for the object mapping [%s]", name)
	}
	return nil
}

// mergeLeaf merges parameters, multi-fields and copy_to.
func mergeLeaf(into, from *Field) (*Field, error) {
	if into.kind != from.kind {
		name := from.kind.name
		switch {
		case from.IsObject():
			name = "ObjectMapper"
		case from.kind == aliasType:
			name = "FieldAliasMapper"
		}
		return nil, exception.New(exception.IllegalArgument, "mapper [%s] cannot be changed from type [%s] to [%s]", into.path, into.kind.name, name)
	}
	merged := *from
	merged.params = slices.Clone(from.params)
	if err := merged.conflicts(into); err != nil {
		return nil, err
	}
	var err error
	if merged.multi, err = mergeMulti(into.multi, from.multi); err != nil {
		return nil, err
	}
	if err := merged.finish(); err != nil {
		return nil, err
	}
	return &merged, nil
}

// conflicts refuses changes of parameters that cannot be changed, and keeps those
// of into that stay when they are not told again.
func (f *Field) conflicts(into *Field) error {
	var told []string
	for _, i := range f.kind.mergeOrder() {
		p := &f.kind.params[i]
		if p.keep && f.params[i] == nil {
			f.params[i] = into.params[i]
			continue
		}
		before, after := into.param(i), f.param(i)
		if equal(before, after) || p.update != nil && p.update(before, after) {
			continue
		}
		if f.kind == geoType {
			told = append(told, fmt.Sprintf("mapper [%s] has different [%s] values", f.path, p.name))
			if p.name == "index" {
				told = append(told, fmt.Sprintf("mapper [%s] has different [index_options] values", f.path))
			}
		} else {
			told = append(told, fmt.Sprintf("Cannot update parameter [%s] from [%s] to [%s]", p.name, javaParam(before), javaParam(after)))
		}
	}
	switch {
	case told == nil:
		return nil
	case f.kind == geoType:
		return exception.New(exception.IllegalArgument, "Mapper for [%s] conflicts with existing mapping:\n[%s]", f.path, strings.Join(told, ", "))
	}
	return exception.New(exception.IllegalArgument, "Mapper for [%s] conflicts with existing mapper:\n\t%s", f.path, strings.Join(told, "\n\t"))
}

// mergeMulti merges two lists of multi-fields.
func mergeMulti(into, from []*Field) ([]*Field, error) {
	if len(from) == 0 {
		return into, nil
	}
	byName := make(map[string]*Field, len(into))
	for _, multi := range into {
		byName[multi.name] = multi
	}
	for _, multi := range from {
		if existing := byName[multi.name]; existing != nil {
			var err error
			if multi, err = mergeField(existing, multi, false); err != nil {
				return nil, err
			}
		}
		byName[multi.name] = multi
	}
	return inOrder(slices.Collect(maps.Values(byName))), nil
}

// mergeOrder are the places of the parameters in the order in which conflicts are told.
func (t *fieldType) mergeOrder() []int {
	order := make([]int, len(t.params))
	for i := range order {
		order[i] = i
		if t.merged != nil {
			order[i] = t.index(t.merged[i])
		}
	}
	return order
}
