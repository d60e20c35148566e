package gateway

import (
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// The server's numbers for a version and a sequence number that are not asked for.
const (
	anyVersion int64 = -3
	noSeqNo    int64 = -2
)

// guard is what a request says of the document that it expects, as it says it.
type guard struct {
	version int64
	kind    document.VersionType
	seqNo   int64
	term    int64 // 0: not given
}

// unguarded asks for nothing.
var unguarded = guard{version: anyVersion, seqNo: noSeqNo}

// condition is the guard, once validate has found nothing wrong with it.
func (g guard) condition() document.Condition {
	c := document.Always
	c.VersionType = g.kind
	if g.version != anyVersion {
		c.Version = g.version
	}
	if g.seqNo != noSeqNo {
		c.SeqNo, c.PrimaryTerm = g.seqNo, g.term
	}
	return c
}

// versionTypes are the version types as requests name them, and their names in errors.
var versionTypes = []struct{ name, constant string }{
	document.Internal: {"internal", "INTERNAL"}, document.External: {"external", "EXTERNAL"}, document.ExternalGTE: {"external_gte", "EXTERNAL_GTE"},
}

func parseVersionType[T string | []byte](text T) (document.VersionType, error) {
	for kind, names := range versionTypes {
		if string(text) == names.name {
			return document.VersionType(kind), nil
		}
	}
	return 0, exception.New(exception.IllegalArgument, "No version type match [%s]", text)
}

// guardParams are the parameters that guard reads.
const guardParams = " version version_type if_seq_no if_primary_term "

// guard reads the parameters of a write.
func (c *call) guard() (g guard, err error) {
	g = unguarded
	if len(c.params) == 0 {
		return g, nil
	}
	if g.version, err = c.integer("version", 64, anyVersion); err != nil {
		return g, err
	}
	if kind, ok := c.has("version_type"); ok {
		if g.kind, err = parseVersionType(kind); err != nil {
			return g, err
		}
	}
	if g.seqNo, err = c.integer("if_seq_no", 64, noSeqNo); err != nil {
		return g, err
	}
	if g.seqNo < 0 && g.seqNo != noSeqNo {
		return g, exception.New(exception.IllegalArgument, "sequence numbers must be non negative. got [%d].", g.seqNo)
	}
	if g.term, err = c.integer("if_primary_term", 64, 0); err == nil && g.term < 0 {
		err = exception.New(exception.IllegalArgument, "primary term must be non negative. got [%d]", g.term)
	}
	return g, err
}

// problems are the reasons for which a request is not even tried.
type problems []string

func (p *problems) add(parts ...string) { *p = append(*p, strings.Join(parts, "")) }

// bytes is what they take, and what is told of them.
func (p problems) bytes() (n int64) {
	for _, problem := range p {
		n += int64(4*len(problem) + 16)
	}
	return n
}

// err is the server's exception about the problems; nil without any.
func (p problems) err() error {
	if len(p) == 0 {
		return nil
	}
	var reason strings.Builder // a bulk may have a million
	reason.WriteString("Validation Failed: ")
	for i, problem := range p {
		reason.WriteString(strconv.Itoa(i+1) + ": " + problem + ";")
	}
	return exception.New(exception.ActionRequestValidation, "%s", reason.String())
}

// validate finds what is wrong with a write whatever is stored.
func (p *problems) validate(w *document.Write, g guard) {
	if w.Target == "" {
		p.add("index is missing")
	}
	switch w.Operation {
	case document.Create:
		switch {
		case g.kind != document.Internal:
			p.add("create operations only support internal versioning. use index instead")
			return
		case g.version != anyVersion:
			p.add("create operations do not support explicit versions. use index instead")
			return
		case g.seqNo != noSeqNo || g.term != 0:
			p.add("create operations do not support compare and set. use index instead")
			return
		}
	case document.Index:
		if w.ID == "" && (g.kind != document.Internal || g.version != anyVersion) {
			p.add("an id must be provided if version type or value are set")
		}
		p.versioning(g)
	case document.Update, document.Delete:
		if w.ID == "" {
			p.add("id is missing")
		}
		p.versioning(g)
	}
	if w.Change != nil {
		p.change(w.Change, g)
	}
	const longestID = 512
	if len(w.ID) > longestID {
		p.add("id [", w.ID, "] is too long, must be no longer than 512 bytes but was: ", strconv.Itoa(len(w.ID)))
	}
}

func (p *problems) versioning(g guard) {
	if g == unguarded {
		return
	}
	internal := g.kind == document.Internal
	if internal && g.version != anyVersion && g.version <= 0 || !internal && g.version < 0 {
		p.illegalVersion(g.version, g.kind)
	}
	if internal && g.version != anyVersion {
		p.add("internal versioning can not be used for optimistic concurrency control. Please use `if_seq_no` and `if_primary_term` instead")
	}
	if g.seqNo != noSeqNo && (!internal || g.version != anyVersion) {
		p.add("compare and write operations can not use versioning")
	}
	if g.term == 0 && g.seqNo != noSeqNo {
		p.add("ifSeqNo is set, but primary term is [0]")
	}
	if g.term != 0 && g.seqNo == noSeqNo {
		p.add("ifSeqNo is unassigned, but primary term is [", strconv.FormatInt(g.term, 10), "]")
	}
}

func (p *problems) illegalVersion(version int64, kind document.VersionType) {
	p.add("illegal version value [", strconv.FormatInt(version, 10), "] for version type [", versionTypes[kind].constant, "]")
}

func (p *problems) change(c *document.Change, g guard) {
	if g.seqNo != noSeqNo {
		if c.Retries > 0 {
			p.add("compare and write operations can not be retried")
		}
		if c.DocAsUpsert {
			p.add("compare and write operations can not be used with upsert")
		}
		if c.Upsert != nil {
			p.add("upsert requests don't support `if_seq_no` and `if_primary_term`")
		}
	}
	if c.Doc == nil {
		p.add("script or doc is missing")
		if c.DocAsUpsert {
			p.add("doc must be specified if doc_as_upsert is enabled")
		}
	}
}
