package token

import "bytes"

// Kind is what a token is.
type Kind uint8

// The kinds of tokens.
const (
	End Kind = iota
	Object
	ObjectEnd
	Array
	ArrayEnd
	Key
	String
	Integer // without fraction and exponent
	Float
	True
	False
	Null
)

// String is the name that the server gives the token.
func (k Kind) String() string {
	return [...]string{"null", "START_OBJECT", "END_OBJECT", "START_ARRAY", "END_ARRAY", "FIELD_NAME", "VALUE_STRING",
		"VALUE_NUMBER", "VALUE_NUMBER", "VALUE_BOOLEAN", "VALUE_BOOLEAN", "VALUE_NULL"}[k]
}

// IsScalar reports whether the token is a whole value that is neither object nor
// array, null included.
func (k Kind) IsScalar() bool { return k >= String }

// Reader reads JSON token by token, as strictly and as leniently as the server's
// parser: comments of both kinds and a byte order mark are allowed, keys that
// come twice are not. It allocates by the depth and by keys with escapes alone.
// Reset it before use; it is not safe for concurrent use.
type Reader struct {
	src     []byte
	pos     int
	start   int    // of the last token, or of what is wrong when placed
	placed  bool   // the server takes a place before it sees what is wrong there
	text    []byte // of the last key, string, number or literal
	scratch []byte // holds text when it had escapes

	open  []frame  // containers, from the outside in
	names [][]byte // keys of the open objects, each object's from its frame's first
	want  state
}

// frame is an open container.
type frame struct {
	object bool
	start  int // of its bracket
	first  int // of its keys in names
	seen   map[string]struct{}
}

// state is what may come next.
type state uint8

const (
	wantRoot       state = iota
	wantFirstKey         // after {
	wantFirstValue       // after [
	wantValue            // after a key
	wantMore             // after a value in a container
	wantEnd              // after the root value
)

// The bounds of the server's parser (StreamReadConstraints).
const (
	maxNesting = 1000
	maxNumber  = 1000
)

// New reads src, which must not change meanwhile.
func New(src []byte) *Reader {
	r := &Reader{}
	r.Reset(src)
	return r
}

// Reset begins anew with src, keeping buffers.
func (r *Reader) Reset(src []byte) {
	const most = 64 // kept of each: clearing more costs more than making it
	if r.open == nil || cap(r.names) > most || cap(r.open) > most {
		r.names, r.open = make([][]byte, 0, 16), make([]frame, 0, 4) // enough for common documents
	}
	clear(r.open[:cap(r.open)])
	clear(r.names[:cap(r.names)])
	*r = Reader{src: src, scratch: r.scratch[:0], open: r.open[:0], names: r.names[:0]}
	if bytes.HasPrefix(src, []byte("\xef\xbb\xbf")) {
		r.pos = 3
	}
}

// Text is the unescaped content of the last key or string, or the literal of the
// last number, true, false or null; valid until the next token is read.
func (r *Reader) Text() []byte { return r.text }

// Depth is the number of open containers.
func (r *Reader) Depth() int { return len(r.open) }

// Offset is the place of the last token's first byte.
func (r *Reader) Offset() int { return r.start }

// Place is line and column, from 1, of the last token; the column is 0 before any.
// After an error it is what the server holds for the last token then.
func (r *Reader) Place() (line, column int) {
	if r.start >= len(r.src) {
		return bytes.Count(r.src, []byte("\n")) + 1, 0
	}
	before := r.src[:r.start]
	return bytes.Count(before, []byte("\n")) + 1, r.start - bytes.LastIndexByte(before, '\n')
}

// Next reads one token; kind End is the end of the input after a whole value.
func (r *Reader) Next() (Kind, error) {
	before := r.start
	r.placed = false
	kind, err := r.next()
	if err != nil && !r.placed {
		r.start = before
	}
	return kind, err
}

func (r *Reader) next() (Kind, error) {
	c, ok, err := r.blank()
	r.start = r.pos
	if err != nil {
		return 0, err
	}
	if !ok {
		return r.end()
	}
	switch r.want {
	case wantFirstKey:
		if c == '}' {
			return r.close(true)
		}
		return r.key(c)
	case wantFirstValue:
		if c == ']' {
			return r.close(false)
		}
	case wantMore:
		top := &r.open[len(r.open)-1]
		switch {
		case c == '}' || c == ']':
			return r.close(c == '}')
		case c != ',' && top.object:
			return 0, r.unexpected(c, "was expecting comma to separate Object entries")
		case c != ',':
			return 0, r.unexpected(c, "was expecting comma to separate Array entries")
		}
		r.pos++
		if c, ok, err = r.blank(); err != nil {
			return 0, err
		}
		r.start = r.pos
		if !ok {
			return r.end()
		}
		if top.object {
			return r.key(c)
		}
	}
	return r.value(c)
}

