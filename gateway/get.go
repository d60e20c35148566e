package gateway

import (
	"net/http"
	"strconv"

	"github.com/reshelve/reshelve/catalog"
	"github.com/reshelve/reshelve/document"
	"github.com/reshelve/reshelve/exception"
	"github.com/reshelve/reshelve/query"
)

const (
	sourceParams = " _source _source_includes _source_excludes "
	readParams   = "routing preference realtime refresh version version_type stored_fields" + sourceParams
)

// sourceParams reads what the URL says of the source; set tells whether it says anything.
func (c *call) sourceParams() (f query.SourceFilter, set bool) {
	if len(c.params) == 0 {
		return f, false
	}
	return query.SourceOf(c.list("_source"), c.list("_source_includes"), c.list("_source_excludes"))
}

// read is the request for one document that the URL makes.
func (c *call) read() (r document.Read, err error) {
	r = document.Read{Target: c.name("index"), ID: c.name("id"), Version: document.Unset}
	if len(c.params) == 0 {
		return r, nil
	}
	r.Routing = c.text("routing", "")
	realtime, err := c.boolean("realtime", true)
	if err != nil {
		return r, err
	}
	r.Searched = !realtime
	version, err := c.integer("version", 64, anyVersion)
	if err != nil {
		return r, err
	}
	if kind, ok := c.has("version_type"); ok {
		if r.VersionType, err = parseVersionType(kind); err != nil {
			return r, err
		}
	}
	if err := checkVersion(version, r.VersionType).err(); err != nil {
		return r, err
	}
	if version != anyVersion {
		r.Version = version
	}
	return r, c.storedFields()
}

// checkVersion finds what is wrong with a version that a read asks for.
func checkVersion(version int64, kind document.VersionType) (wrong problems) {
	if internal := kind == document.Internal; version != anyVersion && (version < 0 || internal && version == 0) {
		wrong.illegalVersion(version, kind)
	}
	return wrong
}

// storedFields refuses fields stored beside the source: there are none.
func (c *call) storedFields() error {
	for _, field := range c.list("stored_fields") {
		switch field {
		case "_source", "_routing", "_none_":
		default:
			return noStoredFields(field)
		}
	}
	return nil
}

func noStoredFields(field string) error {
	return exception.New(exception.IllegalArgument, "stored field [%s] is not supported by this version of reshelve: use _source", field)
}

// refreshFirst makes everything searchable before a read that asks for it.
func (c *call) refreshFirst(index string) error {
	refresh, err := c.boolean("refresh", false)
	if err != nil || !refresh {
		return err
	}
	_, err = c.s.store.Refresh(c.ctx(), catalog.Expression{Names: []string{index}, Options: searched})
	return err
}

// getDocument answers with one document.
func (c *call) getDocument() error {
	found, err := c.find()
	if err != nil {
		return err
	}
	c.out = c.appendFound(c.out, &found)
	if !found.Exists {
		return c.send(http.StatusNotFound)
	}
	return c.send(http.StatusOK)
}

// find reads the document of the URL, and sets the filter for its source.
func (c *call) find() (found document.Found, err error) {
	r, err := c.read()
	if err != nil {
		return found, err
	}
	c.filter, _ = c.sourceParams()
	if fields, ok := c.has("stored_fields"); ok && fields != "_source" {
		c.filter.None = true
	}
	r.NoSource = c.filter.None
	if err := c.refreshFirst(r.Target); err != nil {
		return found, err
	}
	if found, err = c.s.store.Get(c.ctx(), r); err != nil {
		return found, err
	}
	return found, c.holdAnswer(int64(len(found.Source)))
}

// appendFound appends a document as gets tell it, its source as c.filter leaves it.
func (c *call) appendFound(dst []byte, f *document.Found) []byte {
	dst = appendString(append(dst, `{"_index":`...), f.Index)
	dst = appendString(append(dst, `,"_id":`...), f.ID)
	if !f.Exists {
		return append(dst, `,"found":false}`...)
	}
	dst = strconv.AppendInt(append(dst, `,"_version":`...), f.Version, 10)
	dst = strconv.AppendInt(append(dst, `,"_seq_no":`...), f.SeqNo, 10)
	dst = strconv.AppendInt(append(dst, `,"_primary_term":`...), f.PrimaryTerm, 10)
	if f.Routing != "" {
		dst = appendString(append(dst, `,"_routing":`...), f.Routing)
	}
	dst = append(dst, `,"found":true`...)
	if f.Source != nil && !c.filter.None {
		dst = c.filter.Append(append(dst, `,"_source":`...), f.Source)
	}
	return append(dst, '}')
}

// getSource answers with the source alone.
func (c *call) getSource() error {
	if f, _ := c.sourceParams(); f.None {
		return f.Check()
	}
	found, err := c.find()
	if err != nil {
		return err
	}
	switch {
	case !found.Exists:
		return exception.New(exception.ResourceNotFound, "Document not found [%s]/[%s]", c.name("index"), c.name("id"))
	case found.Source == nil:
		return exception.New(exception.ResourceNotFound, "Source not found [%s]/[%s]", c.name("index"), c.name("id"))
	}
	c.out = c.filter.Append(c.out, found.Source)
	return c.send(http.StatusOK)
}
