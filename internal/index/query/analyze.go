package query

import (
	"encoding/json"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// Analyze is the body of an _analyze.
type Analyze struct {
	Text        []string
	Analyzer    string // "": not told
	Field       string
	Normalizer  string
	Tokenizer   *Part // nil: not told
	Filters     []Part
	CharFilters []Part
	Explain     bool
	Attributes  []string // of Explain; nil: all
}

// Part is a part of an analyzer: the name of a known one, or settings of its own.
type Part struct {
	Name     string
	Settings json.RawMessage // an object; nil: by name
}

// ReadAnalyze reads the body of an _analyze, and checks what needs no index.
func ReadAnalyze(body []byte) (Analyze, error) {
	a := Analyze{}
	if len(body) == 0 {
		return a, exception.New(exception.OpenSearchParse, "request body or source parameter is required")
	}
	p := newParser(body)
	if err := p.next(); err != nil {
		return a, err
	}
	if p.kind != token.Object {
		return a, p.misread(p.read.Offset(), "[analyze_request] Expected START_OBJECT but was: %s", p.kind)
	}
	err := p.object("analyze_request", map[string]option{
		"text": {takesString | takesArray, func() error { return p.texts(&a.Text) }}, "attributes": {takesString | takesArray, func() error { return p.texts(&a.Attributes) }},
		"analyzer": p.setString(&a.Analyzer), "field": p.setString(&a.Field), "normalizer": p.setString(&a.Normalizer), "explain": p.setBoolean(&a.Explain),
		"tokenizer": {takesString | takesObject, func() error {
			part, err := p.analyzerPart()
			a.Tokenizer = &part
			return err
		}},
		"filter": {takesArray, func() error { return p.analyzerParts(&a.Filters) }}, "char_filter": {takesArray, func() error { return p.analyzerParts(&a.CharFilters) }},
	})
	if err != nil {
		return a, err
	}
	return a, a.check()
}

// texts reads one text, or an array of them.
func (p *parser) texts(into *[]string) error {
	return p.each(func() error {
		if p.kind == token.Array {
			return exception.New(exception.IllegalState, "expected value but got [%s]", p.kind)
		}
		text, err := p.str()
		*into = append(*into, text)
		return err
	})
}

func (p *parser) analyzerParts(into *[]Part) error {
	return p.elements(func() error {
		part, err := p.analyzerPart()
		*into = append(*into, part)
		return err
	})
}

func (p *parser) analyzerPart() (Part, error) {
	switch p.kind {
	case token.String:
		return Part{Name: p.text()}, nil
	case token.Object:
		raw, err := p.skip()
		return Part{Settings: raw}, err
	}
	return Part{}, p.misread(p.read.Offset(), "Expected [VALUE_STRING] or [START_OBJECT], got %s", p.kind)
}

func (a *Analyze) check() error {
	var why []string
	if len(a.Text) == 0 {
		why = append(why, "text is missing")
	}
	if a.Normalizer != "" && (a.Tokenizer != nil || a.Analyzer != "") {
		why = append(why, "tokenizer/analyze should be null if normalizer is specified")
	}
	if a.Analyzer != "" && (a.Tokenizer != nil || a.Filters != nil || a.CharFilters != nil) {
		why = append(why, "cannot define extra components on a named analyzer")
	}
	if a.Normalizer != "" && (a.Tokenizer != nil || a.Filters != nil || a.CharFilters != nil) {
		why = append(why, "cannot define extra components on a named normalizer")
	}
	if len(why) > 0 {
		return invalid(why)
	}
	return nil
}
