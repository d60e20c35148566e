package search

// Like reads a regular expression of terms, with all operators that Lucene's have, and
// tells which whole terms meet it. The error is that of a regexp query.
func Like(expression string) (meets func(term []byte) bool, err error) {
	accept, err := regexpWords(expression, allFlags, false, maxEffort)
	if err != nil {
		return nil, err
	}
	return func(term []byte) bool { return accept.meets(string(term)) }, nil
}
