package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/store"
)

// broken is a collector with a fault of ours.
type broken struct{}

func (broken) Prepare([]search.Index) error            { panic("a fault of ours") }
func (broken) Begin(search.Place) (search.Leaf, error) { return nil, errors.New("it is not begun") }

// A search that panics ends its request alone: the process that goes on can still close
// its shards, which wait for all readers.
func TestSearchThatPanics(t *testing.T) {
	l := newLibrary(t, `{}`)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("it does not panic")
			}
		}()
		r := search.NewRequest()
		r.Collectors = append(r.Collectors, broken{})
		_, _ = l.Find(t.Context(), store.Where{Expression: expression([]string{"books"}, searched)}, r)
	}()
	closed := make(chan error, 1)
	go func() { closed <- l.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the store waits for a reader of a search that has ended")
	}
}
