package store_test

import (
	"fmt"
	"strings"
	"testing"

	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// TestLargeDocuments: a source beyond the limit is refused, be it sent or made by an update, and the
// document stays as it was.
func TestLargeDocuments(t *testing.T) {
	s, err := store.Open(t.Context(), coordmemory.New(), shardmemory.New(shardmemory.Options{}), store.Options{MaxSource: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	makeOne(t, s, "x")
	text := func(name string, n int) []byte { return fmt.Appendf(nil, `{%q:%q}`, name, strings.Repeat("t", n)) }
	write := func(operation document.Operation, id string, source []byte) error {
		w := document.Write{Operation: operation, Target: "x", ID: id, Condition: document.Always}
		if operation == document.Update {
			w.Change = &document.Change{Doc: source, DocAsUpsert: true, DetectNoop: true}
		} else {
			w.Source = source
		}
		return s.Write(t.Context(), []document.Write{w}, document.Eventually)[0].Err
	}
	for _, c := range []struct {
		operation document.Operation
		id        string
		source    []byte
		refused   bool
	}{
		{document.Index, "1", text("a", 900), false},
		{document.Index, "1", text("a", 1000), true},
		{document.Create, "2", text("a", 1000), true},
		{document.Update, "2", text("a", 1000), true},
		{document.Update, "1", text("b", 100), true},
		{document.Update, "1", text("a", 910), false},
	} {
		err := write(c.operation, c.id, c.source)
		if c.refused != (err != nil) || err != nil && (exception.From(err).Status() != 413 || !strings.Contains(err.Error(), "[1000]")) {
			t.Errorf("%v %s of %d bytes: %v", c.operation, c.id, len(c.source), err)
		}
	}
}
