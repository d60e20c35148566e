package search_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// FuzzQueryString: every text becomes a plan or an exception.
func FuzzQueryString(f *testing.F) {
	for _, seed := range []string{
		`title:(quick OR "brown fox"~1)^2 AND n:[1 TO 3} -tag:r?d`, `a AND (b OR (c AND -d))^3`, `_exists_:obj quik~ /q.u/ *:* n:>=5`,
		`a\u0041\:b && !c || "\"`, `[a TO "b c"] {* TO x}^2`, `+the -of ((a) b`,
	} {
		f.Add(seed, true, false)
	}
	index := newIndex(f)
	f.Fuzz(func(t *testing.T, text string, all, and bool) {
		q := &search.QueryString{Common: search.Common{Boost: 1}, Query: text, And: and, AllowLeadingWildcard: true}
		if !all {
			q.Fields = []search.FieldBoost{{Field: "title", Boost: 1}, {Field: "n", Boost: 2}}
		}
		described(t, index, q)
	})
}

// FuzzSimpleQueryString: every text becomes a plan, unless it is too much.
func FuzzSimpleQueryString(f *testing.F) {
	for _, seed := range []string{
		`"quick fox"~2 + -(lazy | d*) quik~1`, `((a b) + c) | d "e`, `\(a\) -- b \`, `~ * + | ()`, strings.Repeat("(", 40) + "a" + strings.Repeat(")", 40),
	} {
		f.Add(seed, "ALL", false)
	}
	index := newIndex(f)
	f.Fuzz(func(t *testing.T, text, flags string, and bool) {
		described(t, index, &search.SimpleQueryString{Common: search.Common{Boost: 1}, Query: text, Flags: flags, And: and})
	})
}

func described(t *testing.T, index *indexed, q search.Query) {
	_, err := search.Describe(&index.Index, q, now, search.Limits{})
	var e *exception.Error
	if err != nil && !errors.As(err, &e) {
		t.Fatal(err)
	}
}

// TestMuchIsRefused: limits, as OpenSearch 2.19.0 tells them.
func TestMuchIsRefused(t *testing.T) {
	index := newIndex(t)
	words := strings.Repeat("w ", 1025)
	terms := func(n int) string { return strings.TrimSuffix(strings.Repeat(`"x",`, n), ",") }
	should := func(n int, clause string) string {
		return `{"bool":{"should":[` + strings.TrimSuffix(strings.Repeat(clause+",", n), ",") + `]}}`
	}
	const nested = "500 too_many_nested_clauses: Query contains too many nested clauses; maxClauseCount is set to 1024"
	for _, c := range []struct{ query, want string }{
		{should(1025, `{"term":{"tag":"x"}}`), "400 query_shard_exception: failed to create query: maxClauseCount is set to 1024 <- SAME too_many_clauses"},
		{should(600, `{"range":{"n":{"gte":1}}}`), nested},
		{should(500, `{"range":{"n":{"gte":1}}}`), ""},
		{should(600, should(2, `{"term":{"tag":"x"}}`)), nested},
		{`{"match":{"title":"` + words + `"}}`, "400 query_shard_exception: failed to create query: maxClauseCount is set to 1024 <- SAME too_many_clauses"},
		{`{"simple_query_string":{"query":"` + words + `","fields":["title"]}}`, nested},
		{`{"query_string":{"query":"` + words + `","default_field":"title"}}`, "400 query_shard_exception: Failed to parse query [" + words +
			"] <- parse_exception: Cannot parse '" + words + "': too many boolean clauses <- too_many_clauses: maxClauseCount is set to 1024"},
		{`{"terms":{"tag":[` + terms(65536) + `]}}`, ""},
		{`{"terms":{"tag":[` + terms(65537) + `]}}`, "400 query_shard_exception: failed to create query: The number of terms [65537] used in the Terms Query request has exceeded the allowed maximum of [65536]. " +
			"This maximum can be set by changing the [index.max_terms_count] index level setting. <- SAME illegal_argument_exception"},
		{`{"regexp":{"title":"` + strings.Repeat("a", 1001) + `"}}`, "400 query_shard_exception: failed to create query: The length of regex [1001] used in the Regexp Query request has exceeded the allowed maximum of [1000]. " +
			"This maximum can be set by changing the [index.max_regex_length] index level setting. <- SAME illegal_argument_exception"},
	} {
		got := index.plan(t, c.query)
		if c.want == "" && strings.HasPrefix(got, "ConstantScore(") || got == c.want {
			continue
		}
		t.Errorf("%.60s…\n got %.300s\nwant %.300s", c.query, got, c.want)
	}
}
