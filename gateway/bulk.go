package gateway

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"

	"github.com/reshelve/reshelve/document"
	"github.com/reshelve/reshelve/exception"
	"github.com/reshelve/reshelve/query"
	"github.com/reshelve/reshelve/token"
)

const bulkParams = writeParams + sourceParams + "pipeline require_alias batch_size"

// bulk is a bulk request being read: lines of actions, each but a delete followed
// by a line of its source. Sources stay slices of the body.
type bulk struct {
	writes   []document.Write // for the store
	refused  []refusal        // in the place of a write
	filters  map[int]query.SourceFilter
	wrong    problems
	byURL    action // what the URL says of all items
	line     int    // of the action being read, from 1
	itemSize int    // the largest source that is taken
	update   update // the body of an update being read
	hold     func(bytes int64) error
}

// An item takes about itemBytes of memory beside its source, from its line to its answer;
// they are counted after each so many items.
const (
	itemBytes  = 512
	countItems = 4096
)

// refusal is an item that the store does not get.
type refusal struct {
	at    int // of writes, before which it stands
	write document.Write
	err   *exception.Error
}

// mostKept is the number of items whose memory is kept for another request.
const mostKept = 16 << 10

func (b *bulk) clear() {
	if cap(b.writes) > mostKept {
		b.writes = nil
	}
	clear(b.writes)
	*b = bulk{writes: b.writes[:0]}
}

// bulk applies many writes and answers each.
func (c *call) bulk() error {
	body, err := c.required()
	if err != nil {
		return err
	}
	visible, err := c.visibility()
	if err != nil {
		return err
	}
	b := &c.items
	if b.byURL, err = c.actionParams(); err != nil {
		return err
	}
	b.itemSize = c.s.options.ItemBytes
	b.hold = c.hold
	if err := b.parse(&c.reader, body); err != nil {
		return err
	}
	if len(b.writes)+len(b.refused) == 0 {
		b.wrong.add("no requests added")
	}
	if err := b.wrong.err(); err != nil {
		return err
	}
	active, err := c.active()
	if err != nil {
		return err
	}
	for i := range b.writes {
		b.writes[i].Active = active
	}
	var written []document.Written
	if len(b.writes) > 0 {
		written = c.s.store.Write(c.ctx(), b.writes, visible)
	}
	return c.answerBulk(written, visible)
}

// actionParams is what the URL says of every item.
func (c *call) actionParams() (a action, err error) {
	a = action{target: c.name("index"), routing: c.text("routing", ""), pipeline: c.text("pipeline", ""), guard: unguarded}
	if value, ok := c.has("require_alias"); ok && value != "" { // in a bulk an empty value is none
		a.requireAlias, err = parseBoolean(value)
	}
	a.filter, a.filtered = c.sourceParams()
	return a, err
}

// parse reads all items.
func (b *bulk) parse(r *token.Reader, body []byte) error {
	for len(body) > 0 {
		var line []byte
		var err error
		if line, body, err = cutLine(body); err != nil {
			return err
		}
		b.line++
		if blank(line) {
			continue
		}
		if items := len(b.writes) + len(b.refused); items > 0 && items%countItems == 0 {
			if err := b.hold(countItems * itemBytes); err != nil {
				return err
			}
		}
		a, err := b.action(r, line)
		if err != nil {
			return err
		}
		if a.operation == document.Delete {
			b.add(&a, nil)
			continue
		}
		if len(body) == 0 {
			return nil // an action without its source, at the end: the server leaves it out
		}
		if line, body, err = cutLine(body); err != nil {
			return err
		}
		b.line++
		if a.operation != document.Update {
			b.add(&a, line)
		} else if err := b.addUpdate(r, &a, line); err != nil {
			return err
		}
	}
	return nil
}

// cutLine takes a line off the body, without its end.
func cutLine(body []byte) (line, rest []byte, err error) {
	end := bytes.IndexByte(body, '\n')
	if end < 0 {
		return nil, nil, exception.New(exception.IllegalArgument, "The bulk request must be terminated by a newline [\\n]")
	}
	return bytes.TrimSuffix(body[:end], []byte{'\r'}), body[end+1:], nil
}

func blank(line []byte) bool { return skipSpace(line, 0) == len(line) }

// add appends an item whose source is given.
func (b *bulk) add(a *action, source []byte) {
	b.writes = append(b.writes, document.Write{Operation: a.operation, Target: a.target, ID: a.id, Routing: a.routing,
		Source: source, Condition: a.guard.condition(), RequireAlias: a.requireAlias && a.operation != document.Delete})
	w := &b.writes[len(b.writes)-1]
	if a.nameless {
		b.refuse(exception.New(exception.InvalidIndexName, "Invalid index name [], must not be empty").With("index", "").With("index_uuid", "_na_"))
		return
	}
	b.wrong.validate(w, a.guard)
	switch {
	case a.named && a.id == "" && a.operation != document.Delete:
		b.refuse(exception.New(exception.IllegalArgument, "if _id is specified it must not be empty"))
	case a.pipeline != "" && a.pipeline != "_none" && a.operation != document.Delete:
		b.refuse(missingPipeline(a.pipeline))
	case len(source) > b.itemSize:
		b.refuse(b.tooLarge(len(source)))
	}
}

