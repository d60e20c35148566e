package query

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/exception"
	"github.com/reshelve/reshelve/token"
)

// New is the search of an empty body: the first ten of all documents, counted up
// to ten thousand.
func New() Search { return Search{Size: 10, TrackTotal: 10_000} }

// Parse reads the body of a search; an empty one is that of [New]. The body must
// not change while the search is in use. Errors are exceptions with the server's
// words, or say what this version does not support.
func Parse(body []byte) (Search, error) {
	p := plainParser{search: New(), read: token.New(body)}
	if len(body) == 0 {
		return p.search, nil
	}
	err := p.root((*plainParser).searchKey)
	return p.search, err
}

// ParseCount reads the body of a count: a query and nothing else.
func ParseCount(body []byte) (Search, error) {
	p := plainParser{search: New(), read: token.New(body)}
	if len(body) == 0 {
		return p.search, nil
	}
	err := p.root((*plainParser).countKey)
	return p.search, err
}

type plainParser struct {
	search Search
	read   *token.Reader
}

// fail is a parsing_exception at the last token.
func (p *plainParser) fail(format string, args ...any) *exception.Error {
	line, column := p.read.Place()
	return exception.New(exception.Parsing, format, args...).With("line", line).With("col", column)
}

// unsupported refuses what the server knows and this version does not.
func (p *plainParser) unsupported(what string) error {
	return p.fail("%s is not supported by this version of reshelve", what)
}

// root reads the one object of a body, key by key.
func (p *plainParser) root(key func(p *plainParser, name string) error) error {
	kind, err := p.read.Next()
	if err != nil {
		return err
	}
	if kind != token.Object {
		return p.fail("Expected [START_OBJECT] but found [%s]", kind)
	}
	if err := p.members(func(name string) error { return key(p, name) }); err != nil {
		return err
	}
	if kind, err = p.read.Next(); err == nil && kind != token.End {
		err = p.fail("Unexpected token [%s] behind the body", kind)
	}
	return err
}

// members calls each for every key of the object whose bracket has been read;
// each reads the value.
func (p *plainParser) members(each func(name string) error) error {
	for {
		kind, err := p.read.Next()
		if err != nil || kind == token.ObjectEnd {
			return err
		}
		if err := each(string(p.read.Text())); err != nil {
			return err
		}
	}
}

func (p *plainParser) countKey(name string) error {
	if name != "query" {
		return p.fail("request does not support [%s]", name)
	}
	return p.searchKey(name)
}

func (p *plainParser) searchKey(name string) error {
	kind, err := p.read.Next()
	if err != nil {
		return err
	}
	s := &p.search
	switch {
	case name == "query" && kind == token.Object:
		return p.query()
	case name == "sort" && kind != token.Null:
		s.Sort, err = p.sort(kind)
	case name == "search_after" && kind == token.Array:
		s.After, err = p.after()
	case name == "_source":
		s.Source, err = ReadSource(p.read, kind)
	case !kind.IsScalar() || kind == token.Null:
		return p.otherKey(name, kind)
	case name == "from":
		s.From, err = p.count(kind, "from")
	case name == "size":
		s.Size, err = p.count(kind, "size")
	case name == "track_total_hits":
		s.TrackTotal, err = p.track(kind)
	case name == "version":
		s.Versions, err = p.boolean(kind)
	case name == "seq_no_primary_term":
		s.SeqNoTerm, err = p.boolean(kind)
	default:
		return p.otherKey(name, kind)
	}
	return err
}

// hints do not change what is found. Without them nobody misses anything.
var hints = map[string]bool{"timeout": true, "preference": true}

// later are keys of searches that this version does not support; as long as they
// ask for nothing (false, 0, an empty object or array) they are no matter.
var later = map[string]bool{"aggs": true, "aggregations": true, "collapse": true, "derived": true, "docvalue_fields": true,
	"explain": true, "ext": true, "fields": true, "highlight": true, "include_named_queries_score": true, "indices_boost": true,
	"min_score": true, "pit": true, "post_filter": true, "profile": true, "rescore": true, "script_fields": true, "search_pipeline": true,
	"slice": true, "stats": true, "stored_fields": true, "suggest": true, "terminate_after": true, "track_scores": true,
	"verbose_pipeline": true}

