package gateway

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
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
	most     int    // items of a part
	update   update // the body of an update being read
	each     int64  // bytes of the answer to an item
	items    int    // of all parts
	answer   int64  // bytes of the answer, about
	forced   []int  // where, in the answer, items say that they are visible to searches
	held     int64  // bytes of it and of wrong that are held
	largest  int    // bytes of a source
	hold     func(bytes int64) error
}

// A large request is written in parts, so that what it takes beside its body and its answer
// does not grow with its items. A part ends at so many items, or bytes of the body.
const (
	partItems = 16 << 10
	partBytes = 8 << 20
	fewItems  = 256 // are not counted; a part has at least as many, however little memory may be in flight
)

// An item of a part takes about itemBytes besides its source. Its answer takes answerBytes and its
// names, and is kept until all parts are written.
const (
	itemBytes   = 1 << 10
	answerBytes = 160
)

// inPart is how many items a part has.
func (o Options) inPart() int {
	return int(max(fewItems, min(partItems, o.InFlightBytes/16/itemBytes)))
}

// refusal is an item that the store does not get.
type refusal struct {
	at    int // of writes, before which it stands
	write document.Write
	err   *exception.Error
}

func (b *bulk) clear() {
	if cap(b.writes) > partItems {
		b.writes = nil
	}
	clear(b.writes)
	*b = bulk{writes: b.writes[:0]}
}

// next empties b for another part.
func (b *bulk) next() {
	clear(b.writes)
	clear(b.refused)
	clear(b.filters)
	b.writes, b.refused = b.writes[:0], b.refused[:0]
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
	active, err := c.active()
	if err != nil {
		return err
	}
	b.each = answerBytes * c.look.larger()
	b.itemSize, b.most, b.hold = c.s.options.ItemBytes, c.s.options.inPart(), c.hold
	rest, err := b.check(&c.reader, body)
	if err == nil {
		err = c.holdSource(b.largest)
	}
	if err != nil {
		return err
	}
	if len(rest) > 0 { // all of it is well formed, and has room: from the beginning
		b.next()
		b.line = 0
		if rest, err = b.parse(&c.reader, body); err != nil {
			return err
		}
	}
	c.out = slices.Grow(c.out, int(b.answer/c.look.larger()))
	failed := false
	for writing := c.s.store.Bulk(c.ctx(), visible, func(source int64) error { return c.holdAnswer(sourceCopies * source) }); ; {
		for i := range b.writes {
			b.writes[i].Active = active
		}
		written := writing.Write(b.writes)
		failed = c.appendItems(written, visible) || failed
		if len(rest) == 0 {
			if !writing.Show() {
				c.unshown()
			}
			break
		}
		b.next()
		if rest, err = b.parse(&c.reader, rest); err != nil {
			return err // it was read before without one
		}
	}
	told := strconv.AppendInt([]byte(`{"took":`), c.took(), 10)
	told = append(strconv.AppendBool(append(told, `,"errors":`...), failed), `,"items":[`...)
	c.out = append(slices.Insert(bytes.TrimSuffix(c.out, []byte{','}), 0, told...), "]}"...)
	return c.send(http.StatusOK)
}

// check reads the request, whole: what is wrong with one of its items refuses it before
// the first is applied. It leaves the first part in b if that is all there is, so that rest is
// empty, and asks for room.
func (b *bulk) check(r *token.Reader, body []byte) (rest []byte, err error) {
	rest, err = b.parse(r, body)
	for left := rest; err == nil; {
		for i := range b.writes {
			b.weigh(&b.writes[i])
		}
		for i := range b.refused {
			b.weigh(&b.refused[i].write)
		}
		b.items += len(b.writes) + len(b.refused)
		if len(left) == 0 {
			break
		}
		b.next()
		if left, err = b.parse(r, left); err == nil {
			err = b.hold(b.wrong.bytes() + b.answer - b.held)
			b.held = b.wrong.bytes() + b.answer
		}
	}
	if err != nil {
		return nil, err
	}
	if b.items == 0 {
		b.wrong.add("no requests added")
	}
	if err := b.wrong.err(); err != nil {
		return nil, err
	}
	if b.items <= fewItems {
		return rest, nil
	}
	return rest, b.hold(int64(min(b.items, b.most))*itemBytes + b.answer - b.held)
}

// weigh counts what the answer to a write takes.
func (b *bulk) weigh(w *document.Write) {
	b.answer += b.each + int64(len(w.Target)+len(w.ID))
	b.largest = max(b.largest, len(w.Source))
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

// parse reads a part, and returns the rest of the body.
func (b *bulk) parse(r *token.Reader, body []byte) (rest []byte, err error) {
	for begin := len(body); len(body) > 0; {
		if items := len(b.writes) + len(b.refused); items >= b.most || items > 0 && begin-len(body) >= partBytes {
			return body, nil
		}
		var line []byte
		if line, body, err = cutLine(body); err != nil {
			return nil, err
		}
		b.line++
		if blank(line) {
			continue
		}
		a, err := b.action(r, line)
		if err != nil {
			return nil, err
		}
		if a.operation == document.Delete {
			b.add(&a, nil)
			continue
		}
		if len(body) == 0 {
			return nil, nil // an action without its source, at the end: the server leaves it out
		}
		if line, body, err = cutLine(body); err != nil {
			return nil, err
		}
		b.line++
		if a.operation != document.Update {
			b.add(&a, line)
		} else if err := b.addUpdate(r, &a, line); err != nil {
			return nil, err
		}
	}
	return nil, nil
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

// appendItems appends the result of each item of a part, in the order of the request.
func (c *call) appendItems(written []document.Written, visible document.Visibility) (failed bool) {
	b := &c.items
	refused := b.refused
	failed = len(refused) > 0
	copies, of := 0, ""
	for i := 0; ; i++ {
		for ; len(refused) > 0 && refused[0].at == i; refused = refused[1:] {
			w := &refused[0].write
			c.appendFailed(w.Operation, w.Target, w.ID, refused[0].err)
		}
		if i == len(written) {
			return failed
		}
		w := &written[i]
		if w.Err != nil {
			failed = true
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
		w.Refreshed = visible == document.AtOnce // one that changed nothing, too
		item := len(c.out)
		if c.out = c.appendWritten(c.out, w, copies, false); w.Refreshed {
			b.forced = append(b.forced, item+bytes.Index(c.out[item:], []byte(forcedRefresh)))
		}
		c.out = strconv.AppendInt(append(c.out, `,"status":`...), int64(c.s.told(statusOf(w.Outcome))), 10)
		c.out = append(c.out, "}},"...)
	}
}

// unshown takes back that items are visible: one of the shards could not be refreshed. Items are answered before, part by
// part, so that which of them are its own is not known any more.
func (c *call) unshown() {
	c.warn(unshown)
	kept, from := c.out[:0], 0
	for _, at := range c.items.forced {
		kept = append(kept, c.out[from:at]...)
		from = at + len(forcedRefresh)
	}
	c.out = append(kept, c.out[from:]...)
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
