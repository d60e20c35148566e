package catalog

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// RolledOver answers a rollover.
type RolledOver struct {
	OldIndex, NewIndex string
	RolledOver         bool // false: no condition held, or it was a dry run
	DryRun             bool
	Conditions         []Condition // in the order in which they were asked
}

// Condition is one condition of a rollover, as the server prints it, and whether it held.
type Condition struct {
	Text string // "[max_docs: 5]"
	Met  bool
}

// RolloverRequest is the body of a rollover: conditions, of which one is enough, and what
// the new index is asked to be.
type RolloverRequest struct {
	Request
	docs       *int64
	age        *time.Duration
	size       *int64
	conditions []string // names, in their order
}

// ParseRollover reads the body of a rollover. It may be empty.
func ParseRollover(body []byte) (RolloverRequest, error) {
	var r RolloverRequest
	n, err := parseBody(body)
	if err != nil || n == nil {
		return r, err
	}
	section := func(m *node) error { return nil }
	err = readFields("rollover", n, map[string]field{
		"conditions": {objects, r.readConditions},
		"settings":   {objects, section}, "aliases": {objects, section},
		"mappings": {objects, untyped},
	})
	if err != nil {
		return r, plain(err)
	}
	return r, r.read(n)
}

func (r *RolloverRequest) readConditions(n *node) error {
	for _, m := range n.members {
		r.conditions = append(r.conditions, m.name)
	}
	return readFields("conditions", n, map[string]field{
		"max_docs": {scalars, wholeNumber(&r.docs)},
		"max_age": {texts, func(n *node) error {
			age, err := ParseSpan("max_age", n.text)
			r.age = &age
			return err
		}},
		"max_size": {texts, func(n *node) error {
			size, err := ParseSize("max_size", n.text)
			r.size = &size
			return err
		}},
	})
}

// Evaluate holds the conditions against an index: its documents, age and bytes. Holds is
// true when one is met, or none is asked for.
func (r RolloverRequest) Evaluate(docs int64, age time.Duration, bytes int64) (conditions []Condition, holds bool) {
	conditions = []Condition{}
	for _, name := range r.conditions {
		var c Condition
		switch name {
		case "max_docs":
			c = Condition{fmt.Sprintf("[max_docs: %d]", *r.docs), docs >= *r.docs}
		case "max_age":
			c = Condition{fmt.Sprintf("[max_age: %s]", SpanText(*r.age)), age >= *r.age}
		case "max_size":
			c = Condition{fmt.Sprintf("[max_size: %s]", SizeText(*r.size)), bytes >= *r.size}
		}
		conditions = append(conditions, c)
		holds = holds || c.Met
	}
	return conditions, holds || len(conditions) == 0
}

// SpanText is a span as the server prints it: in its largest unit, with one decimal
// that is cut, not rounded.
func SpanText(d time.Duration) string {
	if d < 0 {
		return "-1"
	}
	for i := len(spans) - 1; i > 0; i-- {
		if d >= spans[i].unit {
			return oneDecimal(float64(d)/float64(spans[i].unit)) + spans[i].suffix
		}
	}
	if d == 0 {
		return "0s"
	}
	return strconv.FormatInt(int64(d), 10) + spans[0].suffix
}

// SizeText is a number of bytes as the server prints it: in its largest unit, with one
// decimal that is cut, not rounded.
func SizeText(n int64) string {
	for i := 4; i >= 0; i-- {
		if n >= sizes[i].unit {
			return oneDecimal(float64(n)/float64(sizes[i].unit)) + sizes[i].suffix
		}
	}
	return strconv.FormatInt(n, 10) + "b"
}

// oneDecimal cuts behind the first decimal, and leaves out a zero there.
func oneDecimal(f float64) string {
	tenths := int64(f * 10)
	if tenths%10 == 0 {
		return strconv.FormatInt(tenths/10, 10)
	}
	return fmt.Sprintf("%d.%d", tenths/10, tenths%10)
}

// Rollover is a rollover that may be made.
type Rollover struct {
	Old, New string   // indices
	Provided string   // the new one's name before date math
	Backing  *Backing // of a data stream
	target   string   // the alias
	explicit bool     // the alias says which index it writes to
	moved    Alias
}