func (p *plainParser) otherKey(name string, kind token.Kind) error {
	if !later[name] && !hints[name] {
		return p.fail("Unknown key for a %s in [%s].", kind, name)
	}
	refused := p.unsupported("[" + name + "]")
	value, err := p.read.Whole(kind)
	if err != nil || hints[name] {
		return err
	}
	switch text := string(value); {
	case name == "stored_fields":
		return refused
	case text == "false" || text == "0" || text == "0.0":
	case !kind.IsScalar() && strings.TrimSpace(text[1:len(text)-1]) == "":
	default:
		return refused
	}
	return nil
}

// whole reads a number, which may stand in quotes; fractions are cut off.
func (p *plainParser) whole(kind token.Kind) (int64, error) {
	text := string(p.read.Text())
	if kind == token.True || kind == token.False {
		return 0, exception.New(exception.JSONParse, "Current token (VALUE_%s) not numeric, can not use numeric value accessors", strings.ToUpper(text))
	}
	if n, err := strconv.ParseInt(text, 10, 32); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(f) > math.MaxInt32 {
		return 0, exception.NotNumber(text)
	}
	return int64(f), nil
}

func (p *plainParser) count(kind token.Kind, name string) (int, error) {
	n, err := p.whole(kind)
	if err == nil && n < 0 {
		err = exception.New(exception.IllegalArgument, "[%s] parameter cannot be negative, found [%d]", name, n)
	}
	return int(n), err
}

func (p *plainParser) boolean(kind token.Kind) (bool, error) {
	switch string(p.read.Text()) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	if kind != token.String {
		return false, exception.New(exception.JSONParse, "Current token (%s) not of boolean type", kind)
	}
	return false, exception.NotBoolean(string(p.read.Text()))
}

func (p *plainParser) track(kind token.Kind) (int64, error) {
	switch string(p.read.Text()) {
	case "true":
		return -1, nil
	case "false":
		return 0, nil
	}
	n, err := p.whole(kind)
	if err != nil {
		return 0, err
	}
	return TrackTotal(n)
}

// TrackTotal is the value of Search.TrackTotal for a number of track_total_hits.
func TrackTotal(n int64) (int64, error) {
	switch {
	case n == -1: // the server's own mark for counting all
		return -1, nil
	case n < 0:
		return 0, exception.New(exception.IllegalArgument, "[track_total_hits] parameter must be positive or equals to -1, got %d", n)
	}
	return n, nil
}

// after reads search_after, whose bracket has been read. Values are kept as JSON.
func (p *plainParser) after() (values []json.RawMessage, err error) {
	for {
		kind, err := p.read.Next()
		switch {
		case err != nil:
			return nil, err
		case kind == token.ArrayEnd && len(values) == 0:
			return nil, exception.New(exception.IllegalArgument, "Values must contains at least one value.")
		case kind == token.ArrayEnd:
			return values, nil
		case !kind.IsScalar():
			return nil, p.fail("Expected [VALUE_STRING] or [VALUE_NUMBER] or [VALUE_BOOLEAN] or [VALUE_NULL] but found [%s] inside search_after.", kind)
		}
		value := json.RawMessage(append([]byte(nil), p.read.Text()...))
		if kind == token.String {
			value = token.AppendString(nil, p.read.Text())
		}
		values = append(values, value)
	}
}

// Check refuses a search that cannot be run over any index: what the server finds
// out only at the shards. Window is the most that from and size may reach.
func (s Search) Check(window int) *exception.Error {
	switch {
	case s.After != nil && s.From > 0:
		return exception.New(exception.Search, "`from` parameter must be set to 0 when `search_after` is used.")
	case s.From+s.Size > window:
		return exception.New(exception.IllegalArgument, "Result window is too large, from + size must be less than or equal to: [%d] but was [%d]. "+
			"See the scroll api for a more efficient way to request large data sets. "+
			"This limit can be set by changing the [index.max_result_window] index level setting.", window, s.From+s.Size)
	case s.After != nil && len(s.Sort) == 0:
		return exception.New(exception.IllegalArgument, "Sort must contain at least one field.")
	case s.After != nil && len(s.After) != len(s.Sort):
		return exception.New(exception.IllegalArgument, "search_after has %d value(s) but sort has %d.", len(s.After), len(s.Sort))
	}
	return nil
}