func (b *bulk) tooLarge(size int) *exception.Error {
	return exception.New(exception.IllegalArgument, "the source of the item has [%d] bytes, the limit is [%d]", size, b.itemSize).
		WithStatus(http.StatusRequestEntityTooLarge)
}

// refuse takes the last write back and answers it with an error.
func (b *bulk) refuse(err *exception.Error) {
	last := len(b.writes) - 1
	b.refused = append(b.refused, refusal{last, b.writes[last], err})
	b.writes = b.writes[:last]
}

// addUpdate appends an update, whose body is given.
func (b *bulk) addUpdate(r *token.Reader, a *action, body []byte) error {
	u := &b.update
	*u = update{change: document.Change{DetectNoop: true, Retries: a.retries}, guard: a.guard}
	if err := u.parse(r, body); err != nil {
		return err
	}
	if a.filtered { // what the action line or the URL says counts more
		u.filter, u.wanted = a.filter, true
	}
	change := *u.finished()
	b.writes = append(b.writes, document.Write{Operation: document.Update, Target: a.target, ID: a.id, Routing: a.routing,
		Condition: u.guard.condition(), Change: &change, RequireAlias: a.requireAlias})
	w := &b.writes[len(b.writes)-1]
	if u.script && change.Doc == nil {
		change.Doc = []byte("{}") // only so that validate does not miss it
	}
	b.wrong.validate(w, u.guard)
	if err := u.noScript(); err != nil {
		b.refuse(exception.From(err))
		return nil
	}
	if len(body) > b.itemSize {
		b.refuse(b.tooLarge(len(body)))
		return nil
	}
	if change.WantSource && !u.filter.All() {
		if b.filters == nil {
			b.filters = map[int]query.SourceFilter{}
		}
		b.filters[len(b.writes)-1] = u.filter
	}
	return nil
}

// answerBulk tells what became of each item, in the order of the request.
func (c *call) answerBulk(written []document.Written, visible document.Visibility) error {
	b := &c.items
	failed := len(b.refused) > 0
	for i := range written {
		failed = failed || written[i].Err != nil
	}
	c.out = strconv.AppendInt(append(c.out, `{"took":`...), c.took(), 10)
	c.out = strconv.AppendBool(append(c.out, `,"errors":`...), failed)
	c.out = append(c.out, `,"items":[`...)
	refused := b.refused
	copies, of := 0, ""
	for i := 0; ; i++ {
		for ; len(refused) > 0 && refused[0].at == i; refused = refused[1:] {
			w := &refused[0].write
			c.appendFailed(w.Operation, w.Target, w.ID, refused[0].err)
		}
		if i == len(written) {
			break
		}
		w := &written[i]
		if w.Err != nil {
			c.appendFailed(b.writes[i].Operation, w.Index, w.ID, exception.From(w.Err))
			continue
		}
		if w.Index != of || i == 0 {
			copies, of = c.s.store.Copies(w.Index), w.Index
		}
		c.out = append(append(append(c.out, `{"`...), b.writes[i].Operation.String()...), `":{`...)
		if w.Source != nil {
			c.filter = b.filters[i]
		}
		w.Refreshed = w.Refreshed || visible == document.AtOnce // one that changed nothing, too
		c.out = c.appendWritten(c.out, w, copies, false)
		c.out = strconv.AppendInt(append(c.out, `,"status":`...), int64(c.s.told(statusOf(w.Outcome))), 10)
		c.out = append(c.out, "}},"...)
	}
	c.out = append(bytes.TrimSuffix(c.out, []byte{','}), "]}"...)
	return c.send(http.StatusOK)
}

// appendFailed appends an item that was not applied, and a comma.
func (c *call) appendFailed(operation document.Operation, index, id string, e *exception.Error) {
	dst := append(append(append(c.out, `{"`...), operation.String()...), `":{"_index":`...)
	dst = appendString(dst, index)
	dst = appendString(append(dst, `,"_id":`...), id)
	dst = strconv.AppendInt(append(dst, `,"status":`...), int64(c.s.told(e.Status())), 10)
	c.out = append(appendException(append(dst, `,"error":`...), e, true), "}},"...)
}

// malformed is an action line that is no action.
func (b *bulk) malformed(format string, args ...any) error {
	return exception.New(exception.IllegalArgument, "Malformed action/metadata line [%d], %s", b.line, fmt.Sprintf(format, args...))
}
