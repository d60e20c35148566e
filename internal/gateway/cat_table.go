package gateway

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// A table is what a _cat endpoint shows. Values are text (string), counts (int
// or int64), sizes (size), times (time.Duration) or nil, which is shown as nothing.
type table struct {
	columns []column
	rows    [][]any // as many values as columns
}

// column is one column of a table.
type column struct {
	name    string
	aliases string // between commas
	help    string
	flags   flags
}

// flags of a column.
type flags uint8

const (
	right  flags = 1 << iota // aligned to the right
	hidden                   // shown only when asked for
)

// size is an amount in bytes.
type size int64

// shown is a column that a client asked for, under the name that it used.
type shown struct {
	at      int // in columns
	display string
}

// view is what a client may ask of a table.
type tableView struct {
	h, s          string
	named, sorted bool // h and s were given
	headings      bool
	bytes, time   string // units
	siblings      bool   // columns of primaries beside those of all copies (pri)
}

// choose are the columns that the view shows. Without h, those that are not
// hidden; a name that no column has is left out.
func (t *table) choose(v tableView) []shown {
	var chosen []shown
	if !v.named {
		for at, c := range t.columns {
			if c.flags&hidden == 0 {
				chosen = append(chosen, shown{at, c.name})
			}
		}
		return chosen
	}
	for _, name := range t.expand(splitList(v.h)) {
		at := t.find(name)
		if at < 0 {
			continue
		}
		chosen = append(chosen, shown{at, name})
		if sibling := t.exact("pri." + t.columns[at].name); v.siblings && sibling >= 0 {
			chosen = append(chosen, shown{sibling, "pri." + name})
		}
	}
	return chosen
}

// expand replaces patterns by the names of their columns, each name once.
func (t *table) expand(names []string) []string {
	var all []string
	seen := map[string]bool{}
	keep := func(name string) {
		if !seen[name] {
			seen[name] = true
			all = append(all, name)
		}
	}
	for _, name := range names {
		if !isPattern(name) {
			keep(name)
			continue
		}
		for _, c := range t.columns {
			if wildcard.Match(name, c.name) || slices.ContainsFunc(splitList(c.aliases), func(alias string) bool { return wildcard.Match(name, alias) }) {
				keep(c.name)
			}
		}
	}
	return all
}

// exact is the place of a column by its name; -1: none.
func (t *table) exact(name string) int {
	return slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
}

// find is the place of a column by its name or, failing that, by an alias; of
// several with the alias the last counts, as in the server.
func (t *table) find(name string) int {
	if at := t.exact(name); at >= 0 {
		return at
	}
	for at := len(t.columns) - 1; at >= 0; at-- {
		if slices.Contains(splitList(t.columns[at].aliases), name) {
			return at
		}
	}
	return -1
}

// sort orders the rows as the view asks for.
func (t *table) sort(v tableView) error {
	if !v.sorted {
		return nil
	}
	type key struct{ at, sign int }
	var keys []key
	for _, name := range splitList(v.s) {
		k := key{sign: 1}
		plain, descending := strings.CutSuffix(name, ":desc")
		if descending {
			k.sign = -1
		} else {
			plain = strings.TrimSuffix(name, ":asc")
		}
		if k.at = t.find(plain); k.at < 0 {
			return exception.New(exception.UnsupportedOperation, "Unable to sort by unknown sort key `%s`", plain)
		}
		keys = append(keys, k)
	}
	slices.SortStableFunc(t.rows, func(a, b []any) int {
		for _, k := range keys {
			if order := k.sign * compareCells(a[k.at], b[k.at]); order != 0 {
				return order
			}
		}
		return 0
	})
	return nil
}

// compareCells puts nothing first, numbers by size and texts by letters.
func compareCells(a, b any) int {
	if a == nil || b == nil {
		return cmp.Compare(presence(a), presence(b))
	}
	x, numberA := amount(a)
	y, numberB := amount(b)
	if numberA && numberB {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

func presence(v any) int {
	if v == nil {
		return 0
	}
	return 1
}

func amount(v any) (int64, bool) {
	switch n := v.(type) {
	case int:
		return int64(n), true
	case int64:
		return n, true
	case size:
		return int64(n), true
	case time.Duration:
		return int64(n), true
	}
	return 0, false
}

// text is a value as it is shown.
func (v tableView) text(value any) string {
	switch n := value.(type) {
	case nil:
		return ""
	case size:
		if text, ok := inUnit(int64(n), v.bytes, byteScales); ok {
			return text
		}
		return bytesInWords(int64(n))
	case time.Duration:
		if text, ok := inUnit(int64(n), v.time, timeScales); ok {
			return text
		}
		return timeInWords(n)
	}
	return fmt.Sprint(value)
}

// appendText appends the table as text: columns as wide as their widest value,
// a blank between them, and none behind the last one unless it is aligned right.
func (t *table) appendText(dst []byte, v tableView) []byte {
	chosen := t.choose(v)
	widths := make([]int, len(chosen))
	for i, s := range chosen {
		if v.headings {
			widths[i] = width(s.display)
		}
		for _, row := range t.rows {
			widths[i] = max(widths[i], width(v.text(row[s.at])))
		}
	}
	line := func(text func(shown) string) {
		for i, s := range chosen {
			if i > 0 {
				dst = append(dst, ' ')
			}
			dst = pad(dst, text(s), widths[i], t.columns[s.at].flags&right != 0, i == len(chosen)-1)
		}
		dst = append(dst, '\n')
	}
	if v.headings {
		line(func(s shown) string { return s.display })
	}
	for _, row := range t.rows {
		line(func(s shown) string { return v.text(row[s.at]) })
	}
	return dst
}

// width is how many places a text takes, as the server counts: UTF-16 code units.
func width(text string) int { return len(utf16.Encode([]rune(text))) }

func pad(dst []byte, text string, to int, alignRight, last bool) []byte {
	blanks := strings.Repeat(" ", max(0, to-width(text)))
	switch {
	case alignRight:
		return append(append(dst, blanks...), text...)
	case last:
		return append(dst, text...)
	}
	return append(append(dst, text...), blanks...)
}

// rowsJSON shows the table as objects, all values texts.
func (t *table) rowsJSON(v tableView) array {
	chosen := t.choose(v)
	rows := array{}
	for _, row := range t.rows {
		o := object{}
		for _, s := range chosen {
			if row[s.at] == nil {
				o.add(s.display, nil)
			} else {
				o.add(s.display, v.text(row[s.at]))
			}
		}
		rows = append(rows, o)
	}
	return rows
}

// appendHelp appends what columns there are.
func (t *table) appendHelp(dst []byte) []byte {
	var names, aliases, helps int
	for _, c := range t.columns {
		names, aliases, helps = max(names, width(c.name)), max(aliases, width(c.aliases)), max(helps, width(c.help))
	}
	for _, c := range t.columns {
		dst = append(pad(dst, c.name, names, false, false), " | "...)
		dst = append(pad(dst, c.aliases, aliases, false, false), " | "...)
		dst = append(pad(dst, c.help, helps, false, false), '\n')
	}
	return dst
}
