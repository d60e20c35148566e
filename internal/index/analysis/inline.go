package analysis

import (
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// Inline is what a body of _analyze asks for.
type Inline struct {
	Texts []string // "text"; nil when it is missing

	Field      Analyzer // that of "field": what takes its texts apart; nil without one
	Analyzer   string   // "analyzer"
	Normalizer string   // "normalizer"

	Tokenizer   *Part // "tokenizer"; nil when it is missing
	CharFilters []Part
	Filters     []Part

	Global  bool // no index is named: the server's own parts are meant
	Explain bool // "explain": tokens after each step
}

// Part is a part of a body: a name, or a definition.
type Part struct {
	Name     string
	Settings map[string][]string // options of a definition by their names; nil of a name
	JSON     string              // of a definition, for the error about one without a type
}

// Told is a token as _analyze tells it.
type Told struct {
	Term       []byte
	Start, End int // UTF-16 units, over all texts
	Position   int
	Length     int // "positionLength"; told when it is not 1
	Type       string
	Keyword    bool
}

// Inline takes texts apart as a body of _analyze asks for. The error is an
// *exception.Error with the server's type and reason. "explain" is refused.
func (a *Analysis) Inline(q Inline) ([]Told, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	c, err := a.inline(q)
	if err != nil {
		return nil, err
	}
	most := a.parts.number("analyze.max_token_count", 10000)
	var all []Told
	var tokens []Token
	position, offset := 0, 0
	for _, text := range q.Texts {
		data := []byte(text)
		run := runOf(c, data, tokens[:0])
		tokens = run.tokens
		places := unitsAt(data)
		for _, t := range tokens {
			all = append(all, Told{t.Term, offset + int(places[t.Start]), offset + int(places[t.End]), position + t.Position, t.Length, t.Type, t.Keyword})
		}
		if len(all) > most {
			return nil, exception.New(exception.IllegalState, "The number of tokens produced by calling _analyze has exceeded the allowed maximum of [%d]. This limit can be set by changing the [index.analyze.max_token_count] index level setting.", most)
		}
		position += run.next + c.Gap()
		offset += int(places[run.end]) + 1
	}
	return all, nil
}

// ran is what a run of an analyzer over one text gives.
type ran struct {
	tokens    []Token
	next, end int
}

func runOf(a Analyzer, text []byte, dst []Token) ran {
	c, ok := a.(*chain)
	if g, gapped := a.(otherGap); gapped {
		c, ok = g.chain, true
	}
	if !ok {
		tokens := a.Analyze(dst, text)
		next := 0
		if n := len(tokens); n > len(dst) {
			next = tokens[n-1].Position + 1
		}
		return ran{tokens, next, len(text)}
	}
	tokens, next, end := c.run(dst, text)
	return ran{tokens, next, end}
}

// otherGap is a chain with a gap that is not its own.
type otherGap struct {
	*chain
	gap int
}

func (g otherGap) Gap() int { return g.gap }

func invalid(reason string) *exception.Error {
	return exception.New(exception.ActionRequestValidation, "Validation Failed: 1: %s;", reason)
}

func (q Inline) check() error {
	extra := q.Tokenizer != nil || len(q.CharFilters) > 0 || len(q.Filters) > 0
	switch {
	case len(q.Texts) == 0:
		return invalid("text is missing")
	case q.Global && q.Normalizer != "":
		return invalid("index is required if normalizer is specified")
	case q.Normalizer != "" && (q.Tokenizer != nil || q.Analyzer != ""):
		return invalid("tokenizer/analyze should be null if normalizer is specified")
	case q.Analyzer != "" && extra:
		return invalid("cannot define extra components on a named analyzer")
	case q.Normalizer != "" && extra:
		return invalid("cannot define extra components on a named normalizer")
	case q.Field != nil && extra:
		return invalid("cannot define extra components on a field-specific analyzer")
	case q.Explain:
		return exception.New(exception.IllegalArgument, "[explain] is not supported")
	}
	return nil
}

// inline finds or makes the analyzer.
func (a *Analysis) inline(q Inline) (Analyzer, error) {
	switch {
	case q.Analyzer != "":
		return a.named(q)
	case q.Normalizer != "":
		n, ok := a.Normalizer(q.Normalizer)
		if !ok {
			return nil, exception.New(exception.IllegalArgument, "failed to find normalizer under [%s]", q.Normalizer)
		}
		return otherGap{&n.(*normalizer).chain, 0}, nil
	case q.Tokenizer != nil || len(q.Filters) > 0 || len(q.CharFilters) > 0:
		return a.custom(q)
	case q.Field != nil:
		return q.Field, nil
	}
	q.Analyzer = "default"
	return a.named(q)
}

func (a *Analysis) named(q Inline) (Analyzer, error) {
	if !q.Global {
		if found, ok := a.Analyzer(q.Analyzer); ok {
			return found, nil
		}
	} else if build, ok := builtin[q.Analyzer]; ok {
		return otherGap{build(), 0}, nil
	}
	if build, known := analyzerKinds()[q.Analyzer]; known && build == nil {
		return nil, unsupported(groupAnalyzer, q.Analyzer)
	}
	return nil, exception.New(exception.IllegalArgument, "failed to find %sanalyzer [%s]", q.global(), q.Analyzer)
}

func (q Inline) global() string {
	if q.Global {
		return "global "
	}
	return ""
}

// custom makes an analyzer of parts; without a tokenizer it is a normalizer.
func (a *Analysis) custom(q Inline) (Analyzer, error) {
	c := &chain{tokenizer: whole{}, gap: defaultGap}
	if q.Tokenizer != nil {
		t, err := a.inlineTokenizer(q, *q.Tokenizer)
		if err != nil {
			return nil, err
		}
		c.tokenizer = t
	}
	for _, part := range q.CharFilters {
		f, err := a.inlineCharFilter(q, part)
		if err != nil {
			return nil, err
		}
		if typ := a.inlineType(groupCharFilter, part); q.Tokenizer == nil && typ != "mapping" && typ != "pattern_replace" && typ != "html_strip" {
			return nil, exception.New(exception.IllegalArgument, "Custom normalizer may not use char filter [%s]", part.label())
		}
		c.charFilters = append(c.charFilters, f)
	}
	for _, part := range q.Filters {
		f, err := a.inlineFilter(q, part)
		if err != nil {
			return nil, err
		}
		if q.Tokenizer == nil && !filterKinds()[a.inlineType(groupFilter, part)].normalizing {
			return nil, exception.New(exception.IllegalArgument, "Custom normalizer may not use filter [%s]", part.label())
		}
		if m, ok := f.(*multiplexer); ok && part.Settings != nil {
			m.body = &q
		}
		if err := c.append(f, part.label()); err != nil {
			return nil, err
		}
	}
	c.fuse()
	return c, nil
}

// label is how the server calls a part.
func (p Part) label() string {
	if p.Settings == nil {
		return p.Name
	}
	return "__anonymous__" + strings.Join(p.Settings["type"], "")
}

func (a *Analysis) inlineType(group string, part Part) string {
	if part.Settings != nil {
		return strings.Join(part.Settings["type"], "")
	}
	return a.parts.typeNamed(group, part.Name)
}

// definition is the part of a definition, or of a bare name in an index: there, other
// than in analyzers of settings, a name means a definition without options.
func (a *Analysis) definition(group string, part Part) (typ string, p *part, err *exception.Error) {
	if part.Settings == nil {
		return part.Name, a.parts.part(part.Name, map[string][]string{}), nil
	}
	types := part.Settings["type"]
	if len(types) != 1 {
		return "", nil, exception.New(exception.IllegalArgument, "Missing [type] setting for anonymous %s: %s", group, part.JSON)
	}
	return types[0], a.parts.part(part.label(), part.Settings), nil
}

func (b *builder) part(name string, values map[string][]string) *part {
	return &part{name: name, values: values, build: b}
}

func (q Inline) notFound(group, name string, global bool) error {
	if isUnsupported(group, name) {
		return unsupported(group, name)
	}
	word := q.global()
	if global {
		word = "global "
	}
	return exception.New(exception.IllegalArgument, "failed to find %s%s under [%s]", word, group, name)
}

func (a *Analysis) inlineTokenizer(q Inline, part Part) (tokenizer, error) {
	if part.Settings == nil && !q.Global {
		if t, ok := a.parts.tokenizers[part.Name]; ok {
			return t, nil
		}
	}
	typ, p, err := a.definition(groupTokenizer, part)
	if err != nil {
		return nil, err
	}
	if tokenizerKinds()[typ] == nil {
		return nil, q.notFound(groupTokenizer, typ, part.Settings != nil)
	}
	t, err := newTokenizer(typ, p)
	if err != nil {
		return nil, err
	}
	return t, nil
}

func (a *Analysis) inlineCharFilter(q Inline, part Part) (charFilter, error) {
	if part.Settings == nil && !q.Global {
		if f, ok := a.parts.charFilters[part.Name]; ok {
			return f, nil
		}
	}
	typ, p, err := a.definition(groupCharFilter, part)
	if err != nil {
		return nil, err
	}
	if charFilterKinds()[typ] == nil {
		return nil, q.notFound(groupCharFilter, typ, part.Settings != nil)
	}
	if part.Settings == nil && q.Global && typ != "html_strip" {
		return nil, settingsRequired()
	}
	f, err := newCharFilter(typ, p)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func settingsRequired() *exception.Error {
	return exception.New(exception.IllegalArgument, "Analysis settings required - can't instantiate analysis factory")
}

func (a *Analysis) inlineFilter(q Inline, part Part) (filter, error) {
	if part.Settings == nil && !q.Global {
		if f, ok := a.parts.filters[part.Name]; ok {
			return f, nil
		}
	}
	typ, p, err := a.definition(groupFilter, part)
	if err != nil {
		return nil, err
	}
	if part.Settings == nil {
		return a.bareFilter(q, typ, p)
	}
	if kind, ok := filterKinds()[typ]; typ != "standard" && (!ok || kind.bareOnly || kind.make == nil && !kind.needs) {
		return nil, q.notFound(groupFilter, typ, true)
	}
	return asFilter(newFilter(typ, p))
}

// bareFilter is what a name means that no settings define: without an index what it means
// in an analyzer of settings, in an index a definition without options.
func (a *Analysis) bareFilter(q Inline, typ string, p *part) (filter, error) {
	kind, ok := filterKinds()[typ]
	switch {
	case typ == "standard", kind.bareOnly && kind.make != nil, q.Global && (typ == "nGram" || typ == "edgeNGram"),
		q.Global && ok && !kind.needs && kind.make != nil:
		return asFilter(bareFilter(typ))
	case !ok, kind.make == nil && !kind.needs:
		return nil, q.notFound(groupFilter, typ, false)
	case q.Global:
		return nil, settingsRequired()
	}
	return asFilter(newFilter(typ, p))
}

// asFilter keeps a nil exception from becoming an error.
func asFilter(f filter, err *exception.Error) (filter, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}
