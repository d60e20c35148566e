package cluster

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"

	"github.com/reshelve/reshelve/internal/fault"
)

// Action is what an operation of a bulk request does.
type Action uint8

// The actions. None of them reads what was there before.
const (
	Index  Action = iota // write, whether it is there or not
	Create               // write only if it is not there
	Delete
	// Ensure is Create for a document that an index behind a data stream takes, although that is
	// not the stream's newest one: an update that changes nothing of what is there, and writes
	// what is not. Servers allow updates there alone.
	Ensure
)

// String is the action's name in a bulk request.
func (a Action) String() string { return [...]string{"index", "create", "delete", "update"}[a] }

// Op is one operation. Its slices are copied.
type Op struct {
	Action  Action
	Index   string
	ID      []byte
	Routing []byte // empty: none
	Version int64  // written with version_type external_gte; negative: none
	Source  []byte // one JSON object of any layout; Index and Create

	// Above makes a document of the same version a conflict, too: version_type external. What had
	// an older version and was replaced is named: see Result.Replaced.
	Above bool
	// Names has what is replaced named without Above, too.
	Names bool
	// Seen makes anything but what was seen there a conflict. Servers take it without a version
	// alone: the document gets the one after that which is there.
	Seen Seen
}

// Seen names the write that a document was seen to come from. The zero value names none.
type Seen struct {
	Number int64 // _seq_no
	Term   int64 // _primary_term, from 1 on
}

// Failure is an operation that was not applied, and why.
type Failure struct {
	Item    int // of the batch, from 0; -1 when the operation never came into one
	Action  Action
	Index   string
	ID      string
	Routing string
	Status  int    // HTTP; 0 when it was not sent
	Type    string // "mapper_parsing_exception", …
	Reason  string // with its causes
	Next    string // what the user can do; may be ""
}

// Error names the document and the reason.
func (f *Failure) Error() string {
	return fmt.Sprintf("index %s: document %q: %s: %s", f.Index, f.ID, f.Type, f.Reason)
}

// Batch is a bulk request that is being filled: lines of JSON, and where each
// operation lies in them. The zero value is empty. It is used by one goroutine,
// and must not be changed while a Writer has it; Reset makes it ready for reuse.
type Batch struct {
	body  []byte
	items []item
	tells bool // the answers 200 and 201 have to be told apart: an operation ensures, or names what it replaces
}

// item is where an operation lies in the body.
type item struct {
	start  int // of its action line
	action Action
	names  bool // what it replaces
}

// The types of failures that are found before anything is sent.
const (
	NotAnObject = "source_not_an_object"
	BadName     = "name_not_writable"
	TooLarge    = "request_too_large"
)

// Len is the number of operations.
func (b *Batch) Len() int { return len(b.items) }

// Bytes is the length of the request's body.
func (b *Batch) Bytes() int { return len(b.body) }

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() { b.body, b.items, b.tells = b.body[:0], b.items[:0], false }

// Add appends an operation. One that no server could take is not appended: the
// error is a *Failure of kind fault.Refused, and the batch is as it was.
//
// The source passes through byte by byte but for its line breaks, which become
// spaces: they end operations, and in JSON they can only stand between tokens.
func (b *Batch) Add(op Op) error {
	source := trim(op.Source)
	switch {
	case op.Action != Delete && (len(source) < 2 || source[0] != '{' || source[len(source)-1] != '}'):
		return op.refuse(NotAnObject, "the source is no JSON object: "+glimpse(op.Source))
	case !utf8.Valid(op.ID) || !utf8.Valid(op.Routing):
		return op.refuse(BadName, "the id or the routing value is no text in UTF-8")
	case len(op.ID) == 0:
		return op.refuse(BadName, "the id is empty")
	}
	start := len(b.body)
	b.body = append(b.appendAction(op), '\n')
	if op.Action != Delete {
		if op.Action == Ensure {
			b.body, b.tells = append(b.body, `{"doc":{},"upsert":`...), true
		}
		at := len(b.body)
		b.body = append(b.body, op.Source...)
		spaceLines(b.body[at:])
		if op.Action == Ensure {
			b.body = append(b.body, '}')
		}
		b.body = append(b.body, '\n')
	}
	names := op.Above || op.Names
	b.tells = b.tells || names
	b.items = append(b.items, item{start, op.Action, names})
	return nil
}

