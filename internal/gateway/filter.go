package gateway

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// pathFilter is filter_path: which parts of an answer the client wants. A path is
// names between dots, where * stands for any text in a name and ** for one or
// more names; arrays are passed through. What becomes empty is left out.
type pathFilter struct {
	includes [][]string
	excludes [][]string // paths with a minus before them
}

func newPathFilter(paths []string) (*pathFilter, error) {
	f := &pathFilter{}
	for _, path := range paths {
		path = strings.TrimSpace(path)
		path, excluded := strings.CutPrefix(path, "-")
		if path == "" {
			return nil, exception.New(exception.IllegalArgument, "filters cannot be null or empty")
		}
		if excluded {
			f.excludes = append(f.excludes, splitPath(path))
		} else {
			f.includes = append(f.includes, splitPath(path))
		}
	}
	return f, nil
}

// splitPath splits at the dots that no backslash escapes.
func splitPath(path string) (names []string) {
	path = strings.TrimSuffix(path, ".")
	var name strings.Builder
	for i := 0; i < len(path); i++ {
		switch {
		case path[i] == '\\' && i+1 < len(path) && path[i+1] == '.':
			name.WriteByte('.')
			i++
		case path[i] == '.':
			names = append(names, name.String())
			name.Reset()
		default:
			name.WriteByte(path[i])
		}
	}
	return slices.CompactFunc(append(names, name.String()), func(a, b string) bool { return a == "**" && b == "**" })
}

// append appends what the filter leaves of a JSON value. What cannot be read, because it is
// nested too deep, is an error: nobody gets what they did not want.
func (f *pathFilter) append(dst, value []byte) (_ []byte, err error) {
	start := len(dst)
	if f.includes != nil {
		if dst, err = filterWhole(dst, value, f.includes, false); err != nil {
			return dst[:start], err
		}
		value = append([]byte(nil), dst[start:]...)
	}
	if f.excludes != nil {
		return filterWhole(dst[:start], value, f.excludes, true)
	}
	return dst, nil
}

func filterWhole(dst, value []byte, paths [][]string, exclude bool) ([]byte, error) {
	start := len(dst)
	w := pathWalk{dec: newDecoder(value), exclude: exclude}
	dst, wrote, err := w.container(dst, paths)
	if err != nil {
		return dst[:start], exception.New(exception.IllegalArgument, "filter_path cannot be applied to this answer: %v", err)
	}
	if !wrote {
		return append(dst[:start], "{}"...), nil
	}
	return dst, nil
}

// newDecoder reads JSON that the store holds or the gateway wrote: as it is.
func newDecoder(value []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(value), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

type pathWalk struct {
	dec     *jsontext.Decoder
	exclude bool
}

// container appends what is left of the next object or array; wrote tells
// whether anything is. Of a scalar nothing is left when parts are asked for.
func (w pathWalk) container(dst []byte, paths [][]string) (_ []byte, wrote bool, err error) {
	start := len(dst)
	opening, err := w.dec.ReadToken()
	if err != nil {
		return dst, false, err
	}
	kind := opening.Kind()
	if kind != '{' && kind != '[' {
		return dst, false, nil
	}
	dst = append(dst, byte(kind))
	for w.dec.PeekKind() != '}' && w.dec.PeekKind() != ']' {
		before, below := len(dst), paths
		if wrote {
			dst = append(dst, ',')
		}
		matched := false
		if kind == '{' {
			name, err := w.dec.ReadToken()
			if err != nil {
				return dst, false, err
			}
			below, matched = step(paths, name.String())
			dst = append(appendString(dst, name.String()), ':')
		}
		var kept bool
		if dst, kept, err = w.value(dst, below, matched); err != nil {
			return dst, false, err
		}
		if !kept {
			dst = dst[:before]
		}
		wrote = wrote || kept
	}
	if _, err := w.dec.ReadToken(); err != nil {
		return dst, false, err
	}
	if !wrote {
		return dst[:start], false, nil
	}
	return append(dst, byte(kind)+2), true, nil // '{'+2 is '}', '['+2 is ']'
}

// value appends what is left of the next value: all or nothing of it when a path
// ended here (matched) or none goes on, parts of it otherwise.
func (w pathWalk) value(dst []byte, below [][]string, matched bool) (_ []byte, kept bool, err error) {
	kind := w.dec.PeekKind()
	nested := kind == '{' || kind == '['
	if !matched && len(below) > 0 && nested {
		return w.container(dst, below)
	}
	raw, err := w.dec.ReadValue()
	if err != nil || matched == w.exclude {
		return dst, false, err
	}
	return append(dst, raw...), true, nil
}

// step follows paths into a member: what remains of them, and whether one ends there.
func step(paths [][]string, name string) (below [][]string, matched bool) {
	var met map[*string]bool // what is in below: with several ** many ways lead to the same rest
	if len(paths) > 1 {
		met = make(map[*string]bool, len(paths))
	}
	remains := func(path []string) {
		if met[&path[0]] {
			return
		}
		if met != nil {
			met[&path[0]] = true
		}
		below = append(below, path)
	}
	for _, path := range paths {
		many := path[0] == "**" // it stands for this name, and perhaps for more
		if !many && !wildcard.Match(path[0], name) {
			continue
		}
		if len(path) == 1 {
			return nil, true
		}
		if many {
			remains(path)
		}
		remains(path[1:])
	}
	return below, false
}
