package control

import (
	"context"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot"
)

// Verification is the answer of [Control.Verify]: what was checked, and what is
// wrong.
type Verification struct {
	Repository string    `json:"repository"`
	Snapshot   string    `json:"snapshot"`
	UUID       string    `json:"uuid"`
	Complete   bool      `json:"complete"` // the verification came to its end
	Indices    int       `json:"indices"`
	Shards     int       `json:"shards"`
	Segments   int       `json:"segments"`
	Files      int       `json:"files"`     // each read to its end, its length and checksum compared
	Unchecked  int       `json:"unchecked"` // of those without a checksum: Lucene wrote them before 4.8
	Bytes      int64     `json:"bytes"`     // of the files
	Documents  int64     `json:"documents"` // live Lucene documents, nested ones included
	Problems   []Problem `json:"problems"`  // empty, and complete: the snapshot is sound
	// Absent is what the snapshot, which is not complete, does not claim to hold.
	Absent []Problem `json:"absent,omitempty"`
}

// Verify reads every file of a snapshot and compares lengths, checksums and
// counts. The answer lists everything that is wrong; with damage the error is
// fault.Corrupt beside the answer, and an answer that is not complete stands
// beside the error that ended it. Progress, unless nil, gets the sums so far
// and how much is done, from 0 to 1, told by shards; negative when unknown.
func (c *Control) Verify(ctx context.Context, sel Selection, progress func(sums Verification, fraction float64)) (*Verification, error) {
	chosen, err := c.choose(ctx, sel)
	if err != nil {
		return nil, err
	}
	snap := chosen.snapshot
	tell := func(v snapshot.Verification) *Verification {
		return &Verification{
			Repository: sel.Repository, Snapshot: snap.Name, UUID: snap.UUID,
			Indices: v.Indices, Shards: v.Shards, Segments: v.Segments, Files: v.Files, Unchecked: v.Unchecked,
			Bytes: v.Bytes, Documents: v.Documents, Problems: []Problem{},
		}
	}
	opts := snapshot.VerifyOptions{Index: chosen.has}
	if progress != nil {
		opts.Progress = func(v snapshot.Verification) { progress(*tell(v), chosen.fraction(v.Shards-1)) }
	}
	done, err := snap.Verify(ctx, opts)
	out := tell(done)
	out.Complete = err == nil
	for _, p := range done.Problems {
		if snap.State != snapshot.Success && fault.Is(p, fault.NotFound) {
			out.Absent = append(out.Absent, Tell(p))
			continue
		}
		out.Problems = append(out.Problems, Tell(p))
	}
	if err == nil {
		err = verdict(out.Problems)
	}
	return out, err
}
