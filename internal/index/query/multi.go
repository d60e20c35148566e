package query

import (
	"bytes"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// Header is the line before a search of an _msearch. What it does not tell is that of
// the whole request: nil, or "".
type Header struct {
	Indices           []string // nil: not told
	SearchType        string
	Preference        string
	Routing           string
	ExpandWildcards   []string
	IgnoreUnavailable *bool
	AllowNoIndices    *bool
}

// ReadMulti reads the lines of an _msearch: headers and searches in turns. Each is given
// to add in their order; at most as many as there are lines. Nothing is to be run before
// all have been read: an error is about the whole request.
func ReadMulti(body []byte, add func(Header, Search) error) error {
	if len(body) == 0 {
		return exception.New(exception.OpenSearchParse, "request body or source parameter is required")
	}
	if body[0] == '\n' {
		body = body[1:]
	}
	n := 0
	for len(body) > 0 {
		line, rest, err := nextLine(body)
		if err != nil {
			return err
		}
		h, err := readHeader(line)
		if err != nil {
			return err
		}
		if len(rest) == 0 {
			break // a header without a search asks for nothing
		}
		if line, body, err = nextLine(rest); err != nil {
			return err
		}
		s, err := readLine(line)
		if err != nil {
			return err
		}
		if err := add(h, s); err != nil {
			return err
		}
		n++
	}
	if n == 0 {
		return invalid([]string{"no requests added"})
	}
	return nil
}

func nextLine(body []byte) (line, rest []byte, err error) {
	line, rest, found := bytes.Cut(body, []byte("\n"))
	if !found {
		return nil, nil, exception.New(exception.IllegalArgument, "The msearch request must be terminated by a newline [\n]")
	}
	return line, rest, nil
}

// readLine reads a search; what comes behind it is not looked at.
func readLine(line []byte) (Search, error) {
	s := New()
	p := newParser(line)
	if len(bytes.TrimSpace(line)) == 0 {
		return s, p.fail("Expected [START_OBJECT] but found [null]")
	}
	if err := p.next(); err != nil {
		return s, err
	}
	return s, p.search(&s)
}

func readHeader(line []byte) (h Header, err error) {
	if len(bytes.TrimSpace(line)) == 0 {
		return h, nil
	}
	p := newParser(line)
	if err := p.next(); err != nil || p.kind != token.Object {
		return h, err
	}
	return h, p.members(func(name string) (err error) {
		switch name {
		case "index", "indices":
			h.Indices, err = p.names()
		case "search_type", "searchType":
			if h.SearchType, err = p.str(); err == nil {
				err = CheckSearchType(h.SearchType)
			}
		case "preference":
			if h.Preference, err = p.str(); err == nil {
				err = CheckPreference(h.Preference)
			}
		case "routing":
			h.Routing, err = p.str()
		case "expand_wildcards", "expandWildcards":
			h.ExpandWildcards, err = p.names()
		case "ignore_unavailable", "ignoreUnavailable":
			h.IgnoreUnavailable, err = p.headerFlag("ignore_unavailable")
		case "allow_no_indices", "allowNoIndices":
			h.AllowNoIndices, err = p.headerFlag("allow_no_indices")
		case "request_cache", "requestCache", "allow_partial_search_results", "ccs_minimize_roundtrips":
			_, err = p.headerFlag(name) // nothing is found by these
		case "ignore_throttled", "ignoreThrottled", "cancel_after_time_interval":
			_, err = p.skip()
		default:
			err = exception.New(exception.IllegalArgument, "key [%s] is not supported in the metadata section", name)
		}
		return err
	})
}

// names reads names between commas, or an array of such.
func (p *parser) names() ([]string, error) {
	names := []string{}
	err := p.each(func() error {
		text, err := p.str()
		for name := range strings.SplitSeq(text, ",") {
			if name != "" {
				names = append(names, name)
			}
		}
		return err
	})
	return names, err
}

func (p *parser) headerFlag(name string) (*bool, error) {
	text, err := p.str()
	if err != nil {
		return nil, err
	}
	yes, err := parseBoolean(text)
	if err != nil {
		return nil, exception.New(exception.IllegalArgument, "Could not convert [%s] to boolean", name).CausedBy(exception.From(err))
	}
	return &yes, nil
}
