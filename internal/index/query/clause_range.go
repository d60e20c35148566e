package query

import (
	"slices"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/date"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// bounds are the ends of a range as a query tells them: one option may change whether an
// end belongs to the range before another gives the end.
type bounds struct {
	from, to     *fields.Value
	lower, upper bool // the ends belong to the range
}

// set takes the value of an option as an end.
func (b *bounds) set(name string, value *fields.Value) {
	switch name {
	case "from":
		b.from = value
	case "gte", "gt":
		b.from, b.lower = value, name == "gte"
	case "to":
		b.to = value
	case "lte", "lt":
		b.to, b.upper = value, name == "lte"
	}
}

func (b bounds) asked(a *fields.Asked) {
	if b.from != nil {
		a.From = &fields.Bound{Value: *b.from, Include: b.lower}
	}
	if b.to != nil {
		a.To = &fields.Bound{Value: *b.to, Include: b.upper}
	}
}

// span reads a range query.
func (p *parser) span() (search.Query, error) {
	q := &search.Range{Common: plain()}
	b, found := bounds{lower: true, upper: true}, false
	err := p.tokens(func(name string) error {
		switch {
		case p.kind == token.Object && found:
			return p.manyFields("range", q.Field, name)
		case p.kind == token.Object:
			q.Field, found = name, true
			return p.tokens(func(name string) error { return p.rangeOption(name, q, &b) })
		case p.isValue():
			if name == "_name" && !found { // deprecated here
				q.Name = p.text()
				return nil
			}
			return p.doesNotSupport("range", name)
		}
		return nil
	})
	if err == nil {
		err = noField(q.Field)
	}
	b.asked(&q.Asked)
	return q, err
}

func (p *parser) rangeOption(name string, q *search.Range, b *bounds) (err error) {
	if known, err := p.commonOption("range", name, &q.Common); known || err != nil {
		return err
	}
	switch name {
	case "from", "gte", "gt", "to", "lte", "lt":
		if p.kind == token.Object {
			return p.insideOf("range")
		}
		b.set(name, p.end())
	case "include_lower":
		b.lower, err = p.boolean()
	case "include_upper":
		b.upper, err = p.boolean()
	case "time_zone":
		q.Asked.Zone, err = p.zone()
	case "format":
		q.Asked.Format, err = p.format()
	case "relation":
		q.Asked.Relation, err = p.relation()
	default:
		err = p.doesNotSupport("range", name)
	}
	return err
}

// end is the last token as an end of a range; null is none.
func (p *parser) end() *fields.Value {
	if p.kind == token.Null {
		return nil
	}
	v := p.scalar()
	return &v
}

// zone reads a time zone.
func (p *parser) zone() (*time.Location, error) {
	text, err := p.str()
	if err != nil {
		return nil, err
	}
	zone, err := date.ParseZone(text, time.LoadLocation)
	if err != nil {
		e := exception.From(err)
		class := "java.time.DateTimeException"
		if e.Type == exception.Type("zone_rules_exception") {
			class = "java.time.zone.ZoneRulesException"
		}
		return nil, exception.New(exception.IllegalArgument, "%s: %s", class, e.Reason).CausedBy(e)
	}
	return zone, nil
}

// format reads a format of dates.
func (p *parser) format() (string, error) {
	text, err := p.str()
	if err == nil {
		_, err = date.ParseFormat(text)
	}
	return text, err
}

func (p *parser) relation() (string, error) {
	text, err := p.str()
	lower := strings.ToLower(text)
	switch {
	case err != nil:
		return "", err
	case lower == "disjoint":
		return "", exception.New(exception.IllegalArgument, "[range] query does not support relation [%s]", text)
	case !slices.Contains([]string{"intersects", "contains", "within"}, lower):
		return "", exception.New(exception.IllegalArgument, "%s is not a valid relation", text)
	}
	return lower, nil
}
