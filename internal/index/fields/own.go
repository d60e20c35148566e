package fields

import (
	"math"
	"strconv"

	"github.com/reshelve/reshelve/internal/index/mapping"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

var (
	termsOnly  = segment.Spec{Postings: segment.Docs}
	columnOnly = segment.Spec{Column: segment.Numbers}
)

// own are the server's own fields. _index and _version are in no segment; hits tell
// _ignored, out of its column.
var own = map[string]*Field{}

func init() {
	for _, f := range []struct {
		row  row
		spec segment.Spec
	}{
		{row{name: "_id", kind: Keyword, exact: exactID, within: noneWithin}, termsOnly},
		{row{name: "_routing", kind: Keyword, scored: true, exact: exactText, within: termsWithin}, termsOnly},
		{row{name: "_ignored", kind: Keyword, scored: true, exact: exactText, within: termsWithin}, segment.Spec{Postings: segment.Docs, Column: segment.Ordinals}},
		{row{name: "_nested_path", kind: Keyword, scored: true, exact: exactText, within: termsWithin}, termsOnly},
		{row{name: "_index", kind: Keyword, exact: exactText, within: noneWithin}, segment.Spec{}},
		{row{name: "_field_names", kind: Keyword, exact: exactNowhere, within: noneWithin}, segment.Spec{}},
		{row{name: "_seq_no", kind: Integer, exact: exactSeqNo, within: seqNosWithin}, columnOnly},
		{row{name: "_version", kind: Integer, exact: notSearchable("The _version field is not searchable"), within: noneWithin}, segment.Spec{}},
		{row{name: "_source", kind: Opaque, exact: notSearchable("The _source field is not searchable"), within: noneWithin}, segment.Spec{}},
		{row{name: "_doc_count", kind: Integer, exact: notSearchable("Field [_doc_count] of type [_doc_count] is not searchable"), within: noneWithin}, segment.Spec{}},
	} {
		own[f.row.name] = &Field{path: f.row.name, name: f.row.name, row: &f.row, spec: f.spec, search: &oneTerm{}, quoted: &oneTerm{}}
	}
}

func exactID(_ *Field, v Value, _ int64) (Match, error) {
	if v.Text == "" {
		return none, exception.New(exception.IllegalArgument, "Ids can't be empty")
	}
	return one([]byte(v.String())), nil
}

func exactNowhere(*Field, Value, int64) (Match, error) { return none, nil }

func notSearchable(reason string) func(*Field, Value, int64) (Match, error) {
	return func(*Field, Value, int64) (Match, error) {
		return none, exception.New(exception.QueryShard, "%s", reason)
	}
}

// seqNo reads a sequence number: more strictly than a long.
func seqNo(v Value) (int64, error) {
	if v.Kind != token.Float {
		n, err := strconv.ParseInt(v.Text, 10, 64)
		if err != nil {
			return 0, exception.NotNumber(v.Text)
		}
		return n, nil
	}
	asked, cut, err := mapping.AskedNumber("long", v.Kind, v.Text)
	if err == nil && cut != 0 {
		err = exception.New(exception.IllegalArgument, "Value [%s] has a decimal part", v)
	}
	return asked.Low, err
}

func exactSeqNo(_ *Field, v Value, _ int64) (Match, error) {
	n, err := seqNo(v)
	if err != nil {
		return none, err
	}
	return numbers(n, n), nil
}

func seqNosWithin(_ *Field, a Asked, _ int64) (Match, error) {
	least, greatest := int64(0), int64(math.MaxInt64)
	if a.From != nil {
		n, err := seqNo(a.From.Value)
		if err != nil {
			return none, err
		}
		if least = n; !a.From.Include {
			if n == math.MaxInt64 {
				return none, nil
			}
			least++
		}
	}
	if a.To != nil {
		n, err := seqNo(a.To.Value)
		if err != nil {
			return none, err
		}
		if greatest = n; !a.To.Include {
			if n == math.MinInt64 {
				return none, nil
			}
			greatest--
		}
	}
	return numbers(least, greatest), nil
}
