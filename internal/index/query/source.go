package query

import (
	"bytes"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// SourceFilter says what of a source is returned.
type SourceFilter struct {
	None     bool // nothing
	Includes []string
	Excludes []string
}

// All reports whether the source is returned as it is stored.
func (f SourceFilter) All() bool { return !f.None && len(f.Includes) == 0 && len(f.Excludes) == 0 }

// Append appends what the filter leaves of a source, one JSON object, as the
// server does: a pattern names a path of names between dots, with * for any text,
// and means everything below it too; includes choose, then excludes take away;
// arrays are passed through. Spaces between tokens go. A source that is no JSON is
// appended as it is.
func (f SourceFilter) Append(dst, source []byte) []byte {
	if f.None {
		return dst
	}
	if f.All() {
		return append(dst, source...)
	}
	w := filterWalk{SourceFilter: f, read: token.New(source)}
	start := len(dst)
	kind, err := w.read.Next()
	if err == nil && kind == token.Object {
		if dst, _, err = w.object(dst, len(f.Includes) == 0); err == nil {
			return dst
		}
	}
	return append(dst[:start], source...)
}

type filterWalk struct {
	SourceFilter
	read *token.Reader
	path []byte // of the value being looked at, names between dots
}

// object appends what is left of an object whose bracket has been read. Chosen:
// the includes have chosen all of it. Some tells whether members are left.
func (w *filterWalk) object(dst []byte, chosen bool) (_ []byte, some bool, err error) {
	dst = append(dst, '{')
	outer := len(w.path)
	for {
		kind, err := w.read.Next()
		if err != nil || kind == token.ObjectEnd {
			return append(dst, '}'), some, err
		}
		if outer > 0 {
			w.path = append(w.path, '.')
		}
		w.path = append(w.path, w.read.Text()...)
		before := len(dst)
		if some {
			dst = append(dst, ',')
		}
		dst = append(token.AppendString(dst, w.read.Text()), ':')
		kept := false
		if dst, kept, err = w.member(dst, chosen); err != nil {
			return dst, false, err
		}
		if !kept {
			dst = dst[:before]
		}
		some = some || kept
		w.path = w.path[:outer]
	}
}

// member appends what is left of the value at the path.
func (w *filterWalk) member(dst []byte, chosen bool) (_ []byte, kept bool, err error) {
	chosen = chosen || anyMeans(w.Includes, w.path)
	kind, err := w.read.Next()
	if err != nil {
		return dst, false, err
	}
	switch {
	case anyMeans(w.Excludes, w.path), !chosen && !anyReaches(w.Includes, w.path):
		_, err := w.read.Whole(kind)
		return dst, false, err
	case chosen && !anyReaches(w.Excludes, w.path):
		return w.whole(dst, kind)
	case kind == token.Object:
		dst, some, err := w.object(dst, chosen)
		return dst, some || chosen, err
	case kind == token.Array:
		dst, some, err := w.array(dst, chosen)
		return dst, some || chosen, err
	case chosen:
		return w.whole(dst, kind)
	}
	return dst, false, nil
}

// array appends what is left of an array whose bracket has been read. Objects and
// arrays in it that become empty go, other values stay when all of it was chosen.
func (w *filterWalk) array(dst []byte, chosen bool) (_ []byte, some bool, err error) {
	dst = append(dst, '[')
	for {
		kind, err := w.read.Next()
		if err != nil || kind == token.ArrayEnd {
			return append(dst, ']'), some, err
		}
		before, kept := len(dst), chosen
		if some {
			dst = append(dst, ',')
		}
		switch {
		case kind == token.Object:
			dst, kept, err = w.object(dst, chosen)
		case kind == token.Array:
			dst, kept, err = w.array(dst, chosen)
		case chosen:
			dst, _, err = w.whole(dst, kind)
		}
		if err != nil {
			return dst, false, err
		}
		if !kept {
			dst = dst[:before]
		}
		some = some || kept
	}
}

// whole appends a value whose first token has been read.
func (w *filterWalk) whole(dst []byte, kind token.Kind) ([]byte, bool, error) {
	value, err := w.read.Whole(kind)
	if err != nil {
		return dst, false, err
	}
	if kind == token.String {
		return token.AppendString(dst, value), true, nil
	}
	return append(dst, value...), true, nil
}

// anyMeans reports whether a pattern means the path or something it is below of.
func anyMeans(patterns []string, path []byte) bool {
	for _, pattern := range patterns {
		if means(pattern, path) {
			return true
		}
	}
	return false
}

// means matches by going back to the last star; at the end of the pattern a dot
// of the path is as good as its end, but only a later star could do better then.
func means(pattern string, path []byte) bool {
	star, from := -1, 0
	p, t := 0, 0
	for {
		switch {
		case p == len(pattern) && (t == len(path) || path[t] == '.'):
			return true
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, t
			p++
		case p < len(pattern) && t < len(path) && pattern[p] == path[t]:
			p++
			t++
		case star >= 0 && from < len(path):
			from++
			p, t = star+1, from
		default:
			return false
		}
	}
}

// anyReaches reports whether a pattern may mean something below the path.
func anyReaches(patterns []string, path []byte) bool {
	for _, pattern := range patterns {
		head, _, starred := strings.Cut(pattern, "*")
		switch {
		case len(head) > len(path):
			if head[:len(path)] == string(path) && head[len(path)] == '.' {
				return true
			}
		case starred && bytes.HasPrefix(path, []byte(head)):
			return true
		}
	}
	return false
}
