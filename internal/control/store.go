package control

import (
	"context"

	"github.com/reshelve/reshelve/internal/store"
)

// Store is a document store in the hands of a face. Its methods are those of
// package store; the types that they take and give are of package document,
// catalog and query.
type Store struct {
	*store.Store
}

// The words in which a store is asked for documents that are searched.
type (
	Where       = store.Where
	RowsOf      = store.RowsOf
	Found       = store.Found
	Point       = store.Point
	PhaseError  = store.PhaseError
	FailedIndex = store.Failure
	ByQuery     = store.ByQuery
	Into        = store.Into
	Progress    = store.Progress
	TaskState   = store.TaskState
	Validated   = store.Validated
	Merging     = store.Merging
)

// Failing is a search that failed in one index.
func Failing(index string, cause error) *PhaseError { return store.Failing(index, cause) }

// RoutedBy lets a request route by an older version of the placement of its index.
func RoutedBy(ctx context.Context, version int64) context.Context {
	return store.WithPlacement(ctx, version)
}

// NewStore hands a store to the faces.
func NewStore(s *store.Store) *Store { return &Store{s} }
