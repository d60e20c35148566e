package query

import (
	"bytes"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// parser reads one body. Its functions that read a value are called when the first
// token of that value has been read (kind is that token's), and return when the last
// one has been.
type parser struct {
	read    *token.Reader
	body    []byte
	kind    token.Kind // of the last token
	key     int        // offset of the last key that members gave
	wrapped bool       // the body stood in a wrapper query
}

func newParser(body []byte) *parser { return &parser{read: token.New(body), body: body} }

// next reads one token.
func (p *parser) next() (err error) {
	p.kind, err = p.read.Next()
	return err
}

// text is that of the last token.
func (p *parser) text() string { return string(p.read.Text()) }

// root reads a body by a function that reads its one value.
func (p *parser) root(read func() error) error {
	if err := p.next(); err != nil {
		return err
	}
	if err := read(); err != nil {
		return err
	}
	if err := p.next(); err != nil {
		return err
	}
	if p.kind != token.End {
		return p.fail("Unexpected token [%s] found after the main object.", p.kind)
	}
	return nil
}

// members calls each for every member of the object whose bracket was the last token.
// When each is called, the first token of the member's value has been read, and
// p.key is the offset of its name.
func (p *parser) members(each func(name string) error) error {
	for {
		if err := p.next(); err != nil || p.kind == token.ObjectEnd {
			return err
		}
		name, key := p.text(), p.read.Offset()
		if err := p.next(); err != nil {
			return err
		}
		p.key = key
		if err := each(name); err != nil {
			return err
		}
	}
}

// tokens calls each for every token of the object whose bracket was the last token, but
// for keys and the end of the object, with the last key of the object: the server reads
// some objects so, and takes for values of a key what is in its array. Each reads
// objects to their ends.
func (p *parser) tokens(each func(name string) error) error {
	name := ""
	for {
		err := p.next()
		switch {
		case err != nil || p.kind == token.ObjectEnd:
			return err
		case p.kind == token.Key:
			name, p.key = p.text(), p.read.Offset()
			continue
		}
		if err := each(name); err != nil {
			return err
		}
	}
}

// elements calls each for every value of the array whose bracket was the last token.
// When each is called, the first token of the value has been read.
func (p *parser) elements(each func() error) error {
	for {
		if err := p.next(); err != nil || p.kind == token.ArrayEnd {
			return err
		}
		if err := each(); err != nil {
			return err
		}
	}
}

// skip reads the rest of a value and gives its bytes: of strings the text, without
// quotes and escapes.
func (p *parser) skip() ([]byte, error) {
	raw, err := p.read.Whole(p.kind)
	if err == nil && p.kind == token.Object {
		p.kind = token.ObjectEnd
	} else if err == nil && p.kind == token.Array {
		p.kind = token.ArrayEnd
	}
	return raw, err
}

// place is line and column, from 1, of an offset; the column is 0 behind the body.
func (p *parser) place(offset int) (line, column int) {
	if offset >= len(p.body) {
		return bytes.Count(p.body, []byte("\n")) + 1, 0
	}
	before := p.body[:offset]
	return bytes.Count(before, []byte("\n")) + 1, offset - bytes.LastIndexByte(before, '\n')
}

// fail is a parsing_exception at the last token.
func (p *parser) fail(format string, args ...any) *exception.Error {
	line, column := p.read.Place()
	return exception.New(exception.Parsing, format, args...).With("line", line).With("col", column)
}

// unsupported refuses what the server knows and this version does not.
func (p *parser) unsupported(what string) error {
	return p.fail("%s is not supported by this version of reshelve", what)
}
