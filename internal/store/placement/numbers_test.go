package placement

import "testing"

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		shards []uint32
		want   string
	}{
		{nil, ""}, {[]uint32{7}, "7"}, {[]uint32{2, 0, 1}, "0-2"}, {[]uint32{1, 0, 1}, "0,1"}, {[]uint32{3, 2, 1, 0}, "0-3"},
		{[]uint32{9, 0, 1, 2, 3, 4, 6, 7, 20, 21, 22, 23}, "0-4,6,7,9,20-23"},
	} {
		if got := Numbers(c.shards); got != c.want {
			t.Errorf("%v is %q instead of %q", c.shards, got, c.want)
		}
	}
}
