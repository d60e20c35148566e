package exception_test

import (
	"testing"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// The root causes are those of answers of OpenSearch 2.19.0.
func TestTheRootCauseIsTheOneThatSaysMost(t *testing.T) {
	chain := func(types ...exception.Type) *exception.Error {
		var e *exception.Error
		for i := len(types) - 1; i >= 0; i-- {
			outer := exception.New(types[i], "%d", i)
			if e != nil {
				outer = outer.CausedBy(e)
			}
			e = outer
		}
		return e
	}
	for _, tc := range []struct {
		types []exception.Type
		want  string // place in the chain
	}{
		{[]exception.Type{exception.IndexNotFound}, "0"},
		{[]exception.Type{exception.MapperParsing, exception.MapperParsing}, "1"},
		{[]exception.Type{exception.MapperParsing, exception.IllegalArgument}, "0"},
		{[]exception.Type{exception.IllegalArgument, exception.NumberFormat}, "0"},
		{[]exception.Type{exception.XContentParse, exception.XContentParse, exception.XContentParse}, "2"},
		{[]exception.Type{exception.XContentParse, exception.IllegalArgument}, "0"},
	} {
		if got := chain(tc.types...).Root().Reason; got != tc.want {
			t.Errorf("%v: the root is %s, want %s", tc.types, got, tc.want)
		}
	}
}
