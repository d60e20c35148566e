package cli

import (
	"slices"
	"testing"
)

func TestNumbersOfShards(t *testing.T) {
	for _, c := range []struct {
		texts []string
		want  []uint32
	}{
		{[]string{"0", "1"}, []uint32{0, 1}}, {[]string{"3-5", "9"}, []uint32{3, 4, 5, 9}}, {[]string{"7-7"}, []uint32{7}},
		{[]string{"5-3"}, nil}, {[]string{"-3"}, nil}, {[]string{"3-"}, nil}, {[]string{"a"}, nil}, {[]string{"0-4294967295"}, nil}, {[]string{"0-65535", "1"}, nil},
	} {
		got, err := shardNumbers(c.texts)
		if !slices.Equal(got, c.want) || (err == nil) != (c.want != nil) {
			t.Errorf("%v: %v, %v instead of %v", c.texts, got, err, c.want)
		}
	}
}
