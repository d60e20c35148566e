package search

import "github.com/reshelve/reshelve/internal/index/automaton"

// Like reads a regular expression of terms, with all operators that Lucene's have, and
// tells which whole terms meet it. The error is that of a regexp query.
func Like(expression string) (meets func(term []byte) bool, err error) {
	accept, err := automaton.Regexp(expression, automaton.AllFlags, false, automaton.MaxEffort)
	if err != nil {
		return nil, err
	}
	return func(term []byte) bool { return accept.Meets(string(term)) }, nil
}
