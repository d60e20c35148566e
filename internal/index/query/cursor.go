package query

import (
	"time"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// Scroll asks for the next page of a scroll.
type Scroll struct {
	ID        string        // "": not told
	KeepAlive time.Duration // 0: as it is
}

// ReadScroll reads the body of a _search/scroll; there need be none.
func ReadScroll(body []byte) (Scroll, error) {
	s := Scroll{}
	err := readPlain(body, func(p *parser, name string) (err error) {
		switch {
		case name == "scroll_id" && p.kind == token.String:
			s.ID = p.text()
		case name == "scroll" && p.kind == token.String:
			s.KeepAlive, err = catalog.ParseSpan("scroll", p.text())
		default:
			err = unknownParameter(name, p.kind)
		}
		return err
	})
	return s, err
}

// Check refuses a request without an id.
func (s Scroll) Check() error {
	if s.ID == "" {
		return invalid([]string{"scrollId is missing"})
	}
	return nil
}

// ReadScrollIDs reads the body that lists the scrolls to end: {"scroll_id": …}, a string
// or an array.
func ReadScrollIDs(body []byte) ([]string, error) { return readIDs(body, "scroll_id") }

// ReadPITs reads the body that lists the points in time to end: {"pit_id": …}, a string
// or an array.
func ReadPITs(body []byte) ([]string, error) { return readIDs(body, "pit_id") }

// ReadPIT reads the body that names the point in time to end, in the words of Elasticsearch:
// {"id": …}.
func ReadPIT(body []byte) (id string, err error) {
	err = readPlain(body, func(p *parser, name string) error {
		switch {
		case name != "id":
			return unknownParameter(name, token.Key)
		case !p.isValue():
			return exception.New(exception.IllegalArgument, "the request must contain only [id] field")
		}
		id = p.text()
		return nil
	})
	if err == nil && id == "" {
		err = exception.New(exception.IllegalArgument, "search context id is not provided")
	}
	return id, err
}

// ReadOpenPIT reads the body of a request that opens a point in time: there is nothing in it
// that this version does.
func ReadOpenPIT(body []byte) error {
	return readPlain(body, func(p *parser, name string) error {
		if name == "index_filter" {
			return p.unsupported("[index_filter]")
		}
		return exception.New(exception.XContentParse, "[open_point_in_time_request] unknown field [%s]", name)
	})
}

func readIDs(body []byte, key string) (ids []string, err error) {
	err = readPlain(body, func(p *parser, name string) error {
		if name != key || p.kind != token.Array && !p.isValue() {
			return unknownParameter(name, p.kind)
		}
		return p.each(func() error {
			if !p.isValue() {
				return exception.New(exception.IllegalArgument, "%s array element should only contain %s", key, key)
			}
			ids = append(ids, p.text())
			return nil
		})
	})
	return ids, err
}

// readPlain reads a body that is an object, or nothing.
func readPlain(body []byte, member func(p *parser, name string) error) error {
	if len(body) == 0 {
		return nil
	}
	p := newParser(body)
	if err := p.next(); err != nil {
		return err
	}
	if p.kind != token.Object {
		return exception.New(exception.IllegalArgument, "Malformed content, must start with an object")
	}
	return p.members(func(name string) error { return member(p, name) })
}

func unknownParameter(name string, kind token.Kind) error {
	return exception.New(exception.IllegalArgument, "Unknown parameter [%s] in request body or parameter is of the wrong type[%s] ", name, kind)
}
