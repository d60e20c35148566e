package control

import (
	"context"

	"github.com/reshelve/reshelve/cluster"
	"github.com/reshelve/reshelve/migrate"
)

// previewStream is what becomes of an index that is appended to a data stream.
func previewStream(ctx context.Context, target *cluster.Client, index migrate.Index) (p PreviewIndex, err error) {
	p = PreviewIndex{Index: index.Source, Target: index.Target, Stream: index.Stream.Name}
	if p.There, err = target.IndexExists(ctx, index.Target); err == nil && p.There {
		p.Holds, err = target.Count(ctx, index.Target)
	}
	return p, err
}
