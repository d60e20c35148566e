package document

import (
	"bytes"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep objects and arrays of a canonical source may nest: what the readers
// of Elasticsearch and OpenSearch take.
const maxDepth = 1000

// member is one member of an object in f.out: from the quote before its name to the byte
// after its value.
type member struct{ from, name, to int }

// frame is an object or array that is being written.
type frame struct {
	array    bool
	first    int  // its first member in f.members
	unsorted bool // a member stands before one that it belongs after
}

// What may come next. Each value is followed by a separator or an end.
const (
	wantValue    = iota
	wantValueEnd // a value, or the end of an array that has none yet
	wantName
	wantNameEnd // a name, or the end of an object that has none yet
	wantNext    // a comma, or an end
)

// canonical appends the canonical form of source to f.out; false when it is no JSON value or
// nested too deep, and f.out is of no use then. What stands in source as it is to be written
// is copied in runs: f.run is where the one begins that has not been copied yet.
func (f *Fingerprinter) canonical(source []byte) bool {
	f.out = slices.Grow(f.out, len(source)) // the canonical form is never longer
	f.stack, f.members, f.run = f.stack[:0], f.members[:0], 0
	at, want, ok := 0, wantValue, true
	for ok {
		if at < len(source) && space[source[at]] {
			at = f.skip(source, at)
		}
		switch {
		case want == wantNext && len(f.stack) == 0:
			f.copy(source, at)
			return at == len(source)
		case at == len(source):
			return false
		case want == wantNext:
			want, ok = f.next(source, at)
			at++
		case want <= wantValueEnd:
			at, want, ok = f.value(source, at, want)
		case source[at] == '}' && want == wantNameEnd:
			want, ok = f.next(source, at)
			at++
		default:
			at, ok = f.name(source, at)
			want = wantValue
		}
	}
	return false
}

// copy ends a run before at, where the next one begins.
func (f *Fingerprinter) copy(source []byte, at int) {
	f.out = append(f.out, source[f.run:at]...)
	f.run = at
}

// reached is how long f.out will be when the run before at has been copied.
func (f *Fingerprinter) reached(at int) int { return len(f.out) + at - f.run }

// skip leaves white space out.
func (f *Fingerprinter) skip(source []byte, at int) int {
	f.copy(source, at)
	for at < len(source) && space[source[at]] {
		at++
	}
	f.run = at
	return at
}

// next takes what comes behind a value: a comma, or an end.
func (f *Fingerprinter) next(source []byte, at int) (want int, ok bool) {
	if source[at] != ',' {
		return wantNext, f.end(source, at)
	}
	if f.stack[len(f.stack)-1].array {
		return wantValue, true
	}
	return wantName, true
}

// value begins an object or array, or copies any other value.
func (f *Fingerprinter) value(source []byte, at, want int) (int, int, bool) {
	switch c := source[at]; {
	case c == '{' || c == '[':
		if len(f.stack) == maxDepth {
			return at, want, false
		}
		f.stack = append(f.stack, frame{array: c == '[', first: len(f.members)})
		if c == '{' {
			return at + 1, wantNameEnd, true
		}
		return at + 1, wantValueEnd, true
	case c == ']' && want == wantValueEnd:
		return at + 1, wantNext, f.end(source, at)
	}
	at, ok := f.scalar(source, at)
	return at, wantNext, ok
}

// space are the bytes that JSON takes for white space.
var space = [256]bool{' ': true, '\t': true, '\n': true, '\r': true}

// name takes the name of a member and its colon.
func (f *Fingerprinter) name(source []byte, at int) (int, bool) {
	if source[at] != '"' {
		return at, false
	}
	from := f.reached(at)
	if n := len(f.members); n > f.stack[len(f.stack)-1].first {
		f.members[n-1].to = from - 1 // without the comma
	}
	at, ok := f.text(source, at)
	if !ok {
		return at, false
	}
	f.copy(source, at) // the next name is compared with it
	name := len(f.out) - 1
	if at < len(source) && space[source[at]] {
		at = f.skip(source, at)
	}
	if at == len(source) || source[at] != ':' {
		return at, false
	}
	top := &f.stack[len(f.stack)-1]
	if n := len(f.members); n > top.first && !top.unsorted {
		before := f.members[n-1]
		top.unsorted = bytes.Compare(f.out[before.from+1:before.name], f.out[from+1:name]) > 0
	}
	f.members = append(f.members, member{from: from, name: name})
	return at + 1, true
}

// end closes the innermost object or array, and sorts the members of an object.
func (f *Fingerprinter) end(source []byte, at int) bool {
	top, c := f.stack[len(f.stack)-1], source[at]
	if top.array != (c == ']') || !top.array && c != '}' {
		return false
	}
	f.stack = f.stack[:len(f.stack)-1]
	if members := f.members[top.first:]; len(members) > 0 {
		members[len(members)-1].to = f.reached(at)
		if top.unsorted {
			f.copy(source, at)
			f.sort(members)
		}
		f.members = f.members[:top.first]
	}
	return true
}

// sort puts members, which are the end of f.out, into the order of their names.
func (f *Fingerprinter) sort(members []member) {
	from := members[0].from
	f.sorted = append(f.sorted[:0], f.out[from:]...)
	byName := func(a, b member) int {
		return bytes.Compare(f.sorted[a.from+1-from:a.name-from], f.sorted[b.from+1-from:b.name-from])
	}
	if len(members) <= 16 {
		insertionSort(members, byName)
	} else {
		slices.SortStableFunc(members, byName)
	}
	f.out = f.out[:from]
	for i, m := range members {
		if i > 0 {
			f.out = append(f.out, ',')
		}
		f.out = append(f.out, f.sorted[m.from-from:m.to-from]...)
	}
}

// insertionSort is stable, and the fastest for the few members that most objects have.
func insertionSort(members []member, compare func(a, b member) int) {
	for i := 1; i < len(members); i++ {
		m, j := members[i], i
		for ; j > 0 && compare(members[j-1], m) > 0; j-- {
			members[j] = members[j-1]
		}
		members[j] = m
	}
}

// scalar takes a string, a number or a literal.
func (f *Fingerprinter) scalar(source []byte, at int) (int, bool) {
	switch c := source[at]; {
	case c == '"':
		return f.text(source, at)
	case c == '-' || c >= '0' && c <= '9':
		end := at + 1
		for end < len(source) && number[source[end]] {
			end++
		}
		return end, true
	}
	for _, word := range literals {
		if bytes.HasPrefix(source[at:], word) {
			return at + len(word), true
		}
	}
	return at, false
}

var literals = [][]byte{[]byte("true"), []byte("false"), []byte("null")}

// number are the bytes that numbers are made of behind their first one. What is made of them
// and is no number is kept as it is: nothing else can become the same.
var number = [256]bool{'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true,
	'8': true, '9': true, '+': true, '-': true, '.': true, 'e': true, 'E': true}

// text takes a string, from quote to quote, and writes its value.
func (f *Fingerprinter) text(source []byte, at int) (int, bool) {
	at++
	for near := min(len(source), at+24); at < near; at++ { // most are short
		if source[at] == '"' {
			return at + 1, true
		}
		if source[at] == '\\' {
			break
		}
	}
	for quote := -1; ; {
		if quote < at {
			n := bytes.IndexByte(source[at:], '"')
			if n < 0 {
				return at, false
			}
			quote = at + n
		}
		n := bytes.IndexByte(source[at:quote], '\\')
		if n < 0 {
			return quote + 1, true
		}
		f.copy(source, at+n)
		var ok bool
		if at, ok = f.escape(source, at+n); !ok {
			return at, false
		}
		f.run = at
	}
}

// escape writes the value of the escape sequence at at.
func (f *Fingerprinter) escape(source []byte, at int) (int, bool) {
	if at+1 >= len(source) {
		return at, false
	}
	c := source[at+1]
	if c == 'u' {
		return f.unicode(source, at)
	}
	value := simple[c]
	if value == 0 {
		return at, false
	}
	if value == '"' || value == '\\' {
		f.out = append(f.out, '\\')
	}
	f.out = append(f.out, value)
	return at + 2, true
}

// simple are the values of the escapes of one letter.
var simple = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unicode writes the value of one or two \u escapes.
func (f *Fingerprinter) unicode(source []byte, at int) (int, bool) {
	r := hex4(source, at)
	if r < 0 {
		return at, false
	}
	at += 6
	if r == '"' || r == '\\' {
		f.out = append(f.out, '\\', byte(r))
		return at, true
	}
	if !utf16.IsSurrogate(r) {
		f.out = utf8.AppendRune(f.out, r)
		return at, true
	}
	if pair := utf16.DecodeRune(r, hex4(source, at)); pair != utf8.RuneError {
		f.out = utf8.AppendRune(f.out, pair)
		return at + 6, true
	}
	f.out = append(f.out, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
	return at, true
}

// hex4 is the number of the \u escape at at; -1 when there is none.
func hex4(source []byte, at int) rune {
	if at+6 > len(source) || source[at] != '\\' || source[at+1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range source[at+2 : at+6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
