package control

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/store/catalog"
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

// lookImplicit warns of data streams that the target makes by itself when documents come under their
// names. To indices a movement writes through aliases, under whose names nothing is made; streams take none.
func (l *looking) lookImplicit(ctx context.Context) error {
	streams := map[string]bool{}
	for _, index := range l.Plan.Indices {
		if index.Stream != nil {
			streams[index.Target] = true
		}
	}
	if len(streams) == 0 {
		return nil
	}
	settings, err := l.side.client.ClusterSettings(ctx)
	if err != nil {
		return err
	}
	setting := cmp.Or(settings["action.auto_create_index"], "true") // where it is not told it may be the default
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(streams)), func(name string) bool { return !catalog.AutoCreates(setting, name) })
	if len(names) == 0 {
		return nil
	}
	if setting == "true" {
		setting = "*"
	}
	l.warn("set action.auto_create_index of the target to -"+strings.Join(names, ",-")+","+setting+" for as long as the movement lasts, or see before an abort that all of its workers have ended",
		"data streams are written to by their names: a worker that stood still while the movement was aborted, or the stream deleted, and wakes later lets the target make %s again", listed(names))
	return nil
}

// previewStream is what becomes of an index that is appended to a data stream.
func previewStream(ctx context.Context, target *cluster.Client, index migrate.Index) (p PreviewIndex, err error) {
	p = PreviewIndex{Index: index.Source, Target: index.Target, Stream: index.Stream.Name}
	if p.There, err = target.IndexExists(ctx, index.Target); err == nil && p.There {
		p.Holds, err = target.Count(ctx, index.Target)
	}
	return p, err
}
