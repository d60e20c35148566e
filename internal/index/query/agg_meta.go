package query

import (
	"slices"
	"strconv"

	"github.com/reshelve/reshelve/internal/opensearch/java"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// meta reads any value, whose first token was the last one, and appends it as the server
// tells it again: the members of objects in the order of its hash maps, and numbers in
// its form.
func (p *parser) meta(dst []byte) (_ []byte, err error) {
	switch p.kind {
	case token.Object:
		return p.metaObject(dst)
	case token.Array:
		dst = append(dst, '[')
		err = p.elements(func() error {
			if dst[len(dst)-1] != '[' {
				dst = append(dst, ',')
			}
			dst, err = p.meta(dst)
			return err
		})
		return append(dst, ']'), err
	case token.String:
		return token.AppendString(dst, p.read.Text()), nil
	case token.Float:
		f, _ := strconv.ParseFloat(p.text(), 64)
		return java.AppendReal(dst, f, 64), nil
	}
	return append(dst, p.read.Text()...), nil
}

func (p *parser) metaObject(dst []byte) ([]byte, error) {
	type pair struct {
		name  string
		value []byte
	}
	var pairs []pair
	err := p.members(func(name string) error {
		value, err := p.meta(nil)
		pairs = append(pairs, pair{name, value})
		return err
	})
	table := 16
	for len(pairs)*4 > table*3 {
		table *= 2
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return java.Bucket(a.name, table) - java.Bucket(b.name, table) })
	dst = append(dst, '{')
	for i, m := range pairs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(token.AppendString(dst, []byte(m.name)), ':'), m.value...)
	}
	return append(dst, '}'), err
}
