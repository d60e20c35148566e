package gateway

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

const (
	sourceParams     = " _source _source_includes _source_excludes "
	sourceReadParams = "routing preference realtime refresh" + sourceParams
	readParams       = "stored_fields version version_type " + sourceReadParams
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
	r.Stored = c.storedFields()
	return r, nil
}

// checkVersion finds what is wrong with a version that a read asks for.
func checkVersion(version int64, kind document.VersionType) (wrong problems) {
	if internal := kind == document.Internal; version != anyVersion && (version < 0 || internal && version == 0) {
		wrong.illegalVersion(version, kind)
	}
	return wrong
}

// storedFields are the names in the URL; nil when it tells none, empty when it has none.
func (c *call) storedFields() []string {
	if _, told := c.has("stored_fields"); !told {
		return nil
	}
	return append([]string{}, c.list("stored_fields")...)
}

// hideSource hides the source where stored fields are asked for and it is not.
func hideSource(filter *query.SourceFilter, told bool, stored []string) {
	if stored != nil && !told && !slices.Contains(stored, "_source") {
		filter.None = true
	}
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
	c.out = c.appendFound(c.out, &found, c.storedFields())
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
	told := false
	c.filter, told = c.sourceParams()
	hideSource(&c.filter, told, r.Stored)
	r.NoSource = c.filter.None
	if err := c.refreshFirst(r.Target); err != nil {
		return found, err
	}
	if found, err = c.s.store.Get(c.ctx(), r); err != nil {
		return found, err
	}
	return found, c.holdAnswer(int64(len(found.Source)))
}

// appendFound appends a document as gets tell it, its source as c.filter leaves it. Where
// neither source nor stored fields are asked for, the server looks for no metadata.
func (c *call) appendFound(dst []byte, f *document.Found, stored []string) []byte {
	dst = appendString(append(dst, `{"_index":`...), f.Index)
	dst = appendString(append(dst, `,"_id":`...), f.ID)
	if !f.Exists {
		return append(dst, `,"found":false}`...)
	}
	dst = strconv.AppendInt(append(dst, `,"_version":`...), f.Version, 10)
	dst = strconv.AppendInt(append(dst, `,"_seq_no":`...), f.SeqNo, 10)
	dst = strconv.AppendInt(append(dst, `,"_primary_term":`...), f.PrimaryTerm, 10)
	if len(stored) > 0 || !c.filter.None {
		if f.Routing != "" {
			dst = appendString(append(dst, `,"_routing":`...), f.Routing)
		}
		if len(f.Ignored) > 0 {
			dst = appendField(append(dst, `,"_ignored":`...), f.Ignored)
		}
	}
	dst = append(dst, `,"found":true`...)
	if f.Source != nil && !c.filter.None {
		dst = c.filter.Append(append(dst, `,"_source":`...), f.Source)
	}
	if f.Fields != nil {
		dst = append(append(dst, `,"fields":`...), f.Fields...)
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
		return exception.New(exception.ResourceNotFound, "Document not found [%s]/[%s]", found.Index, c.name("id"))
	case found.Source == nil:
		return exception.New(exception.ResourceNotFound, "Source not found [%s]/[%s]", c.name("index"), c.name("id"))
	}
	c.out = c.filter.Append(c.out, found.Source)
	return c.send(http.StatusOK)
}
