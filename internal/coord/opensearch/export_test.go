package opensearch

import (
	"context"

	"github.com/reshelve/reshelve/internal/coord"
)

// IndexOf is the index of a store.
func IndexOf(s coord.Store) string { return s.(*Store).index }

// Prune removes old deletions.
func Prune(ctx context.Context, s *Store) error { return s.prune(ctx) }
