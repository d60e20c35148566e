package control

import (
	"context"
	"errors"
	"testing"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/folder"
)

// The wish to stop is heeded within a run of documents that are not yielded, and
// what was yielded stays told.
func TestAPassStopsAmongDocumentsThatItDoesNotYield(t *testing.T) {
	ctl := New(Wiring{Blobs: map[string]blob.Opener{"file": folder.Open}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	passed := 0
	docs, err := ctl.Read(ctx, ReadRequest{Selection: Selection{
		Repository: "../../testdata/repositories/elasticsearch-7.10.2-corners/repo", Indices: []string{"sourceless"},
	}}, Watch{Sourceless: func(*document.Document) { passed++; cancel() }})
	if err != nil {
		t.Fatal(err)
	}
	defer docs.Close()
	if docs.Next() || !errors.Is(docs.Err(), context.Canceled) || passed != 1 {
		t.Errorf("%d documents were passed over, then: %v", passed, docs.Err())
	}
	first, last, unconfirmed := docs.Unconfirmed()
	next, more := docs.Position()
	if !unconfirmed || first != last || !more || next.Number != last.Number+1 {
		t.Errorf("unconfirmed %v to %v, %v; go on with %v, %v", first, last, unconfirmed, next, more)
	}
}
