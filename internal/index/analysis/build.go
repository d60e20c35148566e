package analysis

import (
	"maps"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// builder makes the parts of one index out of its settings.
type builder struct {
	index       map[string][]string // settings of the index that are not of analysis
	groups      map[string]map[string]*part
	tokenizers  map[string]tokenizer
	filters     map[string]filter
	charFilters map[string]charFilter
	analyzers   map[string]*chain
	normalizers map[string]*normalizer
}

// The groups of settings, as the server calls them.
const (
	groupAnalyzer   = "analyzer"
	groupNormalizer = "normalizer"
	groupTokenizer  = "tokenizer"
	groupFilter     = "filter"
	groupCharFilter = "char_filter"
)

// newBuilder sorts settings by group and name.
func newBuilder(settings map[string][]string) *builder {
	b := &builder{index: map[string][]string{}, groups: map[string]map[string]*part{},
		tokenizers: map[string]tokenizer{}, filters: map[string]filter{}, charFilters: map[string]charFilter{},
		analyzers: map[string]*chain{}, normalizers: map[string]*normalizer{}}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		path := strings.TrimPrefix(key, "index.")
		rest, ok := strings.CutPrefix(path, "analysis.")
		if !ok {
			b.index[path] = settings[key]
			continue
		}
		group, rest, _ := strings.Cut(rest, ".")
		name, option, _ := strings.Cut(rest, ".")
		if b.groups[group] == nil {
			b.groups[group] = map[string]*part{}
		}
		p := b.groups[group][name]
		if p == nil {
			p = &part{name: name, values: map[string][]string{}, build: b}
			b.groups[group][name] = p
		}
		p.values[option] = settings[key]
	}
	return b
}

