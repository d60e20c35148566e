package query

import (
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	"github.com/reshelve/reshelve/internal/opensearch/token"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// StoredOf gives the stored fields of one document, as gets do: names alone, neither
// patterns nor aliases. The object of the fields is nil when none has a value; ignored are
// those of which a value was passed over. Errors are the server's.
func StoredOf(schema *fields.Schema, names []string, id string, source []byte) (object []byte, ignored []string, err error) {
	var own []string
	for _, name := range names {
		if f, ok := schema.Mapping().Field(name); ok && f.Target() == "" {
			own = append(own, name)
		}
	}
	stored, err := fields.NewStored(schema, own)
	if err != nil {
		return nil, nil, err
	}
	stored.Read(id, source, "")
	var members []shownMember
	stored.Each(func(name string, values []byte) { members = append(members, shownMember{name, values}) })
	return appendMembers(nil, members), stored.Passed(), nil
}

// ownFields are the server's own fields.
var ownFields = []string{"_data_stream_timestamp", "_doc_count", "_field_names", "_id", "_ignored", "_index", "_nested_path", "_routing", "_seq_no", "_source", "_version"}

// MeetsOwn counts the server's own fields that a name or a pattern with * means.
func MeetsOwn(pattern string) (n int) {
	for _, name := range ownFields {
		if wildcard.Match(pattern, name) {
			n++
		}
	}
	return n
}

// storedNames are the names of stored fields that a search means: patterns mean leaves and
// aliases, in the order of the server's set of them.
func storedNames(schema *fields.Schema, patterns []string) (names []string) {
	for _, pattern := range patterns {
		if !strings.Contains(pattern, "*") {
			names = append(names, pattern)
			continue
		}
		var leaves, aliases []string
		for f := range schema.Mapping().All() {
			switch {
			case f.IsObject() || !wildcard.Match(pattern, f.Path()):
			case f.Target() != "":
				aliases = append(aliases, f.Path())
			default:
				leaves = append(leaves, f.Path())
			}
		}
		leaves = append(leaves, aliases...)
		table := tableOf(len(leaves) + MeetsOwn(pattern))
		slices.SortStableFunc(leaves, func(a, b string) int { return java.Bucket(a, table) - java.Bucket(b, table) })
		names = append(names, leaves...)
	}
	return names
}

// appendStored adds the members of stored fields, but for those that the values have shown.
func (s *Show) appendStored(row Row) {
	s.stored.Read(row.ID, row.Whole, row.Around)
	s.stored.Each(func(name string, values []byte) {
		if s.values == nil || !s.values.shows(name) {
			s.members = append(s.members, shownMember{name, values[:len(values):len(values)]})
		}
	})
}

// addMember adds the values of a field to those that it is shown with already.
func (s *Show) addMember(m shownMember) {
	for i := range s.members {
		if s.members[i].name == m.name {
			s.members[i].json = append(s.members[i].json, m.json...)
			return
		}
	}
	s.members = append(s.members, m)
}

// appendMembers appends an object of members in the order of the server; nothing when there
// are none.
func appendMembers(dst []byte, members []shownMember) []byte {
	if len(members) == 0 {
		return dst
	}
	inServerOrder(members)
	dst = append(dst, '{')
	for _, m := range members {
		dst = append(append(token.AppendString(dst, m.name), ":["...), m.json[:len(m.json)-1]...)
		dst = append(dst, "],"...)
	}
	dst[len(dst)-1] = '}' // instead of a comma
	return dst
}
