package fields

import (
	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// putKeyword writes a text as one term.
func putKeyword(c *column, v *mapping.Value) {
	term := v.Bytes
	if c.field.normalizer != nil {
		c.scratch = c.field.normalizer.Normalize(c.scratch[:0], term)
		term = c.scratch
	}
	c.term(term)
}

// term writes a term without place.
func (c *column) term(term []byte) {
	if len(term) > longestTerm {
		c.out.Exists()
		return
	}
	c.out.Term(term)
	if c.spec.Lengths {
		c.count(0)
		if c.field.unique {
			c.writer.tokens = append(c.writer.tokens[:0], analysis.Token{Term: term})
			c.length += c.fresh(c.writer.tokens)
		} else {
			c.length++
		}
	}
}

// normalized is a value as a term.
func (f *Field) normalized(v Value) []byte {
	text := []byte(v.String())
	if f.normalizer != nil {
		return f.normalizer.Normalize(nil, text)
	}
	return text
}

func exactText(_ *Field, v Value, _ int64) (Match, error) { return one([]byte(v.String())), nil }

func exactKeyword(f *Field, v Value, _ int64) (Match, error) { return one(f.normalized(v)), nil }

// termsWithin is a range of terms by their bytes.
func termsWithin(f *Field, a Asked, _ int64) (Match, error) {
	return f.between("", a.From, a.To), nil
}

// between is the range of the terms that begin with a prefix, which bounds go on from.
func (f *Field) between(prefix string, from, to *Bound) Match {
	m := Match{Terms: true, LeastTerm: []byte(prefix)}
	if from != nil {
		m.LeastTerm = append(m.LeastTerm, f.normalized(from.Value)...)
		if !from.Include {
			m.LeastTerm = append(m.LeastTerm, 0)
		}
	}
	switch {
	case to != nil:
		m.GreatestTerm = append([]byte(prefix), f.normalized(to.Value)...)
		if !to.Include {
			m.GreatestTerm = below(m.GreatestTerm)
		}
	case prefix != "":
		m.GreatestTerm = append([]byte(prefix), 0xff)
	}
	if to != nil && (m.GreatestTerm == nil || string(m.LeastTerm) > string(m.GreatestTerm)) {
		return none
	}
	return m
}

// below is a bound that includes all terms of UTF-8, which has no byte 0xff, that are
// less than one; nil when there are none.
func below(term []byte) []byte {
	last := len(term) - 1
	switch {
	case last < 0:
		return nil
	case term[last] == 0:
		return append([]byte{}, term[:last]...)
	}
	return append(append(append([]byte{}, term[:last]...), term[last]-1), 0xff)
}

// exactConstant: all docs have the one value, told or not.
func exactConstant(f *Field, v Value, _ int64) (Match, error) {
	return Match{All: v.String() == f.def.Text("value"), None: v.String() != f.def.Text("value")}, nil
}

func constantWithin(f *Field, a Asked, _ int64) (Match, error) {
	value := f.def.Text("value")
	in := func(b *Bound, order int) bool {
		return b == nil || b.Include && b.Value.String() == value || order < 0 && b.Value.String() < value || order > 0 && b.Value.String() > value
	}
	if in(a.From, -1) && in(a.To, 1) {
		return Match{All: true}, nil
	}
	return none, nil
}

// nothingWithin is what the server says of ranges of wildcard fields.
func nothingWithin(*Field, Asked, int64) (Match, error) {
	return none, exception.New(exception.UnsupportedOperation, "TODO")
}

// putTruth writes a boolean as a term and a number, whichever there is.
func putTruth(c *column, v *mapping.Value) {
	if c.spec.Postings != 0 {
		c.out.Term(truths[v.Low])
	}
	if c.spec.Column != 0 {
		c.out.Number(v.Low)
	}
}

var truths = [2][]byte{[]byte("F"), []byte("T")}

// truth reads a boolean.
func truth(v Value) (int64, error) {
	switch v.Text {
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	}
	return 0, exception.New(exception.IllegalArgument, "Can't parse boolean value [%s], expected [true] or [false]", v)
}

// truthMatch is the match of some of false and true.
func (f *Field) truthMatch(least, greatest int64) Match {
	switch {
	case least > greatest:
		return none
	case f.spec.Postings == 0:
		return numbers(least, greatest)
	}
	return Match{Terms: true, LeastTerm: truths[least], GreatestTerm: truths[greatest]}
}

func exactTruth(f *Field, v Value, _ int64) (Match, error) {
	n, err := truth(v)
	if err != nil {
		return none, err
	}
	return f.truthMatch(n, n), nil
}

func truthWithin(f *Field, a Asked, _ int64) (Match, error) {
	least, greatest := int64(0), int64(1)
	if a.From != nil {
		n, err := truth(a.From.Value)
		if err != nil {
			return none, err
		}
		if least = n; !a.From.Include {
			least++
		}
	}
	if a.To != nil {
		n, err := truth(a.To.Value)
		if err != nil {
			return none, err
		}
		if greatest = n; !a.To.Include {
			greatest--
		}
	}
	return f.truthMatch(least, greatest), nil
}

// longestTerm is how many bytes the server takes as one term.
const longestTerm = 32766

func putNothing(c *column, _ *mapping.Value) { c.out.Exists() }

func noExactBinary(*Field, Value, int64) (Match, error) {
	return none, exception.New(exception.QueryShard, "Binary fields do not support searching")
}

func noneWithin(f *Field, _ Asked, _ int64) (Match, error) { return none, f.refuse("range queries") }