// appendAction appends the action line, without its end.
func (b *Batch) appendAction(op Op) []byte {
	out := append(append(append(b.body, `{"`...), op.Action.String()...), `":{"_index":`...)
	out = appendQuoted(out, op.Index)
	out = appendQuoted(append(out, `,"_id":`...), op.ID)
	if len(op.Routing) > 0 {
		out = appendQuoted(append(out, `,"routing":`...), op.Routing)
	}
	switch {
	case op.Seen != Seen{}:
		out = strconv.AppendInt(append(out, `,"if_seq_no":`...), op.Seen.Number, 10)
		out = strconv.AppendInt(append(out, `,"if_primary_term":`...), op.Seen.Term, 10)
	case op.Version >= 0:
		out = append(strconv.AppendInt(append(out, `,"version":`...), op.Version, 10), `,"version_type":"external`...)
		if !op.Above {
			out = append(out, "_gte"...)
		}
		out = append(out, '"')
	}
	return append(out, "}}"...)
}

// appendQuoted appends a JSON string; most names need no escapes.
func appendQuoted[T string | []byte](dst []byte, text T) []byte {
	for i := range len(text) {
		if c := text[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			dst, _ = jsontext.AppendQuote(dst, text) // valid: the caller has looked
			return dst
		}
	}
	return append(append(append(dst, '"'), text...), '"')
}

// spaceLines makes line ends spaces.
func spaceLines(source []byte) {
	for {
		i := bytes.IndexByte(source, '\n')
		if i < 0 {
			return
		}
		source[i] = ' '
		source = source[i+1:]
	}
}

// trim takes JSON's blanks away from both ends; others stay and are refused.
func trim(source []byte) []byte {
	for len(source) > 0 && blank(source[0]) {
		source = source[1:]
	}
	for len(source) > 0 && blank(source[len(source)-1]) {
		source = source[:len(source)-1]
	}
	return source
}

func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// glimpse is how a source begins.
func glimpse(source []byte) string {
	if len(source) == 0 {
		return "it is empty"
	}
	return fmt.Sprintf("it begins with %.40q", source[:min(len(source), 40)])
}

func (op *Op) refuse(kind, reason string) error {
	return fault.Wrap(fault.Refused, &Failure{Item: -1, Action: op.Action, Index: op.Index, ID: string(op.ID), Routing: string(op.Routing), Type: kind, Reason: reason})
}

func cutLine(lines []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(lines, []byte{'\n'})
	return line, rest
}

// readAction reads an action line as this package and others write it.
func readAction(line []byte) (op Op, err error) {
	if !gjson.ValidBytes(line) {
		return op, fault.New(fault.Refused, "the action line is no JSON")
	}
	known := false
	gjson.ParseBytes(line).ForEach(func(action, about gjson.Result) bool {
		for op.Action = Index; op.Action <= Ensure; op.Action++ {
			if op.Action.String() == action.Str {
				known = true
				break
			}
		}
		op.Index, op.ID = about.Get("_index").String(), []byte(about.Get("_id").String())
		op.Routing, op.Version = []byte(about.Get("routing").String()), -1
		if v := about.Get("version"); v.Exists() {
			op.Version, op.Above = v.Int(), about.Get("version_type").String() == "external"
		}
		op.Seen = Seen{about.Get("if_seq_no").Int(), about.Get("if_primary_term").Int()}
		return false
	})
	if !known {
		return op, fault.New(fault.Refused, "the action line names no action that is known: %.80q", line)
	}
	return op, nil
}

// end is where an item's lines end.
func (b *Batch) end(i int) int {
	if i+1 < len(b.items) {
		return b.items[i+1].start
	}
	return len(b.body)
}

// size is the length of an item's lines.
func (b *Batch) size(i int) int { return b.end(i) - b.items[i].start }

// op reads an item back, without its source.
func (b *Batch) op(i int) Op {
	head, _ := cutLine(b.body[b.items[i].start:b.end(i)])
	op, _ := readAction(head) // written by this package
	return op
}

// failure is that of an item.
func (b *Batch) failure(i int) Failure {
	op := b.op(i)
	return Failure{Item: i, Action: op.Action, Index: op.Index, ID: string(op.ID), Routing: string(op.Routing)}
}

// lines are the lines of one operation: its action, and its source but for a delete. They are
// valid until the batch is reset.
func (b *Batch) lines(item int) []byte { return b.body[b.items[item].start:b.end(item)] }

// Op reads one operation back that is not one that ensures. Its source is valid until the batch
// is reset.
func (b *Batch) Op(item int) Op {
	op := b.op(item)
	_, op.Source = cutLine(b.lines(item))
	return op
}

// gather is the body of a request with the given items, ascending. It is a part
// of the batch's own when they lie side by side.
func (b *Batch) gather(items []int) (body []byte) {
	first, last := items[0], items[len(items)-1]
	if last-first == len(items)-1 {
		return b.body[b.items[first].start:b.end(last)]
	}
	for _, i := range items {
		body = append(body, b.lines(i)...)
	}
	return body
}
