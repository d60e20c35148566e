package snapshot

import "testing"

// SetSample sets how many documents of a segment an estimate looks at, while the
// test runs.
func SetSample(t *testing.T, documents int64) {
	before := sampleDocuments
	sampleDocuments = documents
	t.Cleanup(func() { sampleDocuments = before })
}
