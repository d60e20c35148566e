package snapshot

import (
	"bytes"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/xcontent"
	"github.com/reshelve/reshelve/snapshot/internal/lucene"
)

// role is what a stored field means to a document.
type role uint8

const (
	roleNone role = iota
	roleID
	roleUID
	roleRouting
	roleParent
	roleSource
	roleRecoverySource
)

var roleNames = map[string]role{
	"_id":              roleID,  // from 6.0: binary, see document.AppendID
	"_uid":             roleUID, // up to 5.x, and in indices that those created
	"_routing":         roleRouting,
	"_parent":          roleParent,
	"_source":          roleSource,
	"_recovery_source": roleRecoverySource,
}

// roles tells what the few fields that matter mean, by their number in one
// segment.
type roles []fieldRole

type fieldRole struct {
	field int32
	role  role
}

func rolesOf(seg *lucene.Segment) roles {
	var rs roles
	for _, f := range seg.Fields {
		if r, ok := roleNames[f.Name]; ok {
			rs = append(rs, fieldRole{f.Number, r})
		}
	}
	return rs
}

func (rs roles) of(field int32) role {
	for _, r := range rs {
		if r.field == field {
			return r.role
		}
	}
	return roleNone
}

// take makes the stored values of one document the current one. A nested child
// stores no id and leaves doc.ID nil.
func (d *Documents) take(values []lucene.StoredValue) (err error) {
	doc := &d.doc
	doc.ID, doc.Type, doc.Routing, doc.Parent, doc.Source, doc.Versions = nil, nil, nil, nil, nil, nil
	var recovery []byte
	for _, v := range values {
		switch d.cur.roles.of(v.Field) {
		case roleID:
			err = d.takeID(v)
		case roleUID:
			doc.Type, doc.ID, err = document.SplitUID(v.Bytes)
		case roleRouting:
			doc.Routing = v.Bytes
		case roleParent:
			if _, doc.Parent, err = document.SplitUID(v.Bytes); err != nil {
				doc.Parent, err = v.Bytes, nil
			}
		case roleSource:
			doc.Source = v.Bytes
		case roleRecoverySource:
			recovery = v.Bytes
		}
		if err != nil {
			return err
		}
	}
	if doc.ID == nil {
		if doc.Source != nil {
			return fault.New(fault.Corrupt, "has a source and no id")
		}
		return nil
	}
	if doc.Type == nil {
		doc.Type = d.impliedType
	}
	return d.takeSource(recovery)
}

// takeID reads _id, which 6.0 and later store as bytes and some 5.x as text.
func (d *Documents) takeID(v lucene.StoredValue) (err error) {
	if v.Kind == lucene.String {
		d.doc.ID = v.Bytes
		return nil
	}
	d.id, err = document.AppendID(d.id[:0], v.Bytes)
	d.doc.ID = d.id
	return err
}

// byteOrderMark may precede a stored source, and is no part of its JSON.
const byteOrderMark = "\ufeff"

// takeSource chooses between the source and the recovery source and makes JSON
// of what is stored in another format.
func (d *Documents) takeSource(recovery []byte) (err error) {
	doc := &d.doc
	if recovery != nil {
		if d.opts.RecoverySource {
			doc.Source = recovery
		} else {
			d.counts.Recoverable++
		}
	}
	if d.opts.IDsOnly {
		doc.Source = nil
		return nil
	}
	switch {
	case doc.Source == nil:
		d.counts.Sourceless++
		return nil
	case len(doc.Source) > 0 && doc.Source[0] == '{':
		doc.Source = d.plainJSON(doc.Source)
		return nil
	}
	most := xcontent.Limit(len(doc.Source))
	plain, err := xcontent.Expand(doc.Source, most)
	if err != nil {
		return fault.At(err, "_source")
	}
	text := bytes.TrimPrefix(plain, []byte(byteOrderMark))
	if begun := bytes.TrimLeft(text, " \t\r\n"); len(begun) > 0 && (begun[0] == '{' || begun[0] == '/') {
		if text = d.plainJSON(text); xcontent.Sniff(text) == xcontent.JSON {
			doc.Source = text
			return nil
		}
	}
	d.source, err = xcontent.ToJSON(d.source[:0], plain, most)
	doc.Source = d.source
	return fault.At(err, "_source")
}

// plainJSON makes JSON of what the servers take beside it, and store as it came:
// comments, and in indices of Elasticsearch 1.x and 2.x names without quotation
// marks.
func (d *Documents) plainJSON(text []byte) []byte {
	text = xcontent.WithoutComments(text)
	if d.bareNames {
		text = xcontent.WithQuotedNames(text)
	}
	return text
}
