package snapshot_test

import (
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot"
)

// TestAnEstimateOfLongSegments looks at two documents of each segment: what it says
// of the others is called inexact, and near.
func TestAnEstimateOfLongSegments(t *testing.T) {
	snapshot.SetSample(t, 2)
	inexact := 0
	for _, r := range repositories(t) {
		repo, err := snapshot.Open(t.Context(), r.bucket(t))
		if err != nil {
			t.Fatal(err)
		}
		snap, err := repo.Find(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		estimate, err := snap.Estimate(t.Context(), nil)
		if fault.Is(err, fault.Refused) {
			continue
		}
		documents, sources := readAll(t, snap)
		switch {
		case err != nil:
			t.Errorf("%s: %v", r.name, err)
		case estimate.Exact:
			if estimate.Documents != documents || estimate.SourceBytes != sources {
				t.Errorf("%s: exact, but not: %+v of %d documents and %d bytes", r.name, estimate, documents, sources)
			}
		default:
			inexact++
			if estimate.Documents < documents/3 || estimate.Documents > 3*documents || estimate.SourceBytes <= 0 {
				t.Errorf("%s: %+v of %d documents and %d bytes", r.name, estimate, documents, sources)
			}
		}
	}
	if inexact < 20 {
		t.Errorf("only %d estimates were inexact", inexact)
	}
}

// TestTheEstimateIsWhatAPassTakes holds the estimate of every snapshot against
// what reading all its documents asks of the bucket, and gives.
func TestTheEstimateIsWhatAPassTakes(t *testing.T) {
	exact := 0
	for _, r := range repositories(t) {
		t.Run(r.name, func(t *testing.T) {
			probe := newProbe(r.bucket(t))
			repo, err := snapshot.Open(t.Context(), probe)
			if err != nil {
				t.Fatal(err)
			}
			all, err := repo.All(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, snap := range all {
				probe.reset()
				estimate, err := snap.Estimate(t.Context(), nil)
				if fault.Is(err, fault.Refused) {
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", snap.Name, err)
					continue
				}
				probe.reset()
				documents, sources := readAll(t, snap)
				if off := estimate.Bytes - probe.bytes(); off < -probe.bytes()/100 || off > probe.bytes()/100 {
					t.Errorf("%s: %d bytes, %d were read", snap.Name, estimate.Bytes, probe.bytes())
				}
				if asked := int64(probe.opens + probe.sizes); estimate.Requests != asked {
					t.Errorf("%s: %d requests, %d were made", snap.Name, estimate.Requests, asked)
				}
				if estimate.Exact {
					exact++
				}
				if estimate.Exact && (estimate.Documents != documents || estimate.SourceBytes != sources) {
					t.Errorf("%s: %d documents and %d bytes of sources, there are %d and %d", snap.Name, estimate.Documents, estimate.SourceBytes, documents, sources)
				}
			}
		})
	}
	if exact < 50 {
		t.Errorf("only %d estimates were exact", exact)
	}
}

// readAll reads all documents that the snapshot holds.
func readAll(t *testing.T, snap *snapshot.Snapshot) (documents, sources int64) {
	t.Helper()
	for _, name := range snap.Indices {
		index, err := snap.Index(t.Context(), name)
		if fault.Is(err, fault.NotFound) && snap.State != snapshot.Success {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for n := range index.Shards {
			if absent(snap, name, n) {
				continue
			}
			shard, err := index.Shard(t.Context(), n)
			if fault.Is(err, fault.NotFound) && snap.State == snapshot.Failed {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			_, docs := pass(t, shard, snapshot.ReadOptions{})
			if docs.Err() != nil {
				t.Fatal(docs.Err())
			}
			documents += docs.Counts().Documents
			sources += docs.Counts().SourceBytes
		}
	}
	return documents, sources
}

func absent(snap *snapshot.Snapshot, index string, shard int) bool {
	for _, f := range snap.Failures {
		if f.Index == index && f.Shard == shard {
			return true
		}
	}
	return false
}
