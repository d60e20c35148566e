package gateway

import (
	"bytes"
	"maps"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// updateDocument changes one document.
func (c *call) updateDocument() error {
	u := update{change: document.Change{DetectNoop: true}}
	u.filter, u.wanted = c.sourceParams()
	_, err := c.visibility() // in the server's order: it tells the first mistake alone
	if err != nil {
		return err
	}
	if u.change.DocAsUpsert, err = c.boolean("doc_as_upsert", false); err != nil {
		return err
	}
	retries, err := c.integer("retry_on_conflict", 32, 0)
	if err != nil {
		return err
	}
	u.change.Retries = int(retries)
	if c.isSet("version") || c.isSet("version_type") {
		return problems{"internal versioning can not be used for optimistic concurrency control. Please use `if_seq_no` and `if_primary_term` instead"}.err()
	}
	if u.guard, err = c.guard(); err != nil {
		return err
	}
	w := document.Write{Operation: document.Update, Target: c.name("index"), ID: c.name("id"), Routing: c.text("routing", "")}
	if w.RequireAlias, err = c.boolean("require_alias", false); err != nil {
		return err
	}
	body, err := c.content()
	if err == nil && len(body) > 0 {
		err = u.parse(&c.reader, body)
	}
	if err == nil {
		err = u.noScript()
	}
	if err == nil {
		err = c.holdSource(len(body))
	}
	if err != nil {
		return err
	}
	w.Change, c.filter = u.finished(), u.filter
	return c.write(w, u.guard)
}

// update is the body of an update.
type update struct {
	change document.Change
	guard  guard
	filter query.SourceFilter
	wanted bool // the answer shall show the source
	script bool
}

// finished is the change, with what the answer needs.
func (u *update) finished() *document.Change {
	u.change.WantSource = u.wanted && !u.filter.None
	return &u.change
}

// noScript refuses scripts, which this version does not run.
func (u *update) noScript() error {
	switch {
	case u.script && u.change.Doc != nil:
		return problems{"can't provide both script and doc"}.err()
	case u.script:
		cause := exception.New(exception.IllegalArgument, "scripts are not supported by this version of reshelve: update by doc, or index the whole document")
		return exception.New(exception.IllegalArgument, "failed to execute script").CausedBy(cause)
	}
	return nil
}

// parse reads a body; doc and upsert stay slices of it.
func (u *update) parse(r *token.Reader, body []byte) error {
	r.Reset(body)
	kind, err := r.Next()
	if err != nil {
		return err
	}
	if kind != token.Object {
		return misfit(r, "Expected START_OBJECT but was: "+kind.String())
	}
	for {
		kind, err := r.Next()
		if err != nil || kind == token.ObjectEnd {
			return err // what stands behind the body is not looked at
		}
		if err := u.member(r); err != nil {
			return err
		}
	}
}

// updateKeys are the keys of updates, with the tokens that each takes.
var updateKeys = map[string]string{
	"script": "START_OBJECT VALUE_STRING", "scripted_upsert": "VALUE_BOOLEAN VALUE_STRING", "upsert": "START_OBJECT", "doc": "START_OBJECT",
	"doc_as_upsert": "VALUE_BOOLEAN VALUE_STRING", "detect_noop": "VALUE_BOOLEAN VALUE_STRING",
	"_source":   "START_OBJECT START_ARRAY VALUE_BOOLEAN VALUE_STRING",
	"if_seq_no": "VALUE_NUMBER VALUE_STRING", "if_primary_term": "VALUE_NUMBER VALUE_STRING",
}

// member reads one key's value.
func (u *update) member(r *token.Reader) error {
	name := string(r.Text())
	takes, known := updateKeys[name]
	if !known {
		what := "unknown field [" + name + "]"
		if proposed := exception.DidYouMean(name, maps.Keys(updateKeys), 0.5); proposed != "" {
			what += " " + proposed
		}
		return misfit(r, what)
	}
	kind, err := r.Next()
	if err != nil {
		return err
	}
	if !bytes.Contains([]byte(takes), []byte(kind.String())) {
		return misfit(r, name+" doesn't support values of type: "+kind.String())
	}
	switch name {
	case "script":
		u.script = true
		_, err = r.Whole(kind)
	case "doc":
		u.change.Doc, err = r.Whole(kind)
	case "upsert":
		u.change.Upsert, err = r.Whole(kind)
	case "doc_as_upsert":
		u.change.DocAsUpsert, err = parseBoolean(string(r.Text()))
	case "detect_noop":
		u.change.DetectNoop, err = parseBoolean(string(r.Text()))
	case "scripted_upsert":
		_, err = parseBoolean(string(r.Text()))
	case "_source":
		u.wanted = true
		u.filter, err = query.ReadSource(r, kind)
	case "if_seq_no":
		u.guard.seqNo, err = parseLong(r.Text())
	case "if_primary_term":
		u.guard.term, err = parseLong(r.Text())
	}
	if err != nil {
		return misfit(r, "failed to parse field ["+name+"]").CausedBy(exception.From(err))
	}
	return nil
}

// misfit is an error of the server's parser of updates, at the last token.
func misfit(r *token.Reader, what string) *exception.Error {
	line, column := r.Place()
	return exception.New(exception.XContentParse, "[%d:%d] [UpdateRequest] %s", line, column, what)
}
