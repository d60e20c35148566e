package embedded

import (
	"context"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// indexer is one of some index.
type indexer struct{ index string }

func (*indexer) Into(*segment.Builder) func(shard.Row) error {
	return func(shard.Row) error { return nil }
}

// TestNoMoreSegmentsAreMadeThanMayBe: who comes later waits, and takes over the builder that was
// left, unless that is of another index.
func TestNoMoreSegmentsAreMadeThanMayBe(t *testing.T) {
	books, loans := &indexer{"books"}, &indexer{"loans"}
	m := newMakers(1)
	take := func(of shard.Indexer) *indexing {
		t.Helper()
		i, err := m.next(t.Context(), of)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	first := take(books)
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := m.next(ended, books); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a second one did not wait: %v", err)
	}
	m <- first
	if take(books) != first {
		t.Error("what was left is not used")
	}
	m <- first
	other := take(loans)
	if other == first || other.of != shard.Indexer(loans) {
		t.Error("the builder of another index is used")
	}
	m <- other
	m.forget()
	if i := <-m; i != nil {
		t.Error("a builder is kept")
	}
}
