package query

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for body, want := range map[string]string{
		`{"size":10}`:                                "",
		`{"search_after":[1]}`:                       "Sort must contain at least one field.",
		`{"search_after":[1,2],"sort":"_id"}`:        "search_after has 2 value(s) but sort has 1.",
		`{"search_after":[1],"sort":"_id","from":1}`: "`from` parameter must be set to 0",
	} {
		s, err := ReadSearch([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		refused := s.Check()
		if want == "" != (refused == nil) || refused != nil && !strings.HasPrefix(refused.Reason, want) {
			t.Errorf("%s: %v, want %s", body, refused, want)
		}
	}
}
