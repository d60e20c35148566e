package query

import (
	"maps"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// An option is a member that the server declares for an object: which values it takes,
// and what reads them. (The server has two styles of reading objects: those that are
// declared like this share what they say of mistakes.)
type option struct {
	takes kinds
	read  func() error
}

// kinds is a set of kinds of first tokens.
type kinds uint16

// The sets of kinds that the server declares options with.
const (
	takesString  = kinds(1 << token.String)
	takesNull    = kinds(1 << token.Null)
	takesBoolean = kinds(1<<token.True|1<<token.False) | takesString
	takesNumber  = kinds(1<<token.Integer|1<<token.Float) | takesString
	takesScalar  = takesBoolean | takesNumber
	takesObject  = kinds(1 << token.Object)
	takesArray   = kinds(1 << token.Array)
	takesObjects = takesObject | takesArray
	takesAny     = takesScalar | takesObjects | takesNull
)

// object reads an object, whose bracket was the last token, by the options that it may
// have. Name is what the server calls it.
func (p *parser) object(name string, options map[string]option) error {
	if p.kind != token.Object { // the server looks whether the next token is one
		if err := p.next(); err != nil {
			return err
		}
	}
	if p.kind != token.Object {
		return p.misread(p.read.Offset(), "[%s] Expected START_OBJECT but was: %s", name, p.kind)
	}
	return p.members(func(member string) error {
		o, known := options[member]
		switch {
		case !known:
			return p.unknown(name, member, options)
		case o.takes&(1<<p.kind) == 0:
			return p.misread(p.read.Offset(), "[%s] %s doesn't support values of type: %s", name, member, p.kind)
		}
		if err := o.read(); err != nil {
			return p.misread(p.read.Offset(), "[%s] failed to parse field [%s]", name, member).CausedBy(exception.From(err))
		}
		return nil
	})
}

// unknown is about a member that is not declared.
func (p *parser) unknown(object, member string, options map[string]option) error {
	e := p.misread(p.key, "[%s] unknown field [%s]", object, member)
	if proposed := exception.DidYouMean(member, maps.Keys(options), 0.5); proposed != "" {
		e = exception.New(e.Type, "%s %s", e.Reason, proposed)
	}
	return e
}

// misread is an x_content_parse_exception with the place of an offset.
func (p *parser) misread(offset int, format string, args ...any) *exception.Error {
	line, column := p.place(offset)
	return exception.New(exception.XContentParse, "[%d:%d] "+format, append([]any{line, column}, args...)...)
}

// each reads one value, or each value of an array.
func (p *parser) each(read func() error) error {
	if p.kind != token.Array {
		return read()
	}
	return p.elements(read)
}

// The readers of options that set a variable.

func (p *parser) setString(into *string) option {
	return option{takesString, func() (err error) { *into, err = p.str(); return err }}
}

func (p *parser) setBoolean(into *bool) option {
	return option{takesBoolean, func() (err error) { *into, err = p.boolean(); return err }}
}

func (p *parser) setInteger(into *int) option {
	return option{takesNumber, func() (err error) { *into, err = p.integer(); return err }}
}

func (p *parser) setStrings(into *[]string) option {
	return option{takesString | takesArray, func() error {
		*into = []string{}
		return p.each(func() error {
			text, err := p.str()
			*into = append(*into, text)
			return err
		})
	}}
}
