package query

import (
	"strings"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// Highlight says which texts of hits are shown around what was found, and how.
type Highlight struct {
	Marking
	Encoder string // "default", "html", …; "": default
	Fields  []HighlightField
}

// HighlightField is a field, or a pattern of fields, with what is different for it.
type HighlightField struct {
	Name string
	Marking
	FragmentOffset int      // -1: not told
	MatchedFields  []string // nil: the field itself
}

// Marking are the options of highlighting. What is not told (nil or "") is the
// surrounding Highlight's, and then the server's default.
type Marking struct {
	PreTags, PostTags []string
	Order             string // "score", else as they come
	Type              string // "unified", "plain", "fvh"
	Fragmenter        string // of plain: "simple", "span"
	FragmentSize      *int
	Fragments         *int // number_of_fragments
	NoMatchSize       *int
	PhraseLimit       *int
	MaxOffset         *int  // max_analyzer_offset
	FieldMatch        *bool // require_field_match
	Filter            *bool // highlight_filter
	ForceSource       *bool
	BoundaryScanner   string // "chars", "sentence", "word"
	BoundaryMaxScan   *int
	BoundaryChars     string
	BoundaryLocale    string
	Query             search.Query // highlight_query; nil: the search's
}

// styled are the tags of tags_schema styled.
const styled = 10

// highlight reads an object of highlight, whose bracket was the last token.
func (p *parser) highlight() (*Highlight, error) {
	h := &Highlight{}
	options := p.markingOptions(&h.Marking)
	options["encoder"] = p.setString(&h.Encoder)
	options["tags_schema"] = option{takesString, func() error { return h.schema(p.text()) }}
	options["fields"] = option{takesObjects, func() error { return p.highlightFields(h) }}
	if err := p.object("highlight", options); err != nil {
		return nil, err
	}
	return h, p.checkTags(h.Marking)
}

// checkTags refuses tags that open and do not close.
func (p *parser) checkTags(m Marking) error {
	if m.PreTags != nil && m.PostTags == nil {
		return p.fail("pre_tags are set but post_tags are not set")
	}
	return nil
}

func (h *Highlight) schema(name string) error {
	switch name {
	case "default":
		h.PreTags, h.PostTags = []string{"<em>"}, []string{"</em>"}
	case "styled":
		h.PreTags, h.PostTags = nil, []string{"</em>"}
		for i := 1; i <= styled; i++ {
			h.PreTags = append(h.PreTags, "<em class=\"hlt"+string(rune('0' + i/10))[:i/10]+string(rune('0'+i%10))+"\">")
		}
	default:
		return exception.New(exception.IllegalArgument, "Unknown tag schema [%s]", name)
	}
	return nil
}

// highlightFields reads an object of fields, or an array of such objects.
func (p *parser) highlightFields(h *Highlight) error {
	one := func(name string) error {
		f := HighlightField{Name: name, FragmentOffset: -1}
		options := p.markingOptions(&f.Marking)
		options["fragment_offset"] = p.setInteger(&f.FragmentOffset)
		options["matched_fields"] = p.setStrings(&f.MatchedFields)
		err := error(p.misread(p.read.Offset(), "[highlight_field] Expected START_OBJECT but was: %s", p.kind))
		if p.kind == token.Object {
			err = p.object("highlight_field", options)
		}
		if err == nil {
			err = p.checkTags(f.Marking)
		}
		if err != nil {
			return p.misread(p.read.Offset(), "[fields] failed to parse field [%s]", name).CausedBy(exception.From(err))
		}
		h.Fields = append(h.Fields, f)
		return nil
	}
	if p.kind == token.Object {
		return p.members(one)
	}
	return p.elements(func() error { return p.loneField(one) })
}

// loneField reads an object of one member.
func (p *parser) loneField(read func(name string) error) error {
	steps := []token.Kind{token.Object, token.Key, token.ObjectEnd}
	for i, want := range steps {
		if i > 0 {
			if err := p.next(); err != nil {
				return err
			}
		}
		if p.kind != want {
			return p.misread(p.read.Offset(), "[fields] can be a single object with any number of fields or an array where each entry is an object with a single field")
		}
		if want == token.Key {
			name := p.text()
			if err := p.next(); err != nil {
				return err
			}
			if err := read(name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *parser) markingOptions(m *Marking) map[string]option {
	number := func(into **int) option {
		return option{takesNumber, func() error {
			n, err := p.integer()
			*into = &n
			return err
		}}
	}
	flag := func(into **bool) option {
		return option{takesBoolean, func() error {
			yes, err := p.boolean()
			*into = &yes
			return err
		}}
	}
	return map[string]option{
		"pre_tags": p.setStrings(&m.PreTags), "post_tags": p.setStrings(&m.PostTags), "order": p.setString(&m.Order),
		"highlight_filter": flag(&m.Filter), "require_field_match": flag(&m.FieldMatch), "force_source": flag(&m.ForceSource),
		"fragment_size": number(&m.FragmentSize), "number_of_fragments": number(&m.Fragments), "no_match_size": number(&m.NoMatchSize),
		"phrase_limit": number(&m.PhraseLimit), "max_analyzer_offset": number(&m.MaxOffset), "boundary_max_scan": number(&m.BoundaryMaxScan),
		"boundary_scanner": {takesString, func() (err error) { m.BoundaryScanner, err = p.scanner(); return err }},
		"boundary_chars":   p.setString(&m.BoundaryChars), "boundary_scanner_locale": p.setString(&m.BoundaryLocale),
		"type": p.setString(&m.Type), "fragmenter": p.setString(&m.Fragmenter),
		"options":         {takesObject, func() error { _, err := p.skip(); return err }}, // of highlighters that plug in
		"highlight_query": {takesObject, func() (err error) { m.Query, err = p.query(); return err }},
	}
}

func (p *parser) scanner() (string, error) {
	text := strings.ToLower(p.text())
	return text, p.enum(&text, "search.fetch.subphase.highlight.HighlightBuilder.BoundaryScannerType", "chars", "word", "sentence")
}
