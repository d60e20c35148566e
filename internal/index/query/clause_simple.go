package query

import (
	"github.com/reshelve/reshelve/internal/index/search"
)

// Queries that look at no values: match_all, match_none, ids, exists.

func (p *parser) matchAll() (search.Query, error) {
	q := &search.MatchAll{Common: plain()}
	return q, p.reparsed(p.object("match_all", p.commonOptions("match_all", &q.Common, map[string]option{})))
}

func (p *parser) matchNone() (search.Query, error) {
	q := &search.MatchNone{Common: plain()}
	return q, p.tokens(func(name string) error {
		if !p.isValue() {
			return p.unknownToken("match_none", name)
		}
		if known, err := p.commonOption("match_none", name, &q.Common); known || err != nil {
			return err
		}
		return p.doesNotSupport("match_none", name)
	})
}

func (p *parser) ids() (search.Query, error) {
	q := &search.IDs{Common: plain(), Values: []string{}}
	return q, p.reparsed(p.object("ids", p.commonOptions("ids", &q.Common, map[string]option{"values": p.setStrings(&q.Values)})))
}

func (p *parser) exists() (search.Query, error) {
	q := &search.Exists{Common: plain()}
	given := false
	err := p.tokens(func(name string) error {
		if !p.isValue() {
			return p.unknownToken("exists", name)
		}
		if known, err := p.commonOption("exists", name, &q.Common); known || err != nil {
			return err
		}
		if name != "field" {
			return p.doesNotSupport("exists", name)
		}
		q.Field, given = p.text(), true
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case !given:
		return nil, p.fail("[exists] must be provided with a [field]")
	}
	return q, noField(q.Field)
}