// PlanRollover finds what a rollover of target does: from its write index to newIndex, or
// when that is "" to the name that follows. provided is the name under which an index was
// made, before date math.
func (c Catalog) PlanRollover(target, newIndex string, r RolloverRequest, provided func(index string) string, nowMillis int64) (Rollover, error) {
	if _, ok := c.Streams[target]; ok {
		return c.planStream(target, newIndex, r)
	}
	targets, ok := c.Aliases[target]
	if !ok {
		if _, index := c.Indices[target]; index {
			return Rollover{}, illegal("rollover target is a [concrete index] but one of [alias,data_stream] was expected")
		}
		return Rollover{}, illegal("rollover target [%s] does not exist", target)
	}
	old := writeIndex(targets)
	if old == "" {
		return Rollover{}, illegal("rollover target [%s] does not point to a write index", target)
	}
	p := Rollover{Old: old, target: target, moved: targets[old], Provided: newIndex}
	p.explicit = p.moved.WriteIndex != nil
	var err error
	if p.Provided == "" {
		if p.Provided, err = following(provided(old), nowMillis); err != nil {
			return p, err
		}
	}
	if p.New, err = Dated(p.Provided, nowMillis); err != nil {
		return p, err
	}
	if err := CheckIndexName(p.New); err != nil {
		return p, err
	}
	if err := c.Available(p.New); err != nil {
		return p, err
	}
	return p, c.noSecondAlias(target, p.New, r)
}

func (c Catalog) planStream(name, newIndex string, r RolloverRequest) (Rollover, error) {
	if newIndex != "" {
		return Rollover{}, illegal("new index name may not be specified when rolling over a data stream")
	}
	if len(r.settings) > 0 || len(r.aliases) > 0 || r.mappings != nil {
		return Rollover{}, illegal("aliases, mappings, and index settings may not be specified when rolling over a data stream")
	}
	next, err := c.NextBacking(name)
	indices := c.Streams[name].Indices
	return Rollover{Old: indices[len(indices)-1], New: next.Index, Provided: next.Index, Backing: &next}, err
}

var numbered = regexp.MustCompile(`^.*-\d+$`)

// following is the name that follows an index's: the number at its end, plus one, in six
// digits. In a name with date math the math stays.
func following(name string, nowMillis int64) (string, error) {
	resolved, err := Dated(name, nowMillis)
	if err != nil {
		return "", err
	}
	if !numbered.MatchString(resolved) {
		return "", illegal("index name [%s] does not match pattern '^.*-\\d+$'", name)
	}
	tail := ""
	if resolved != name {
		name, tail = strings.TrimSuffix(name, ">"), ">"
	}
	dash := strings.LastIndexByte(name, '-')
	number, err := strconv.ParseInt(name[dash+1:], 10, 32)
	if err != nil {
		return "", exception.NotNumber(name[dash+1:])
	}
	return fmt.Sprintf("%s-%06d%s", name[:dash], number+1, tail), nil
}

// noSecondAlias refuses a rollover whose new index would get the alias from a template.
func (c Catalog) noSecondAlias(alias, index string, r RolloverRequest) error {
	refused := func(template string) error {
		return illegal("Rollover alias [%s] can point to multiple indices, found duplicated alias [[%s]] in index template [%s]", alias, alias, template)
	}
	hidden := r.settings.values()["index.hidden"]
	if t, ok := c.composableFor(index, hidden == "true"); ok {
		for _, part := range c.parts(t) {
			if _, has := part.aliases[alias]; has {
				return refused(t.name)
			}
		}
		return nil
	}
	for _, t := range c.legacyFor(index, hidden) {
		if _, has := t.aliases[alias]; has {
			return refused(t.name)
		}
	}
	return nil
}

// WithRollover is the catalog after the new index has been made and the alias, or the
// data stream, writes to it.
func (c Catalog) WithRollover(p Rollover, entry Entry, aliases map[string]Alias) (Catalog, error) {
	if p.Backing != nil {
		return c.WithBacking(*p.Backing, entry)
	}
	if _, still := c.Aliases[p.target][p.Old]; !still {
		return c, exception.New(exception.IllegalState, "alias [%s] no longer points at [%s]", p.target, p.Old)
	}
	yes, no := true, false
	next := c.cloneAliases()
	moved := p.moved
	if p.explicit {
		old := p.moved
		old.WriteIndex, moved.WriteIndex = &no, &yes
		next.addAlias(p.target, p.Old, old)
	} else {
		next.removeAlias(p.target, p.Old)
	}
	all := map[string]Alias{}
	for name, alias := range aliases {
		all[name] = alias
	}
	all[p.target] = moved
	return next.WithIndex(p.New, entry, all)
}
