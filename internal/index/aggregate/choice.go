package aggregate

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// choice says which terms there are buckets for. The zero value takes all.
type choice struct {
	terms   []func(term []byte) bool
	numbers []func(bits uint64) bool
}

func (c *choice) term(term []byte) bool {
	for _, f := range c.terms {
		if !f(term) {
			return false
		}
	}
	return true
}

func (c *choice) number(bits uint64) bool {
	for _, f := range c.numbers {
		if !f(bits) {
			return false
		}
	}
	return true
}

// choose works include and exclude out for the class of the values.
func (w *termsWorker) choose() (c choice, err error) {
	for i, asked := range []*Choice{w.of.Include, w.of.Exclude} {
		if asked == nil || w.values.class == nothing {
			continue
		}
		if w.values.class == texts {
			err = w.chooseTerms(&c, asked, i == 0)
		} else {
			err = w.chooseNumbers(&c, asked, i == 0)
		}
		if err != nil {
			return c, err
		}
	}
	return c, nil
}

func (w *termsWorker) chooseTerms(c *choice, asked *Choice, include bool) error {
	switch {
	case asked.Of > 0:
		c.terms = append(c.terms, func(term []byte) bool {
			h := int32(murmur32(term, partSeed))
			return floorMod(int64(h), int64(asked.Of)) == int64(asked.Part)
		})
		return nil
	case asked.Expression:
		if w.values.field != nil && w.values.field.Kind() == fields.Address {
			return w.noExpression("values for include/exclude clauses")
		}
		accepts, err := search.Like(asked.Regexp)
		if err != nil {
			return err
		}
		c.terms = append(c.terms, func(term []byte) bool { return accepts(term) == include })
		return nil
	}
	set := map[string]bool{}
	for _, text := range asked.List {
		term, err := w.values.term(text)
		if err != nil {
			return err
		}
		set[string(term)] = true
	}
	c.terms = append(c.terms, func(term []byte) bool { return set[string(term)] == include })
	return nil
}

func (w *termsWorker) noExpression(instead string) error {
	return exception.New(exception.AggregationExecution, "Aggregation [%s] cannot support regular expression style include/exclude "+
		"settings as they can only be applied to string fields. Use an array of %s", w.n.name, instead)
}

func (w *termsWorker) chooseNumbers(c *choice, asked *Choice, include bool) error {
	switch {
	case asked.Of > 0:
		c.numbers = append(c.numbers, func(bits uint64) bool {
			if w.values.class == reals {
				bits = sortable(bits)
			}
			return floorMod(int64(mix64(bits)), int64(asked.Of)) == int64(asked.Part)
		})
		return nil
	case asked.Expression:
		return w.noExpression("numeric values for include/exclude clauses used to filter numeric fields")
	}
	var list []uint64
	for _, text := range asked.List {
		whole, real, err := w.values.number(fields.Value{Kind: token.String, Text: text})
		if err != nil {
			return err
		}
		if w.values.class == reals {
			list = append(list, math.Float64bits(real))
		} else {
			list = append(list, uint64(whole))
		}
	}
	slices.Sort(list)
	c.numbers = append(c.numbers, func(bits uint64) bool {
		_, found := slices.BinarySearch(list, bits)
		return found == include
	})
	return nil
}

// sortable are the bits of a double as Lucene orders them.
func sortable(bits uint64) uint64 { return bits ^ uint64(int64(bits)>>63)&^(1<<63) }

func floorMod(n, by int64) int64 { return n - floorDiv(n, by)*by }

// mix64 is the mixing function of the hppc library (David Stafford's variant 9), by which
// the server parts and counts numbers.
func mix64(z uint64) uint64 {
	z = (z ^ z>>32) * 0x4cd6944c5cc20b6d
	z = (z ^ z>>29) * 0xfc12c5b19d3259e9
	return z ^ z>>32
}

const partSeed = 31

// murmur32 is MurmurHash3_x86_32, by which the server parts terms.
func murmur32(data []byte, seed uint32) uint32 {
	const c1, c2 = 0xcc9e2d51, 0x1b873593
	h, n := seed, uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		k := bits.RotateLeft32(binary.LittleEndian.Uint32(data)*c1, 15) * c2
		h = bits.RotateLeft32(h^k, 13)*5 + 0xe6546b64
	}
	var k uint32
	for i := len(data) - 1; i >= 0; i-- {
		k = k<<8 | uint32(data[i])
	}
	if len(data) > 0 {
		h ^= bits.RotateLeft32(k*c1, 15) * c2
	}
	h ^= n
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}
