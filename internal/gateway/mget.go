package gateway

import (
	"net/http"
	"strconv"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

const mgetParams = "routing preference realtime refresh stored_fields source source_content_type" + sourceParams

// wish is one document of a multi-get.
type wish struct {
	read   document.Read
	filter query.SourceFilter
	told   bool // what of the source
	named  bool // an id was given, if only an empty one
}

// multiGet answers with several documents, each with its own error.
func (c *call) multiGet() error {
	body, err := c.contentOrSource()
	if err == nil && len(body) == 0 {
		err = exception.New(exception.OpenSearchParse, "request body or source parameter is required")
	}
	if err != nil {
		return err
	}
	first, err := c.read()
	if err != nil {
		return err
	}
	m := mget{r: &c.reader, first: wish{read: first}, hold: c.hold}
	m.first.read.ID = ""
	m.first.filter, m.first.told = c.sourceParams()
	if err := m.parse(body); err != nil {
		return err
	}
	if err := m.validate(); err != nil {
		return err
	}
	if err := c.refreshAll(m.wishes); err != nil {
		return err
	}
	c.out = append(c.out, `{"docs":[`...)
	for i := range m.wishes {
		if i > 0 {
			c.out = append(c.out, ',')
		}
		before := len(c.out)
		c.appendWish(&m.wishes[i])
		if err := c.holdAnswer(int64(len(c.out) - before)); err != nil {
			return err
		}
	}
	c.out = append(c.out, "]}"...)
	return c.send(http.StatusOK)
}

// refreshAll refreshes every index that is asked, when the URL wants it. One that
// is not there gets its error later.
func (c *call) refreshAll(wishes []wish) error {
	if refresh, err := c.boolean("refresh", false); err != nil || !refresh {
		return err
	}
	met := map[string]bool{}
	for i := range wishes {
		if name := wishes[i].read.Target; !met[name] {
			met[name] = true
			_ = c.refreshFirst(name) // the get tells what is wrong with the name
		}
	}
	return nil
}

func (c *call) appendWish(w *wish) {
	c.filter = w.filter
	hideSource(&c.filter, w.told, w.read.Stored)
	w.read.NoSource = c.filter.None
	var found document.Found
	err := error(exception.New(exception.IllegalArgument, "Ids can't be empty"))
	if w.read.ID != "" {
		found, err = c.s.store.Get(c.ctx(), w.read)
	}
	if err == nil {
		c.out = c.appendFound(c.out, &found, w.read.Stored)
		return
	}
	e := exception.From(err)
	c.out = appendString(append(c.out, `{"_index":`...), w.read.Target)
	c.out = appendString(append(c.out, `,"_id":`...), w.read.ID)
	c.out = appendException(append(c.out, `,"error":{"root_cause":[`...), e.Root(), false)
	c.out = append(appendExceptionBody(append(c.out, "],"...), e, true), "}}"...)
}

// mget reads the body of a multi-get.
type mget struct {
	r      *token.Reader
	first  wish // what the URL says of all
	wishes []wish
	hold   func(bytes int64) error // asked for room for more wishes
}

// wishBytes is about what a wish takes, and what is made of it.
const wishBytes = 256

// add takes one wish more, if there is room for it.
func (m *mget) add(w wish) error {
	const together = 1024
	if len(m.wishes)%together == together-1 {
		if err := m.hold(together * wishBytes); err != nil {
			return err
		}
	}
	m.wishes = append(m.wishes, w)
	return nil
}

func (m *mget) parse(body []byte) error {
	m.r.Reset(body)
	kind, err := m.r.Next()
	if err != nil {
		return err
	}
	if kind != token.Object {
		return m.fail("unexpected token [" + kind.String() + "], expected [START_OBJECT]")
	}
	for {
		kind, err := m.r.Next()
		if err != nil || kind == token.ObjectEnd {
			return err
		}
		name := string(m.r.Text())
		if kind, err = m.r.Next(); err != nil {
			return err
		}
		switch {
		case kind != token.Array:
			return m.fail("unexpected token [" + kind.String() + "], expected [FIELD_NAME] or [START_ARRAY]")
		case name == "docs":
			err = m.docs()
		case name == "ids":
			err = m.ids()
		default:
			return m.fail("unknown key [" + name + "] for a START_ARRAY, expected [docs] or [ids]")
		}
		if err != nil {
			return err
		}
	}
}

func (m *mget) ids() error {
	for {
		kind, err := m.r.Next()
		switch {
		case err != nil || kind == token.ArrayEnd:
			return err
		case !kind.IsScalar() || kind == token.Null:
			return exception.New(exception.IllegalArgument, "ids array element should only contain ids")
		}
		w := m.first
		w.read.ID, w.named = string(m.r.Text()), true
		if err := m.add(w); err != nil {
			return err
		}
	}
}

func (m *mget) docs() error {
	for {
		kind, err := m.r.Next()
		switch {
		case err != nil || kind == token.ArrayEnd:
			return err
		case kind != token.Object:
			return exception.New(exception.IllegalArgument, "docs array element should include an object")
		}
		w := m.first
		for {
			if kind, err = m.r.Next(); err != nil {
				return err
			}
			if kind == token.ObjectEnd {
				break
			}
			if err := m.member(&w, string(m.r.Text())); err != nil {
				return err
			}
		}
		if err := m.add(w); err != nil {
			return err
		}
	}
}

// member reads one key's value of a document in docs.
func (m *mget) member(w *wish, name string) error {
	kind, err := m.r.Next()
	if err != nil {
		return err
	}
	text := string(m.r.Text())
	switch name {
	case "_index", "_id", "routing", "version", "version_type":
		if !kind.IsScalar() || kind == token.Null {
			return exception.New(exception.OpenSearchParse, "failed to parse multi get request. unknown field [%s]", name)
		}
	}
	switch name {
	case "_index":
		w.read.Target = text
	case "_id":
		w.read.ID, w.named = text, true
	case "routing":
		w.read.Routing = text
	case "version":
		w.read.Version, err = parseLong([]byte(text))
	case "version_type":
		w.read.VersionType, err = parseVersionType(text)
	case "_source":
		if kind == token.Integer || kind == token.Float || kind == token.Null {
			return exception.New(exception.OpenSearchParse, "illegal type for _source: [%s]", kind)
		}
		w.told = true
		w.filter, err = query.ReadSource(m.r, kind)
	case "stored_fields":
		err = m.storedFields(w, kind)
	case "fields":
		return m.fail("Unsupported field [fields] used, expected [stored_fields] instead")
	default:
		err = exception.New(exception.OpenSearchParse, "failed to parse multi get request. unknown field [%s]", name)
	}
	return err
}

// storedFields reads names. The members of an object count as the document's, as on the
// server.
func (m *mget) storedFields(w *wish, kind token.Kind) error {
	switch {
	case kind == token.Array:
		w.read.Stored = []string{}
	case kind.IsScalar() && kind != token.Null:
		w.read.Stored = []string{string(m.r.Text())}
		return nil
	default:
		return nil
	}
	for {
		kind, err := m.r.Next()
		switch {
		case err != nil || kind == token.ArrayEnd:
			return err
		case !kind.IsScalar() || kind == token.Null:
			line, column := m.r.Place()
			return exception.New(exception.IllegalState, "Can't get text on a %s at %d:%d", kind, line, column)
		}
		w.read.Stored = append(w.read.Stored, string(m.r.Text()))
	}
}

func (m *mget) fail(reason string) error {
	line, column := m.r.Place()
	return exception.New(exception.Parsing, "%s", reason).With("line", line).With("col", column)
}

func (m *mget) validate() error {
	var wrong problems
	if len(m.wishes) == 0 {
		wrong.add("no documents to get")
	}
	for i := range m.wishes {
		if m.wishes[i].read.Target == "" {
			wrong.add("index is missing for doc ", strconv.Itoa(i))
		}
		if !m.wishes[i].named {
			wrong.add("id is missing for doc ", strconv.Itoa(i))
		}
	}
	return wrong.err()
}
