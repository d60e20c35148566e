package gateway

import (
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// action is an action line of a bulk request.
type action struct {
	operation    document.Operation
	target       string
	nameless     bool // target is given, and empty
	id           string
	named        bool // an id was given
	routing      string
	pipeline     string
	guard        guard
	retries      int
	requireAlias bool
	filter       query.SourceFilter
	filtered     bool // _source was given
}

// action reads an action line. As the server, it stops behind the metadata: what
// follows on the line is not looked at.
func (b *bulk) action(r *token.Reader, line []byte) (a action, err error) {
	a = b.byURL
	r.Reset(line)
	kind, err := r.Next()
	switch {
	case err != nil:
		return a, err
	case kind != token.Object:
		return a, b.malformed("expected START_OBJECT but found [%s]", kind)
	}
	if kind, err = r.Next(); err != nil {
		return a, err
	}
	if kind != token.Key {
		return a, b.malformed("expected FIELD_NAME but found [%s]", kind)
	}
	switch text := r.Text(); string(text) {
	case "index":
		a.operation = document.Index
	case "create":
		a.operation = document.Create
	case "update":
		a.operation = document.Update
	case "delete":
		a.operation = document.Delete
	default:
		return a, b.malformed("expected one of [create, delete, index, update] but found [%s]", text)
	}
	if kind, err = r.Next(); err != nil {
		return a, err
	}
	if kind != token.Object {
		return a, b.malformed("expected START_OBJECT or END_OBJECT but found [%s]", kind)
	}
	for {
		if kind, err = r.Next(); err != nil || kind == token.ObjectEnd {
			break
		}
		if err = b.metadata(r, &a); err != nil {
			break
		}
	}
	if err == nil && a.operation == document.Update && (a.guard.version != anyVersion || a.guard.kind != document.Internal) {
		err = exception.New(exception.IllegalArgument, "Update requests do not support versioning. Please use `if_seq_no` and `if_primary_term` instead")
	}
	return a, err
}

// The keys of an action line.
const (
	keyIndex = iota
	keyID
	keyRouting
	keyOpType
	keyVersion
	keyVersionType
	keySeqNo
	keyTerm
	keyRetries
	keyPipeline
	keySource
	keyAlias
	keyUnknown
)

func metadataKey(name []byte) int {
	switch string(name) {
	case "_index":
		return keyIndex
	case "_id":
		return keyID
	case "routing":
		return keyRouting
	case "op_type":
		return keyOpType
	case "version":
		return keyVersion
	case "version_type":
		return keyVersionType
	case "if_seq_no":
		return keySeqNo
	case "if_primary_term":
		return keyTerm
	case "retry_on_conflict":
		return keyRetries
	case "pipeline":
		return keyPipeline
	case "_source":
		return keySource
	case "require_alias":
		return keyAlias
	}
	return keyUnknown
}

// metadata reads one key's value of an action line.
func (b *bulk) metadata(r *token.Reader, a *action) error {
	key, name := metadataKey(r.Text()), r.Text()
	kind, err := r.Next()
	switch {
	case err != nil:
		return err
	case kind == token.Null:
		return nil
	case key == keySource && kind == token.Object:
		a.filtered = true
		a.filter, err = query.ReadSource(r, kind)
		return err
	case !kind.IsScalar():
		return b.malformed("expected a simple value for field [%s] but found [%s]", name, kind)
	}
	text := r.Text()
	switch key {
	case keyIndex:
		a.target, a.nameless = b.named(text), len(text) == 0
	case keyID:
		a.id, a.named = string(text), true
	case keyRouting:
		a.routing = string(text)
	case keyOpType:
		if a.operation == document.Index && string(text) == "create" {
			a.operation = document.Create
		}
	case keyVersion, keyVersionType, keySeqNo, keyTerm:
		err = a.guard.read(key, text)
	case keyRetries:
		var n int64
		if n, err = parseLong(text); err == nil {
			a.retries = int(min(max(n, 0), 1<<20))
		}
	case keyPipeline:
		a.pipeline = string(text)
	case keySource:
		a.filtered = true
		a.filter, err = query.ReadSource(r, kind)
	case keyAlias:
		a.requireAlias, err = parseBoolean(string(text))
	default:
		err = exception.New(exception.IllegalArgument, "Action/metadata line [%d] contains an unknown parameter [%s]", b.line, name)
	}
	return err
}

// read reads one key of an action line about versions.
func (g *guard) read(key int, text []byte) (err error) {
	switch key {
	case keyVersion:
		g.version, err = parseLong(text)
	case keyVersionType:
		g.kind, err = parseVersionType(text)
	case keySeqNo:
		g.seqNo, err = parseLong(text)
	case keyTerm:
		g.term, err = parseLong(text)
	}
	return err
}

// named is the text as a string, that of the URL or of the item before when it is
// the same.
func (b *bulk) named(text []byte) string {
	if b.byURL.target == string(text) {
		return b.byURL.target
	}
	if n := len(b.writes); n > 0 && b.writes[n-1].Target == string(text) {
		return b.writes[n-1].Target
	}
	return string(text)
}