// value reads what begins with c at the place of a value.
func (r *Reader) value(c byte) (Kind, error) {
	r.placed = r.want != wantValue || c == '"'
	switch c {
	case '"':
		r.want = r.after()
		return String, r.quoted(false)
	case '{', '[':
		return r.begin(c)
	case 't':
		return r.literal("true", True)
	case 'f':
		return r.literal("false", False)
	case 'n':
		return r.literal("null", Null)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return r.number()
	case ']', '}':
		if r.want == wantEnd || r.want == wantFirstValue {
			return r.close(c == '}')
		}
		fallthrough
	case ',':
		return 0, r.unexpected(c, "expected a value")
	case '+':
		r.pos++
		return 0, r.unexpected(c, "in numeric value: JSON spec does not allow numbers to have plus signs: enable `JsonReadFeature.ALLOW_LEADING_PLUS_SIGN_FOR_NUMBERS` to allow")
	}
	if isWord(c) || c >= 0x80 {
		return 0, r.unknownWord()
	}
	return 0, r.unexpected(c, "expected a valid value "+validValues)
}

func (r *Reader) begin(c byte) (Kind, error) {
	if len(r.open) == maxNesting {
		return 0, r.tooDeep()
	}
	r.open = append(r.open, frame{object: c == '{', start: r.pos, first: len(r.names)})
	r.pos++
	if c == '{' {
		r.want = wantFirstKey
		return Object, nil
	}
	r.want = wantFirstValue
	return Array, nil
}

// close ends the innermost container, with a brace or a bracket.
func (r *Reader) close(brace bool) (Kind, error) {
	r.placed = true
	if len(r.open) == 0 || r.open[len(r.open)-1].object != brace {
		return 0, r.wrongClose(brace)
	}
	top := r.open[len(r.open)-1]
	r.open, r.names = r.open[:len(r.open)-1], r.names[:top.first]
	r.pos++
	r.want = r.after()
	if brace {
		return ObjectEnd, nil
	}
	return ArrayEnd, nil
}

// after is the state after a whole value.
func (r *Reader) after() state {
	if len(r.open) == 0 {
		return wantEnd
	}
	return wantMore
}

// key reads a key and its colon.
func (r *Reader) key(c byte) (Kind, error) {
	if c != '"' {
		return 0, r.unexpected(c, "was expecting double-quote to start field name")
	}
	if err := r.quoted(true); err != nil {
		return 0, err
	}
	if err := r.remember(); err != nil {
		return 0, err
	}
	c, ok, err := r.blank()
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return r.end()
	case c != ':':
		return 0, r.unexpected(c, "was expecting a colon to separate field name and value")
	}
	r.pos++
	r.want = wantValue
	return Key, nil
}

// remember refuses a key that its object has already. Up to fewKeys are compared
// one by one, so that common objects need no map.
func (r *Reader) remember() error {
	const fewKeys = 24
	top := &r.open[len(r.open)-1]
	name := r.text
	if len(r.scratch) > 0 && len(name) > 0 && &name[0] == &r.scratch[0] {
		name = bytes.Clone(name)
		r.text = name
	}
	if top.seen == nil {
		for _, other := range r.names[top.first:] {
			if string(other) == string(name) {
				return r.duplicate(name)
			}
		}
		r.names = append(r.names, name)
		if len(r.names)-top.first == fewKeys {
			top.seen = make(map[string]struct{}, 4*fewKeys)
			for _, other := range r.names[top.first:] {
				top.seen[string(other)] = struct{}{}
			}
		}
		return nil
	}
	if _, twice := top.seen[string(name)]; twice {
		return r.duplicate(name)
	}
	top.seen[string(name)] = struct{}{}
	return nil
}

// literal reads true, false or null.
func (r *Reader) literal(word string, kind Kind) (Kind, error) {
	end := r.pos + len(word)
	if end > len(r.src) || string(r.src[r.pos:end]) != word || end < len(r.src) && (isWord(r.src[end]) || r.src[end] >= 0x80) {
		return 0, r.unknownWord()
	}
	r.text = r.src[r.pos:end]
	r.pos = end
	r.want = r.after()
	return kind, nil
}

// Whole reads the rest of the value that began with a token of this kind, and
// returns its bytes: for containers all of it, brackets included.
func (r *Reader) Whole(kind Kind) ([]byte, error) {
	if kind != Object && kind != Array {
		return r.text, nil
	}
	depth := len(r.open)
	start := r.open[depth-1].start
	for len(r.open) >= depth {
		if _, err := r.Next(); err != nil {
			return nil, err
		}
	}
	return r.src[start:r.pos], nil
}

// blank skips white space and comments and looks at the next byte.
func (r *Reader) blank() (c byte, ok bool, err error) {
	for r.pos < len(r.src) {
		switch c := r.src[r.pos]; {
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
			r.pos++
		case c == '/':
			if err := r.comment(); err != nil {
				return 0, false, err
			}
		case c < ' ':
			return 0, false, r.illegal(c)
		default:
			return c, true, nil
		}
	}
	return 0, false, nil
}

// comment skips /* … */ and // … to the end of the line.
func (r *Reader) comment() error {
	rest := r.src[r.pos+1:]
	if len(rest) == 0 {
		r.pos++
		return r.endOfInput("in a comment")
	}
	switch rest[0] {
	case '*':
		end := bytes.Index(rest[1:], []byte("*/"))
		if end < 0 {
			r.pos = len(r.src)
			return r.endOfInput("in a comment")
		}
		r.pos += 2 + end + 2
	case '/':
		end := bytes.IndexAny(rest, "\r\n")
		if end < 0 {
			end = len(rest)
		}
		r.pos += 1 + end
	default:
		r.pos++
		return r.unexpected(rest[0], "was expecting either '*' or '/' for a comment")
	}
	return nil
}

// isWord tells whether c goes on a word such as true.
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$'
}
