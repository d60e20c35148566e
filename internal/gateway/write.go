package gateway

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// writeParams are the parameters of every write.
const writeParams = "routing refresh timeout wait_for_active_shards "

// indexDocument puts one document.
func (c *call) indexDocument() error { return c.put(document.Index) }

// addDocument puts one document whose id the store makes.
func (c *call) addDocument() error { return c.put(document.Create) }

// createDocument puts one document that must not be there yet.
func (c *call) createDocument() error { return c.put(document.Create) }

func (c *call) put(operation document.Operation) error {
	if kind, set := c.has("op_type"); set {
		switch strings.ToLower(kind) {
		case "index":
			operation = document.Index
		case "create":
			operation = document.Create
		default:
			return exception.New(exception.IllegalArgument, "opType must be 'create' or 'index', found: [%s]", kind)
		}
	}
	source, err := c.required()
	if err != nil {
		return err
	}
	if err := c.holdSource(len(source)); err != nil {
		return err
	}
	if err := c.noPipeline(); err != nil {
		return err
	}
	w := document.Write{Operation: operation, Target: c.name("index"), ID: c.name("id"), Routing: c.text("routing", ""), Source: source}
	if w.RequireAlias, err = c.boolean("require_alias", false); err != nil {
		return err
	}
	g, err := c.guard()
	if err != nil {
		return err
	}
	return c.write(w, g)
}

// deleteDocument deletes one document.
func (c *call) deleteDocument() error {
	g, err := c.guard()
	if err != nil {
		return err
	}
	return c.write(document.Write{Operation: document.Delete, Target: c.name("index"), ID: c.name("id"), Routing: c.text("routing", "")}, g)
}

// write applies one write and answers with what became of it.
func (c *call) write(w document.Write, g guard) error {
	visible, err := c.visibility()
	if err != nil {
		return err
	}
	var wrong problems
	wrong.validate(&w, g)
	if name, set := c.has("pipeline"); set && name == "" && (w.Operation == document.Index || len(wrong) == 0) {
		wrong.add("pipeline cannot be an empty string")
	}
	if len(wrong) > 0 {
		return wrong.err()
	}
	if w.Active, err = c.active(); err != nil {
		return err
	}
	w.Condition = g.condition()
	written := c.s.store.Write(c.ctx(), []document.Write{w}, visible)[0]
	if written.Err != nil {
		c.s.told(exception.From(written.Err).Status())
		return written.Err
	}
	if written.Unshown {
		c.warn(unshown)
	}
	status := c.s.told(statusOf(written.Outcome))
	if status == http.StatusCreated {
		c.w.Header().Set("Location", location(&written, w.Routing))
	}
	c.out = c.appendWritten(append(c.out, '{'), &written, c.s.store.Copies(written.Index), written.Outcome == document.Noop)
	c.out = append(c.out, '}')
	return c.send(status)
}

func statusOf(outcome document.Outcome) int {
	switch outcome {
	case document.Created:
		return http.StatusCreated
	case document.Missing:
		return http.StatusNotFound
	}
	return http.StatusOK
}

// A write that was applied is answered so, also where it could not be made visible to searches: an error would let
// its client repeat it. Its answer has no forced_refresh then, and a warning.
const (
	forcedRefresh = `,"forced_refresh":true` // it is visible to searches already
	unshown       = "The writes were applied, and are not visible to searches yet: the refresh failed. Do not repeat them."
)

// appendWritten appends the members that tell a write's outcome. An update by
// itself that changed nothing has met no shard (idle), one in a bulk has.
func (c *call) appendWritten(dst []byte, w *document.Written, copies int, idle bool) []byte {
	dst = appendString(append(dst, `"_index":`...), w.Index)
	dst = appendString(append(dst, `,"_id":`...), w.ID)
	dst = strconv.AppendInt(append(dst, `,"_version":`...), w.Version, 10)
	dst = append(append(append(dst, `,"result":"`...), w.Outcome.String()...), '"')
	if w.Refreshed && !idle {
		dst = append(dst, forcedRefresh...)
	}
	if idle {
		dst = append(dst, `,"_shards":{"total":0,"successful":0,"failed":0},"_seq_no":`...)
	} else {
		dst = strconv.AppendInt(append(dst, `,"_shards":{"total":`...), int64(copies), 10)
		dst = append(dst, `,"successful":1,"failed":0},"_seq_no":`...)
	}
	dst = strconv.AppendInt(dst, w.SeqNo, 10)
	dst = strconv.AppendInt(append(dst, `,"_primary_term":`...), w.PrimaryTerm, 10)
	if w.Source == nil {
		return dst
	}
	dst = strconv.AppendInt(append(dst, `,"get":{"_seq_no":`...), w.SeqNo, 10)
	dst = strconv.AppendInt(append(dst, `,"_primary_term":`...), w.PrimaryTerm, 10)
	return append(c.filter.Append(append(dst, `,"found":true,"_source":`...), w.Source), '}')
}

// location is where a new document can be got.
func location(w *document.Written, routing string) string {
	at := "/" + formEscape(w.Index) + "/_doc/" + formEscape(w.ID)
	if routing != "" {
		at += "?routing=" + formEscape(routing)
	}
	return at
}

// formEscape escapes as application/x-www-form-urlencoded says, which is how the
// server escapes paths, too.
func formEscape(text string) string {
	const digits = "0123456789ABCDEF"
	out := make([]byte, 0, len(text)+8)
	for i := range len(text) {
		switch b := text[i]; {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', b == '-', b == '_', b == '.', b == '*':
			out = append(out, b)
		case b == ' ':
			out = append(out, '+')
		default:
			out = append(out, '%', digits[b>>4], digits[b&0xf])
		}
	}
	return string(out)
}

// visibility reads the parameter refresh.
func (c *call) visibility() (document.Visibility, error) {
	value, ok := c.has("refresh")
	if !ok {
		return document.Eventually, nil
	}
	switch value {
	case "false":
		return document.Eventually, nil
	case "", "true":
		return document.AtOnce, nil
	case "wait_for":
		return document.Awaited, nil
	}
	return 0, exception.New(exception.IllegalArgument, "Unknown value for refresh: [%s].", value)
}

// noPipeline refuses ingest pipelines: there are none, so none of that name.
func (c *call) noPipeline() error {
	if name := c.text("pipeline", ""); name != "" && name != "_none" {
		return missingPipeline(name)
	}
	return nil
}

func missingPipeline(name string) *exception.Error {
	return exception.New(exception.IllegalArgument, "pipeline with id [%s] does not exist", name)
}

// active reads wait_for_active_shards and timeout.
func (c *call) active() (a document.Active, err error) {
	if len(c.params) == 0 {
		return a, nil
	}
	timeout, err := c.duration("timeout", time.Minute)
	if err != nil {
		return a, err
	}
	a.Timeout = catalog.SpanText(timeout)
	if !c.isSet("wait_for_active_shards") {
		return a, nil
	}
	copies, err := c.copies()
	if a.Copies = strconv.Itoa(copies); copies < 0 {
		a.Copies = "all"
	}
	return a, err
}
