package query

import (
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// Reindex is the body of _reindex.
type Reindex struct {
	ByQuery
	Indices     []string // of the source; patterns and aliases, too
	Dest        string
	Create      bool   // op_type: create
	VersionType string // "": internal, or not told
	Routing     string // "": keep, "keep", "discard", or "=" and a routing value
	Pipeline    string
}

// ReadReindex reads the body of a _reindex. What it says of the source and the
// destination is checked by [Reindex.Check].
func ReadReindex(body []byte) (Reindex, error) {
	r := Reindex{ByQuery: newByQuery()}
	if len(body) == 0 {
		return r, exception.New(exception.OpenSearchParse, "request body is required")
	}
	p := newParser(body)
	if err := p.next(); err != nil {
		return r, err
	}
	if p.kind != token.Object {
		return r, p.misread(p.read.Offset(), "[reindex] Expected START_OBJECT but was: %s", p.kind)
	}
	err := p.object("reindex", map[string]option{
		"source":    {takesObject, func() error { return p.reindexSource(&r) }},
		"dest":      {takesObject, func() error { return p.reindexDest(&r) }},
		"max_docs":  p.setMaxDocs(&r.MaxDocs),
		"size":      p.setMaxDocs(&r.MaxDocs),
		"conflicts": p.setConflicts(&r.Proceed),
		"script":    {takesAny, func() error { return p.unsupported("[script]") }},
	})
	if e := exception.From(err); err != nil && e.Cause != nil && strings.Contains(e.Cause.Reason, "not supported by this version") {
		return r, e.Cause // told by itself
	}
	return r, err
}

// reindexSource reads the object of source: the indices, and a search.
func (p *parser) reindexSource(r *Reindex) error {
	rest, err := p.leave(map[string]option{
		"index":  {takesAny, func() (err error) { r.Indices, err = p.indices(); return err }},
		"remote": {takesAny, func() error { return p.unsupported("[remote]") }},
	})
	if err != nil {
		return err
	}
	inner := newParser(rest)
	return inner.root(func() error { return inner.search(&r.Search) })
}

// indices reads names between commas, or an array of such.
func (p *parser) indices() (names []string, err error) {
	if p.kind != token.String && p.kind != token.Array {
		raw, err := p.skip()
		if err != nil {
			return nil, err
		}
		return nil, exception.New(exception.IllegalArgument, "Expected [index] to be a list or a string but was [%s]", raw)
	}
	err = p.each(func() error {
		if p.kind != token.String {
			return exception.New(exception.IllegalArgument, "Expected [index] to be a list or a string but was [%s]", p.kind)
		}
		for name := range strings.SplitSeq(p.text(), ",") {
			if name != "" {
				names = append(names, name)
			}
		}
		return nil
	})
	return names, err
}

func (p *parser) reindexDest(r *Reindex) error {
	return p.object("dest", map[string]option{
		"index":    p.setString(&r.Dest),
		"routing":  p.setString(&r.Routing),
		"pipeline": p.setString(&r.Pipeline),
		"op_type": {takesString, func() error {
			text := p.text()
			if r.Create = text == "create"; !r.Create && text != "index" {
				return exception.New(exception.IllegalArgument, "opType must be 'create' or 'index', found: [%s]", text)
			}
			return nil
		}},
		"version_type": {takesString, func() error {
			r.VersionType = p.text()
			if !slices.Contains([]string{"internal", "external", "external_gt", "external_gte"}, r.VersionType) {
				return exception.New(exception.IllegalArgument, "No version type match [%s]", r.VersionType)
			}
			return nil
		}},
	})
}

// Check refuses what cannot be done. Whether the destination is one of the sources is
// for who knows the indices: see [IntoItself].
func (r *Reindex) Check() error {
	var why []string
	if len(r.Indices) == 0 {
		why = append(why, "use _all if you really want to copy from all existing indexes")
	}
	if r.Dest == "" {
		why = append(why, "index must be specified")
	}
	if r.Create && r.VersionType != "" && r.VersionType != "internal" {
		why = append(why, "create operations only support internal versioning. use index instead")
	}
	if r.Routing != "" && r.Routing != "keep" && r.Routing != "discard" && !strings.HasPrefix(r.Routing, "=") {
		why = append(why, "routing must be unset, [keep], [discard] or [=<some new value>]")
	}
	if len(why) > 0 {
		return invalid(why)
	}
	if r.Pipeline != "" && r.Pipeline != "_none" {
		return exception.New(exception.IllegalArgument, "pipeline with id [%s] does not exist", r.Pipeline)
	}
	return r.ByQuery.Check()
}

// IntoItself is about a reindex whose destination is one of its sources.
func IntoItself(index string) error {
	return invalid([]string{"reindex cannot write into an index its reading from [" + index + "]"})
}
