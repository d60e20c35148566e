package fields

import (
	"bytes"
	"strings"

	"github.com/reshelve/reshelve/internal/index/mapping"
)

func putAddress(c *column, v *mapping.Value) { c.term(v.Bytes) }

// exactAddress is an address, or all those of a net.
func exactAddress(_ *Field, v Value, _ int64) (Match, error) {
	text := v.String()
	if strings.Contains(text, "/") {
		low, high, err := mapping.ParsePrefix(text)
		if err != nil {
			return none, err
		}
		return Match{Terms: true, LeastTerm: low[:], GreatestTerm: high[:]}, nil
	}
	a, err := mapping.ParseAddress(text)
	if err != nil {
		return none, err
	}
	return one(a[:]), nil
}

func addressesWithin(_ *Field, a Asked, _ int64) (Match, error) {
	low, high, ok, err := addresses(a)
	if err != nil || !ok {
		return none, err
	}
	return Match{Terms: true, LeastTerm: low[:], GreatestTerm: high[:]}, nil
}

// addresses are the ends of a range, included; ok is false when it is empty.
func addresses(a Asked) (low, high [16]byte, ok bool, err error) {
	for i := range high {
		high[i] = 255
	}
	ok = true
	if a.From != nil {
		if low, err = mapping.ParseAddress(a.From.Value.String()); err != nil {
			return low, high, false, err
		}
		if !a.From.Include {
			ok = step(&low, 1)
		}
	}
	if a.To != nil {
		if high, err = mapping.ParseAddress(a.To.Value.String()); err != nil {
			return low, high, false, err
		}
		if !a.To.Include {
			ok = step(&high, -1) && ok
		}
	}
	return low, high, ok && bytes.Compare(low[:], high[:]) <= 0, nil
}

// step goes to the next address, or with by -1 to the one before; false when there is
// none.
func step(a *[16]byte, by int) bool {
	for i := 15; i >= 0; i-- {
		a[i] += byte(by)
		if by > 0 && a[i] != 0 || by < 0 && a[i] != 255 {
			return true
		}
	}
	return false
}
