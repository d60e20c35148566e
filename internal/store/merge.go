package store

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
	"github.com/reshelve/reshelve/internal/opensearch/xcontent"
)

// mergeSource puts a partial document into a source: objects are merged member by
// member, everything else is replaced; members keep their places, new ones follow.
// Changed is false when every value of the partial document was there already:
// numbers written in another way count as equal, but 1 and 1.0 do not, as on the
// server. Literals are kept as they are written.
func mergeSource(source, partial []byte) (merged []byte, changed bool, err error) {
	reader := token.New(partial)
	kind, err := reader.Next()
	if err == nil && kind == token.Object {
		_, err = reader.Whole(kind)
	}
	if err != nil || kind != token.Object {
		return nil, false, exception.New(exception.Parsing, "the partial document is no JSON object: %v", err)
	}
	// The server's parser passes over comments, so both may hold some.
	base, doc := gjson.ParseBytes(xcontent.WithoutComments(source)), gjson.ParseBytes(xcontent.WithoutComments(partial))
	if !base.IsObject() {
		return nil, false, exception.New(exception.IllegalArgument, "the stored source is no JSON object, so nothing can be merged into it")
	}
	merged, changed = appendMerged(make([]byte, 0, len(source)+len(partial)), base, doc)
	return merged, changed, nil
}

// member is one member of an object that is being merged.
type member struct {
	key   string // as written, with quotes
	value gjson.Result
	with  gjson.Result // merged into value, when it exists
}

func appendMerged(out []byte, base, doc gjson.Result) ([]byte, bool) {
	var members []member
	places := map[string]int{}
	base.ForEach(func(key, value gjson.Result) bool {
		places[key.Str] = len(members)
		members = append(members, member{key: key.Raw, value: value})
		return true
	})
	changed := false
	doc.ForEach(func(key, value gjson.Result) bool {
		place, known := places[key.Str]
		switch {
		case !known:
			changed = true
			places[key.Str] = len(members)
			members = append(members, member{key: key.Raw, value: value})
		case members[place].value.IsObject() && value.IsObject():
			members[place].with = value
		default:
			changed = changed || !equal(members[place].value, value)
			members[place].value, members[place].with = value, gjson.Result{}
		}
		return true
	})
	out = append(out, '{')
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, m.key...), ':')
		if !m.with.Exists() {
			out = append(out, m.value.Raw...)
			continue
		}
		var inner bool
		out, inner = appendMerged(out, m.value, m.with)
		changed = changed || inner
	}
	return append(out, '}'), changed
}

// equal compares two JSON values as the server's parsed ones compare.
func equal(a, b gjson.Result) bool {
	switch {
	case a.Type != b.Type:
		return false
	case a.Type == gjson.String:
		return a.Str == b.Str
	case a.Type == gjson.Number:
		return equalNumbers(a.Raw, b.Raw)
	case a.Type != gjson.JSON:
		return true
	case a.IsArray() != b.IsArray():
		return false
	case a.IsArray():
		return equalArrays(a.Array(), b.Array())
	}
	return equalObjects(a.Map(), b.Map())
}

func equalArrays(a, b []gjson.Result) bool {
	for i := range min(len(a), len(b)) {
		if !equal(a[i], b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}

func equalObjects(a, b map[string]gjson.Result) bool {
	for key, value := range a {
		if other, ok := b[key]; !ok || !equal(value, other) {
			return false
		}
	}
	return len(a) == len(b)
}

// equalNumbers compares whole numbers by their digits, which have one form in
// JSON but for -0, and others as doubles.
func equalNumbers(a, b string) bool {
	if a == b {
		return true
	}
	whole := !strings.ContainsAny(a, ".eE")
	if whole != !strings.ContainsAny(b, ".eE") {
		return false
	}
	if whole {
		return strings.Trim(a, "-0") == "" && strings.Trim(b, "-0") == "" // 0 and -0
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}
