package proof

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"
)

// text is the source of a value. The spaces and the rest, which follow from v, show
// whether every byte came back; now and then the rest brings a field that the mapping
// does not know yet.
func text(x value) string {
	if x.v == "" {
		return fmt.Sprintf(`{"u":%q}`, x.u)
	}
	return fmt.Sprintf(`{ "v" :%q,%s "pad":%q%s}`, x.v, strings.Repeat(" ", int(mixed(x.v)%7)), pad(x.v), grown(x.v))
}

func mixed(v string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(v))
	return h.Sum32()
}

// pad is of a length between 0 and 3000; most are short.
func pad(v string) string {
	n := mixed(v) >> 8
	if n%8 != 0 {
		return strings.Repeat("ä", int(n%40))
	}
	return strings.Repeat("long ", int(n>>4%600))
}

// grown is a field that few values have.
func grown(v string) string {
	if n := mixed(v) >> 4; n%16 == 0 {
		return fmt.Sprintf(`,"f%d": %d`, n%256, n)
	}
	return ""
}

// untext reads a source, which must be one that was written: byte for byte, unless an
// update has written it anew.
func untext(source []byte) (value, error) {
	var read struct{ V, U, Pad string }
	if err := json.Unmarshal(source, &read); err != nil {
		return value{}, fmt.Errorf("the source %q: %w", source, err)
	}
	x := value{v: read.V, u: read.U}
	switch {
	case x.u == "" && string(source) != text(x):
		return x, fmt.Errorf("the source came back as %q, not as %q", source, text(x))
	case x.v != "" && read.Pad != pad(x.v):
		return x, fmt.Errorf("the source %q has lost its pad", source)
	}
	return x, nil
}
