package cli

import (
	"bytes"
	"io"
	"strconv"

	"github.com/reshelve/reshelve/internal/document"
)

// lineBuffer is how many bytes are gathered before they are written: a write
// costs a system call, and a pipe takes 64 KiB at a time.
const lineBuffer = 256 << 10

// lines prints documents, one a line (ndjson) or two (bulk), without allocating
// for each. The first failed write sticks in err and stops all output.
type lines struct {
	out    io.Writer
	buf    []byte
	err    error
	format func(*lines, *document.Document)

	index  string // the index that prefix is for
	prefix []byte // the beginning of each line up to the id

	inexact      int64             // documents with a name that is not UTF-8
	firstInexact document.Position // the first of them
}

func newLines(out io.Writer, format func(*lines, *document.Document)) *lines {
	return &lines{out: out, buf: make([]byte, 0, lineBuffer), format: format}
}

// print adds the lines of one document.
func (l *lines) print(doc *document.Document) {
	if l.err != nil {
		return
	}
	l.format(l, doc)
	if len(l.buf) >= lineBuffer {
		l.flush()
	}
}

// flush writes out what was gathered.
func (l *lines) flush() {
	if l.err == nil && len(l.buf) > 0 {
		_, l.err = l.out.Write(l.buf)
	}
	l.buf = l.buf[:0]
}

// ndjson prints {"_index":…,"_id":…,"_routing":…,"_type":…,"_parent":…,
// "_version":…,"_seq_no":…,"_primary_term":…,"_source":…} without the keys that
// the document lacks.
func ndjson(l *lines, doc *document.Document) {
	l.begin(doc, `{"_index":`, `,"_id":`)
	l.text(doc, `,"_routing":`, doc.Routing)
	l.text(doc, `,"_type":`, doc.Type)
	l.text(doc, `,"_parent":`, doc.Parent)
	if v := doc.Versions; v != nil {
		l.number(`,"_version":`, v.Version)
		l.number(`,"_seq_no":`, v.SeqNo)
		l.number(`,"_primary_term":`, v.PrimaryTerm)
	}
	if doc.Source != nil {
		l.buf = append(l.buf, `,"_source":`...)
		l.source(doc.Source)
	}
	l.buf = append(l.buf, '}', '\n')
}

// bulk prints the two lines that the _bulk API of Elasticsearch 7 and later and
// of OpenSearch takes: an index action and the source. There is no _type, which
// they no longer know. A version is written with external_gte, so that sending
// the same lines again changes nothing. The document must have a source.
func bulk(l *lines, doc *document.Document) {
	l.begin(doc, `{"index":{"_index":`, `,"_id":`)
	l.text(doc, `,"routing":`, doc.Routing)
	if v := doc.Versions; v != nil && v.Version >= 0 {
		l.number(`,"version":`, v.Version)
		l.buf = append(l.buf, `,"version_type":"external_gte"`...)
	}
	l.buf = append(l.buf, '}', '}', '\n')
	l.source(doc.Source)
	l.buf = append(l.buf, '\n')
}

// begin adds the line's start with index and id.
func (l *lines) begin(doc *document.Document, open, id string) {
	if l.prefix == nil || l.index != doc.Index {
		l.index = doc.Index
		l.prefix, _ = appendJSON(append(l.prefix[:0], open...), []byte(doc.Index))
		l.prefix = append(l.prefix, id...)
	}
	l.buf = append(l.buf, l.prefix...)
	l.quoted(doc, doc.ID)
}

// text adds a key with a text value, or nothing when the value is empty.
func (l *lines) text(doc *document.Document, key string, value []byte) {
	if len(value) > 0 {
		l.buf = append(l.buf, key...)
		l.quoted(doc, value)
	}
}

func (l *lines) quoted(doc *document.Document, value []byte) {
	var exact bool
	if l.buf, exact = appendJSON(l.buf, value); !exact {
		if l.inexact == 0 {
			l.firstInexact = doc.Position
		}
		l.inexact++
	}
}

// number adds a key with a number, or nothing when the files do not hold it.
func (l *lines) number(key string, value int64) {
	if value >= 0 {
		l.buf = strconv.AppendInt(append(l.buf, key...), value, 10)
	}
}

// source adds a source byte for byte, with a space for each raw line break: in
// JSON those stand only between tokens. It goes through the buffer piece by
// piece, so that a huge source needs no second copy.
func (l *lines) source(source []byte) {
	for len(source) > 0 {
		if len(l.buf) >= lineBuffer {
			l.flush()
		}
		n := min(len(source), lineBuffer-len(l.buf))
		start := len(l.buf)
		l.buf = append(l.buf, source[:n]...)
		spaceOut(l.buf[start:])
		source = source[n:]
	}
}

// spaceOut puts a space in the place of each raw line feed and carriage return.
func spaceOut(text []byte) {
	for _, lineBreak := range []byte{'\n', '\r'} {
		for rest := text; ; {
			i := bytes.IndexByte(rest, lineBreak)
			if i < 0 {
				break
			}
			rest[i] = ' '
			rest = rest[i+1:]
		}
	}
}