// all builds everything that the settings define, used or not.
func (b *builder) all() *exception.Error {
	for _, step := range []struct {
		group string
		make  func(*part) *exception.Error
	}{
		{groupFilter, b.defineFilter}, {groupTokenizer, b.defineTokenizer}, {groupCharFilter, b.defineCharFilter},
		{groupAnalyzer, b.defineAnalyzer}, {groupNormalizer, b.defineNormalizer},
	} {
		parts := b.groups[step.group]
		for _, name := range slices.Sorted(maps.Keys(parts)) {
			if err := step.make(parts[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// typeOf is the type of a part that must have one.
func (p *part) typeOf(group string) (string, *exception.Error) {
	if !p.has("type") {
		return "", exception.New(exception.IllegalArgument, "%s [%s] must specify either an analyzer type, or a tokenizer", group, p.name)
	}
	return p.text("type", ""), nil
}

func unknownType(group, typ, name string) *exception.Error {
	return exception.New(exception.IllegalArgument, "Unknown %s type [%s] for [%s]", group, typ, name)
}

func unsupported(group, typ string) *exception.Error {
	return exception.New(exception.IllegalArgument, "%s [%s] is not supported", group, typ)
}

func (b *builder) defineFilter(p *part) *exception.Error {
	typ, err := p.typeOf(groupFilter)
	if err != nil {
		return err
	}
	f, err := newFilter(typ, p)
	if err == nil {
		b.filters[p.name] = f
	}
	return err
}

// newFilter makes a token filter of a type.
func newFilter(typ string, p *part) (filter, *exception.Error) {
	kind, ok := filterKinds()[typ]
	switch {
	case typ == "standard":
		return nil, exception.New(exception.IllegalArgument, "The [standard] token filter has been removed.")
	case !ok || kind.bareOnly:
		return nil, unknownType(groupFilter, typ, p.name)
	case kind.make == nil:
		return nil, unsupported(groupFilter, typ)
	}
	f := kind.make(p)
	return f, p.err
}

func (b *builder) defineTokenizer(p *part) *exception.Error {
	typ, err := p.typeOf(groupTokenizer)
	if err != nil {
		return err
	}
	t, err := newTokenizer(typ, p)
	if err == nil {
		b.tokenizers[p.name] = t
	}
	return err
}

func newTokenizer(typ string, p *part) (tokenizer, *exception.Error) {
	build, ok := tokenizerKinds()[typ]
	switch {
	case !ok:
		return nil, unknownType(groupTokenizer, typ, p.name)
	case build == nil:
		return nil, unsupported(groupTokenizer, typ)
	}
	t := build(p)
	return t, p.err
}

func (b *builder) defineCharFilter(p *part) *exception.Error {
	typ, err := p.typeOf(groupCharFilter)
	if err != nil {
		return err
	}
	f, err := newCharFilter(typ, p)
	if err == nil {
		b.charFilters[p.name] = f
	}
	return err
}

func newCharFilter(typ string, p *part) (charFilter, *exception.Error) {
	build, ok := charFilterKinds()[typ]
	if !ok {
		return nil, unknownType(groupCharFilter, typ, p.name)
	}
	f := build(p)
	return f, p.err
}

func (b *builder) defineAnalyzer(p *part) *exception.Error {
	if strings.HasPrefix(p.name, "_") {
		return exception.New(exception.IllegalArgument, "analyzer name must not start with '_'. got \"%s\"", p.name)
	}
	if p.name == "default_index" {
		return exception.New(exception.IllegalArgument, "setting [index.analysis.analyzer.default_index] is not supported anymore, use [index.analysis.analyzer.default] instead for index [%s]", b.text("provided_name"))
	}
	typ := p.text("type", "")
	if typ == "" && p.has("tokenizer") {
		typ = "custom"
	}
	switch typ {
	case "":
		_, err := p.typeOf(groupAnalyzer)
		return err
	case "custom":
		c, err := b.custom(p)
		if err == nil {
			b.analyzers[p.name] = c
		}
		return err
	}
	build, ok := analyzerKinds()[typ]
	switch {
	case !ok:
		return unknownType(groupAnalyzer, typ, p.name)
	case build == nil:
		return unsupported(groupAnalyzer, typ)
	}
	c := build(p)
	if p.err != nil {
		return p.err
	}
	c.gap = defaultGap
	b.analyzers[p.name] = c
	return nil
}

// text is a setting of the index.
func (b *builder) text(name string) string {
	if values := b.index[name]; len(values) == 1 {
		return values[0]
	}
	return ""
}

// custom makes an analyzer of a tokenizer and filters.
func (b *builder) custom(p *part) (*chain, *exception.Error) {
	name := p.text("tokenizer", "")
	if !p.has("tokenizer") {
		return nil, exception.New(exception.IllegalArgument, "Custom Analyzer [%s] must be configured with a tokenizer", p.name)
	}
	c := &chain{gap: p.number("position_increment_gap", defaultGap)}
	if p.err == nil && c.gap < 0 {
		p.illegal("[position_increment_gap] must be positive") // the server fails on the first document
	}
	if p.err != nil {
		return nil, p.err
	}
	var ok bool
	if c.tokenizer, ok = b.tokenizer(name); !ok {
		return nil, b.missing(p, groupTokenizer, name)
	}
	for _, name := range p.list(groupCharFilter) {
		f, ok := b.charFilters[name]
		if !ok {
			f, ok = bareCharFilter(name)
		}
		if !ok {
			return nil, b.missing(p, groupCharFilter, name)
		}
		c.charFilters = append(c.charFilters, f)
	}
	return c, b.addFilters(c, p)
}

// addFilters appends the filters that a part names.
func (b *builder) addFilters(c *chain, p *part) *exception.Error {
	for _, name := range p.list(groupFilter) {
		f, ok := b.filters[name]
		if !ok {
			var err *exception.Error
			if f, err = bareFilter(name); err != nil {
				return err
			} else if f == nil {
				return b.missing(p, groupFilter, name)
			}
		}
		if err := c.append(f, name); err != nil {
			return err
		}
	}
	c.fuse()
	return nil
}

func (b *builder) tokenizer(name string) (tokenizer, bool) {
	if t, ok := b.tokenizers[name]; ok {
		return t, true
	}
	return bareTokenizer(name)
}

// missing tells of a name that is not known, or of one that is known and not supported.
func (b *builder) missing(p *part, group, name string) *exception.Error {
	if isUnsupported(group, name) {
		return unsupported(group, name)
	}
	return exception.New(exception.IllegalArgument, "Custom Analyzer [%s] failed to find %s under name [%s]", p.name, group, name)
}

func (b *builder) defineNormalizer(p *part) *exception.Error {
	if typ := p.text("type", "custom"); typ != "custom" {
		if typ == "lowercase" {
			b.normalizers[p.name] = lowerNormalizer
			return nil
		}
		return unknownType(groupNormalizer, typ, p.name)
	}
	if p.has("tokenizer") {
		return exception.New(exception.IllegalArgument, "Custom normalizer [%s] cannot configure a tokenizer", p.name)
	}
	n := &normalizer{chain{tokenizer: whole{}}}
	for _, name := range p.list(groupCharFilter) {
		f, ok := b.charFilters[name]
		if !ok {
			f, ok = bareCharFilter(name)
		}
		if !ok {
			return exception.New(exception.IllegalArgument, "Custom normalizer [%s] failed to find char_filter under name [%s]", p.name, name)
		}
		if typ := b.typeNamed(groupCharFilter, name); typ != "mapping" && typ != "pattern_replace" {
			return exception.New(exception.IllegalArgument, "Custom normalizer [%s] may not use char filter [%s]", p.name, name)
		}
		n.chain.charFilters = append(n.chain.charFilters, f)
	}
	for _, name := range p.list(groupFilter) {
		if typ := b.typeNamed(groupFilter, name); filterKinds()[typ].make != nil && !filterKinds()[typ].normalizing {
			return exception.New(exception.IllegalArgument, "Custom normalizer [%s] may not use filter [%s]", p.name, name)
		}
	}
	if err := b.addFilters(&n.chain, p); err != nil {
		return err
	}
	b.normalizers[p.name] = n
	return nil
}

// typeNamed is the type of a part: of the settings, or of the name itself.
func (b *builder) typeNamed(group, name string) string {
	if p, ok := b.groups[group][name]; ok {
		return p.text("type", "")
	}
	return name
}
