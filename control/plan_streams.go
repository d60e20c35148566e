package control

import (
	"context"

	"github.com/reshelve/reshelve/cluster"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/migrate"
)

// planStreams are the data streams that are appended to, under their new names, by the indices
// that back them. It is the stream that is renamed: the target names what backs it.
func planStreams(ctx context.Context, req *MigrateRequest, chosen selection, renaming []renaming) (map[string]migrate.InStream, error) {
	if req.Metadata.Streams != migrate.AppendStreams {
		return nil, nil
	}
	if req.Delta || req.Since != "" {
		err := fault.New(fault.Refused, "a data stream takes new documents alone, and a delta changes and deletes some")
		return nil, fault.WithNext(err, "leave --data-streams append away")
	}
	global, err := chosen.snapshot.Global(ctx)
	if err != nil {
		return nil, err
	}
	streams, err := migrate.StreamsOf(global)
	for _, index := range chosen.names {
		s, in := streams[index]
		if !in {
			continue
		}
		name, err := renamed(renaming, s.Name)
		if err != nil {
			return nil, err
		}
		if name != s.Name {
			s.Source, s.Name = s.Name, name
			streams[index] = s
		}
	}
	return streams, err
}

// previewStream is what becomes of an index that is appended to a data stream.
func previewStream(ctx context.Context, target *cluster.Client, index migrate.Index) (p PreviewIndex, err error) {
	p = PreviewIndex{Index: index.Source, Target: index.Target, Stream: index.Stream.Name}
	if p.There, err = target.IndexExists(ctx, index.Target); err == nil && p.There {
		p.Holds, err = target.Count(ctx, index.Target)
	}
	return p, err
}
