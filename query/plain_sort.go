package query

import (
	"strings"

	"github.com/reshelve/reshelve/exception"
	"github.com/reshelve/reshelve/search"
	"github.com/reshelve/reshelve/token"
)

// Sort is one key of an order.
type Sort = search.Sort

// ParseSort reads the order of a URL: fields between commas, each with :asc or
// :desc behind it or without.
func ParseSort(text string) (keys []Sort, err error) {
	p := plainParser{read: token.New(nil)}
	for field := range strings.SplitSeq(text, ",") {
		field, order, _ := strings.Cut(field, ":")
		if keys, err = p.sortKey(keys, field, order == "desc"); err != nil {
			return nil, err
		}
	}
	return scoreless(keys), nil
}

// scoreless is the order by score alone: every document has the same, so it is
// no order.
func scoreless(keys []Sort) []Sort {
	if len(keys) == 1 && keys[0].Field == "_score" {
		return nil
	}
	return keys
}

func (p *plainParser) sortKey(keys []Sort, field string, descending bool) ([]Sort, error) {
	switch {
	case field == "_id" || field == "_doc":
	case field == "_score" && len(keys) == 0:
	default:
		return nil, p.unsupported("sorting by [" + field + "]")
	}
	if len(keys) > 0 && keys[0].Field == "_score" {
		return nil, p.unsupported("sorting by [_score] and [" + field + "]")
	}
	return append(keys, Sort{Field: field, Descending: descending}), nil
}

// sort reads an order, whose first token has been read.
func (p *plainParser) sort(kind token.Kind) (keys []Sort, err error) {
	switch kind {
	case token.Array:
		for {
			kind, err := p.read.Next()
			switch {
			case err != nil:
				return nil, err
			case kind == token.ArrayEnd:
				return scoreless(keys), nil
			case kind == token.Object:
				keys, err = p.sortObject(keys)
			case kind == token.String:
				keys, err = p.sortKey(keys, string(p.read.Text()), false)
			default:
				err = exception.New(exception.IllegalArgument, "malformed sort format, within the sort array, an object, or an actual string are allowed")
			}
			if err != nil {
				return nil, err
			}
		}
	case token.Object:
		keys, err = p.sortObject(nil)
	default:
		keys, err = p.sortKey(nil, string(p.read.Text()), false)
	}
	return scoreless(keys), err
}

// sortObject reads {"field":"desc"} or {"field":{"order":"desc"}}.
func (p *plainParser) sortObject(keys []Sort) ([]Sort, error) {
	err := p.members(func(field string) error {
		descending := field == "_score"
		kind, err := p.read.Next()
		if err != nil {
			return err
		}
		switch kind {
		case token.String:
			descending, err = order(string(p.read.Text()))
		case token.Object:
			descending, err = p.sortOptions(descending)
		default:
			line, column := p.read.Place()
			err = exception.New(exception.XContentParse, "[%d:%d] [field_sort] Expected START_OBJECT but was: %s", line, column, kind)
		}
		if err == nil {
			keys, err = p.sortKey(keys, field, descending)
		}
		return err
	})
	return keys, err
}

// sortOptions reads the options of a field. An id is never missing, and there is
// one of it, so those about that change nothing.
func (p *plainParser) sortOptions(descending bool) (bool, error) {
	err := p.members(func(name string) error {
		line, column := p.read.Place()
		kind, err := p.read.Next()
		if err != nil {
			return err
		}
		switch name {
		case "order":
			descending, err = order(string(p.read.Text()))
		case "missing", "unmapped_type", "mode", "numeric_type":
			_, err = p.read.Whole(kind)
		default:
			err = exception.New(exception.XContentParse, "[%d:%d] [field_sort] unknown field [%s]", line, column, name)
		}
		return err
	})
	return descending, err
}

func order(text string) (descending bool, err error) {
	switch strings.ToUpper(text) {
	case "ASC":
		return false, nil
	case "DESC":
		return true, nil
	}
	return false, exception.New(exception.IllegalArgument, "No enum constant org.opensearch.search.sort.SortOrder.%s", strings.ToUpper(text))
}
