package peers

import (
	"path/filepath"
	"testing"
)

// TestStoppingWhatNeverRan: a benchmark defers it, and fails before it has started the peer, or in
// that.
func TestStoppingWhatNeverRan(t *testing.T) {
	OpenSearch("2.19.0", t.TempDir()).Stop()
	p := Reshelve(filepath.Join(t.TempDir(), "nosuch"), t.TempDir())
	p.Stop()
	if _, err := p.Start(t.Context(), nil, nil); err == nil {
		t.Error("a program that is not there runs")
	}
	p.Stop()
}
