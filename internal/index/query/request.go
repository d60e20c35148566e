package query

import (
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/reshelve/reshelve/internal/index/aggregate"
	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// Search is one search as clients ask for it.
type Search struct {
	Query      search.Query // nil: all documents
	PostFilter search.Query // nil: none
	MinScore   *float32
	Sort       []search.Sort // empty: by score
	From, Size int
	After      []json.RawMessage // search_after: values in the order of Sort, typed where its fields are known; nil: from the start
	TrackTotal int64             // count exactly up to this many; or TrackUsual, TrackNone, TrackAll
	Slice      *search.Slice
	PIT        *PIT // nil: of the indices as they are
	Aggs       []aggregate.Aggregation
	Fetch

	Timeout        time.Duration // not above 0: none. What was found until then is the answer
	TerminateAfter int           // documents of each shard; not above 0: all
	Cached         bool          // request_cache=true: refused with a scroll, else without meaning
}

// PIT names a point in time.
type PIT struct {
	ID        string
	KeepAlive time.Duration // 0: as it is
}

// Check refuses an id that was never given out.
func (p *PIT) Check() error {
	if !IsPointID(p.ID) {
		return exception.New(exception.IllegalArgument, "invalid id: [%s]", p.ID)
	}
	return nil
}

// IsPointID reports whether an id has the form of those that points in time and scrolls get.
func IsPointID(id string) bool {
	raw, err := base64.RawURLEncoding.DecodeString(id)
	return err == nil && len(raw) == pointIDBytes
}

// pointIDBytes is how many random bytes package store encodes in the id of a point in time or a scroll.
const pointIDBytes = 33

// ReadSearch reads the body of a search; an empty one is that of [New]. The body must
// not change while the search is in use. Errors are exceptions with the server's words,
// or say what this version does not support.
func ReadSearch(body []byte) (Search, error) {
	s := New()
	if len(body) == 0 {
		return s, nil
	}
	p := newParser(body)
	return s, p.root(func() error { return p.search(&s) })
}

// searchKeys are the members of a search beside those about hits.
func (p *parser) searchKeys(s *Search) map[string]option {
	return map[string]option{
		"query":       {takesObject, func() (err error) { s.Query, err = p.query(); return err }},
		"post_filter": {takesObject, func() (err error) { s.PostFilter, err = p.query(); return err }},
		"min_score":   {takesScalar, func() (err error) { s.MinScore, err = p.optionalFloat(); return err }},
		"sort":        {takesScalar | takesObjects, func() (err error) { s.Sort, err = p.order(); return err }},
		"from":        {takesScalar, func() (err error) { s.From, err = p.count("from"); return err }},
		"size":        {takesScalar, func() (err error) { s.Size, err = p.count("size"); return err }},
		"search_after": {takesArray, func() (err error) {
			s.After, err = p.after()
			return err
		}},
		"track_total_hits":            {takesScalar, func() (err error) { s.TrackTotal, err = p.track(); return err }},
		"slice":                       {takesObject, func() (err error) { s.Slice, err = p.slice(); return err }},
		"pit":                         {takesObject, func() (err error) { s.PIT, err = p.pit(); return err }},
		"aggs":                        {takesObject, func() (err error) { s.Aggs, err = p.aggregations(); return err }},
		"aggregations":                {takesObject, func() (err error) { s.Aggs, err = p.aggregations(); return err }},
		"timeout":                     {takesScalar, func() (err error) { s.Timeout, err = catalog.ParseSpan("timeout", p.text()); return err }},
		"terminate_after":             {takesScalar, func() (err error) { s.TerminateAfter, err = p.terminateAfter(); return err }},
		"include_named_queries_score": {takesScalar, func() error { return p.setFlag(&s.NamedScores) }},
		"stats":                       {takesArray, func() error { _, err := p.skip(); return err }}, // groups of counters: nothing is found by them

		"collapse":         {takesObject, func() error { return p.nothingIn("[collapse]") }},
		"rescore":          {takesObjects, p.rescore},
		"suggest":          {takesObject, func() error { return p.nothingIn("[suggest]") }},
		"derived":          {takesObject, func() error { return p.nothingIn("[derived]") }},
		"ext":              {takesObject, func() error { return p.nothingIn("[ext]") }},
		"indices_boost":    {takesObjects, func() error { return p.nothingIn("[indices_boost]") }},
		"search_pipeline":  {takesScalar | takesObject, func() error { return p.unsupported("[search_pipeline]") }},
		"profile":          {takesScalar, func() error { return p.mustBeFalse("[profile]") }},
		"verbose_pipeline": {takesScalar, func() error { return p.mustBeFalse("[verbose_pipeline]") }},
	}
}

// search reads the object of a search, whose bracket was the last token.
func (p *parser) search(s *Search) error {
	if p.kind != token.Object {
		return p.fail("Expected [START_OBJECT] but found [%s]", p.kind)
	}
	keys := p.searchKeys(s)
	return p.members(func(name string) error {
		if known, err := p.fetchOption(name, &s.Fetch); known || err != nil {
			return err
		}
		o, known := keys[name]
		if !known || o.takes&(1<<p.kind) == 0 {
			return p.fail("Unknown key for a %s in [%s].", p.kind, name)
		}
		return o.read()
	})
}

// rescore takes no more than an empty array: the server refuses an empty object.
func (p *parser) rescore() error {
	if p.kind == token.Object {
		return p.unsupported("[rescore]")
	}
	return p.nothingIn("[rescore]")
}

// mustBeFalse reads a boolean that this version takes only when it is false.
func (p *parser) mustBeFalse(what string) error {
	yes, err := p.boolean()
	if yes {
		return p.unsupported(what)
	}
	return err
}

func (p *parser) count(name string) (int, error) {
	n, err := p.integer()
	if err == nil && n < 0 {
		err = exception.New(exception.IllegalArgument, "[%s] parameter cannot be negative, found [%d]", name, n)
	}
	return n, err
}

// terminateAfter is how many documents are enough: fewer than none, after which the server
// finds nothing, are not supported.
func (p *parser) terminateAfter() (int, error) {
	n, err := p.integer()
	if err == nil && n < 0 {
		err = p.unsupported("[terminate_after] below 0")
	}
	return n, err
}

func (p *parser) track() (int64, error) {
	switch p.text() {
	case "true":
		return TrackAll, nil
	case "false":
		return TrackNone, nil
	}
	n, err := p.integer()
	if err != nil {
		return 0, err
	}
	return TrackTotal(int64(n))
}

// after reads the values of search_after, as JSON.
func (p *parser) after() (values []json.RawMessage, err error) {
	err = p.elements(func() error {
		switch {
		case !p.kind.IsScalar():
			return p.fail("Expected [VALUE_STRING] or [VALUE_NUMBER] or [VALUE_BOOLEAN] or [VALUE_NULL] but found [%s] inside search_after.", p.kind)
		case p.kind == token.String:
			values = append(values, token.AppendString(nil, p.read.Text()))
		default:
			values = append(values, json.RawMessage(p.text()))
		}
		return nil
	})
	if err == nil && len(values) == 0 {
		err = exception.New(exception.IllegalArgument, "Values must contains at least one value.")
	}
	return values, err
}

func (p *parser) slice() (*search.Slice, error) {
	s := &search.Slice{Field: "_id", ID: -1, Max: -1}
	bad := func(why string) error { return exception.New(exception.IllegalArgument, "%s", why) }
	set := func(into *int, least int) option {
		return option{takesNumber, func() (err error) {
			if *into, err = p.integer(); err != nil {
				return err
			}
			switch {
			case *into < least && least == 0:
				return bad("id must be greater than or equal to 0")
			case *into < least:
				return bad("max must be greater than 1")
			case s.ID >= s.Max && s.ID >= 0 && s.Max >= 0:
				return bad("max must be greater than id")
			}
			return nil
		}}
	}
	return s, p.object("slice", map[string]option{"field": p.setString(&s.Field), "id": set(&s.ID, 0), "max": set(&s.Max, 2)})
}

func (p *parser) pit() (*PIT, error) {
	pit, given := &PIT{}, false
	err := p.object("pit", map[string]option{
		"id":         {takesString, func() (err error) { pit.ID, given = p.text(), true; return nil }},
		"keep_alive": {takesString, func() (err error) { pit.KeepAlive, err = catalog.ParseSpan("keep_alive", p.text()); return err }},
	})
	if err == nil && !given {
		err = exception.New(exception.IllegalArgument, "point int time id is not provided")
	}
	return pit, err
}
