package query

import (
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// Param gives the text of a parameter of a URL, and whether it is there.
type Param func(name string) (text string, set bool)

// ReadURL reads the query of a URL: q, and what says how it is read (df, analyzer,
// analyze_wildcard, default_operator, lenient), which are looked at only when there is a
// q. It is nil without one. A preference is checked: see CheckPreference.
func ReadURL(param Param) (search.Query, error) {
	if preference, set := param("preference"); set {
		if err := CheckPreference(preference); err != nil {
			return nil, err
		}
	}
	text, set := param("q")
	if !set {
		return nil, nil
	}
	q := NewQueryString(text)
	q.DefaultField, _ = param("df")
	q.Analyzer, _ = param("analyzer")
	wildcard, err := flagOf(param, "analyze_wildcard")
	if err != nil {
		return nil, err
	}
	q.AnalyzeWildcard = wildcard != nil && *wildcard
	if q.Lenient, err = flagOf(param, "lenient"); err != nil {
		return nil, err
	}
	if text, set := param("default_operator"); set {
		if q.And, err = parseOperator(text); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// flagOf is a parameter that is true or false; "" is true. Nil: it is not there.
func flagOf(param Param, name string) (*bool, error) {
	text, set := param(name)
	if !set {
		return nil, nil
	}
	yes := text == ""
	if text != "" {
		var err error
		if yes, err = parseBoolean(text); err != nil {
			return nil, err
		}
	}
	return &yes, nil
}

// numberOf is a parameter that is a whole number. Nil: it is not there.
func numberOf(param Param, name string) (*int, error) {
	text, set := param(name)
	if !set {
		return nil, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return nil, exception.New(exception.IllegalArgument, "Failed to parse int parameter [%s] with value [%s]", name, text).
			CausedBy(exception.NotNumber(text))
	}
	whole := int(n)
	return &whole, nil
}

// listOf is a parameter of names between commas.
func listOf(param Param, name string) (names []string, set bool) {
	text, set := param(name)
	if !set {
		return nil, false
	}
	names = []string{}
	for part := range strings.SplitSeq(text, ",") {
		if part != "" {
			names = append(names, part)
		}
	}
	return names, true
}

// ReadURL reads the parameters of a search's URL. They take the place of what its body
// says; docvalue_fields are added to it.
func (s *Search) ReadURL(param Param) error {
	q, err := ReadURL(param)
	if err != nil {
		return err
	}
	if q != nil {
		s.Query = q
	}
	for _, read := range []func(Param) error{s.urlNumbers, s.urlFlags, s.urlFetch, s.urlOrder, urlKind, s.urlHow} {
		if err := read(param); err != nil {
			return err
		}
	}
	return nil
}

func (s *Search) urlNumbers(param Param) error {
	for _, number := range []struct {
		name string
		into *int
	}{{"from", &s.From}, {"size", &s.Size}, {"terminate_after", &s.TerminateAfter}} {
		n, err := numberOf(param, number.name)
		switch {
		case err != nil:
			return err
		case n == nil:
			continue
		case *n < 0 && number.name == "terminate_after":
			return exception.New(exception.IllegalArgument, "terminateAfter must be > 0")
		case *n < 0:
			return exception.New(exception.IllegalArgument, "[%s] parameter cannot be negative, found [%d]", number.name, *n)
		}
		*number.into = *n
	}
	if text, set := param("timeout"); set {
		timeout, err := catalog.ParseSpan("timeout", text)
		if err != nil {
			return err
		}
		s.Timeout = timeout
	}
	return nil
}

func (s *Search) urlFlags(param Param) error {
	for _, flag := range []struct {
		name string
		into *bool
	}{
		{"explain", &s.Explain}, {"version", &s.Versions}, {"seq_no_primary_term", &s.SeqNoTerm}, {"track_scores", &s.TrackScores},
		{"include_named_queries_score", &s.NamedScores},
	} {
		yes, err := flagOf(param, flag.name)
		if err != nil {
			return err
		}
		if yes != nil {
			*flag.into = *yes
		}
	}
	text, set := param("track_total_hits")
	switch {
	case !set:
		return nil
	case text == "true":
		s.TrackTotal = TrackAll
	case text == "false":
		s.TrackTotal = TrackNone
	default:
		n, err := numberOf(param, "track_total_hits")
		if err != nil {
			return err
		}
		s.TrackTotal, err = TrackTotal(int64(*n))
		return err
	}
	return nil
}

func (s *Search) urlFetch(param Param) error {
	if names, set := listOf(param, "stored_fields"); set {
		if err := checkStored(names); err != nil {
			return err
		}
		s.StoredFields = names
	}
	names, _ := listOf(param, "docvalue_fields")
	for _, name := range names {
		s.DocvalueFields = append(s.DocvalueFields, FieldFormat{Field: name})
	}
	// The lists are nil when they are not there.
	source, _ := listOf(param, "_source")
	includes, _ := listOf(param, "_source_includes")
	excludes, _ := listOf(param, "_source_excludes")
	if filter, set := SourceOf(source, includes, excludes); set {
		s.Source, s.SourceSet = filter, true
	}
	return nil
}

func (s *Search) urlOrder(param Param) error {
	text, set := param("sort")
	if !set {
		return nil
	}
	keys, err := ParseOrder(text)
	s.Sort = append(s.Sort, keys...)
	return err
}

// ParseOrder reads the order of a URL: fields between commas, each with :asc or :desc
// behind it or without.
func ParseOrder(text string) (keys []search.Sort, err error) {
	for part := range strings.SplitSeq(text, ",") {
		at := strings.LastIndexByte(part, ':')
		switch {
		case part == "":
		case at < 0:
			keys = append(keys, byField(part))
		case part[at+1:] != "asc" && part[at+1:] != "desc": // the server leaves the key out in silence
			return nil, noConstant("search.sort.SortOrder", strings.ToUpper(part[at+1:]))
		default:
			keys = append(keys, search.Sort{Field: part[:at], Descending: part[at+1:] == "desc"})
		}
	}
	return keys, nil
}

// urlKind looks at search_type. Both kinds score by the statistics of all shards here.
func urlKind(param Param) error {
	text, set := param("search_type")
	if !set {
		return nil
	}
	return CheckSearchType(text)
}

// CheckSearchType refuses what is no search_type.
func CheckSearchType(text string) error {
	switch text {
	case "query_then_fetch", "dfs_query_then_fetch":
		return nil
	case "query_and_fetch", "dfs_query_and_fetch":
		return exception.New(exception.IllegalArgument, "Unsupported search type [%s]", text)
	}
	return exception.New(exception.IllegalArgument, "No search type for [%s]", text)
}

// CheckScroll refuses what a search with a scroll cannot have, and has all of its hits
// counted. The error is a list of all that is refused, or an exception of the shards.
func (s *Search) CheckScroll() error {
	var why []string
	switch s.TrackTotal {
	case TrackUsual, TrackAll:
		s.TrackTotal = TrackAll
	default:
		why = append(why, "disabling [track_total_hits] is not allowed in a scroll context")
	}
	if s.From > 0 {
		why = append(why, "using [from] is not allowed in a scroll context")
	}
	if s.Size == 0 {
		why = append(why, "[size] cannot be [0] in a scroll context")
	}
	if s.Cached {
		why = append(why, "[request_cache] cannot be used in a scroll context")
	}
	if len(why) > 0 {
		return invalid(why)
	}
	if s.After != nil {
		return exception.New(exception.Search, "`search_after` cannot be used in a scroll context.")
	}
	return nil
}

// invalid is about a request that is wrong as a whole, for these reasons.
func invalid(why []string) error {
	reason := "Validation Failed: "
	for i, one := range why {
		reason += strconv.Itoa(i+1) + ": " + one + ";"
	}
	return exception.New(exception.ActionRequestValidation, "%s", reason)
}
