package control

import (
	"context"
	"time"

	"github.com/reshelve/reshelve/snapshot"
)

// ListRequest asks which snapshots a repository holds.
type ListRequest struct {
	Repository string // a location; see package blob
}

// Listing is the answer of [Control.List].
type Listing struct {
	Repository string     `json:"repository"`
	Snapshots  []Snapshot `json:"snapshots"` // oldest first, those that can be read
	// Problems tell of the snapshots that cannot be read.
	Problems []Problem `json:"problems,omitempty"`
}

// Snapshot is one snapshot as the repository's root tells of it.
type Snapshot struct {
	Name  string `json:"snapshot"`
	UUID  string `json:"uuid"`  // equals the name where the format has none (1.x, 2.x)
	State string `json:"state"` // SUCCESS, PARTIAL, FAILED, IN_PROGRESS or INCOMPATIBLE
	// Version is the server's that made it, e.g. "7.10.2".
	Version        string     `json:"version"`
	Start          *time.Time `json:"start,omitempty"`
	End            *time.Time `json:"end,omitempty"`
	DurationMillis int64      `json:"durationMillis"`
	Indices        []string   `json:"indices"`
	DataStreams    []string   `json:"dataStreams,omitempty"`
	GlobalState    bool       `json:"globalState"`
	Shards         ShardCount `json:"shards"`
	Failures       []Failure  `json:"failures,omitempty"`
	Reason         string     `json:"reason,omitempty"` // why it failed
}

// ShardCount is how many shards a snapshot should hold, and does.
type ShardCount struct {
	Total      int `json:"total"`
	Successful int `json:"successful"`
	Failed     int `json:"failed"`
}

// Failure is a shard that a snapshot does not hold.
type Failure struct {
	Index  string `json:"index"`
	Shard  int    `json:"shard"`
	Reason string `json:"reason"`
}

// List tells which snapshots a repository holds, oldest first. Where some of them
// cannot be read, the error stands beside the answer, which tells why.
func (c *Control) List(ctx context.Context, req ListRequest) (*Listing, error) {
	repo, err := c.repository(ctx, req.Repository)
	if err != nil {
		return nil, err
	}
	list := &Listing{Repository: req.Repository}
	list.Snapshots, list.Problems, err = describeAll(ctx, repo)
	if err != nil {
		return nil, err
	}
	return list, only(list.Problems)
}

// describeAll describes the snapshots of a repository, and tells of those that
// cannot be read.
func describeAll(ctx context.Context, repo *snapshot.Repository) (all []Snapshot, problems []Problem, err error) {
	found, err := repo.All(ctx)
	if err != nil {
		if problems, err = tellEach(err); err != nil {
			return nil, nil, err
		}
	}
	all = []Snapshot{}
	for _, s := range found {
		all = append(all, describe(s))
	}
	return all, problems, nil
}

// describe makes the public form of a snapshot.
func describe(s *snapshot.Snapshot) Snapshot {
	out := Snapshot{
		Name: s.Name, UUID: s.UUID, State: s.State.String(), Version: s.Version,
		Start: moment(s.Start), End: moment(s.End),
		Indices: append([]string{}, s.Indices...), DataStreams: s.DataStreams, GlobalState: s.GlobalState,
		Shards: ShardCount{Total: s.ShardsTotal, Successful: s.ShardsOK, Failed: max(0, s.ShardsTotal-s.ShardsOK)},
		Reason: s.FailedReason,
	}
	if out.Start != nil && out.End != nil {
		out.DurationMillis = s.End.Sub(s.Start).Milliseconds()
	}
	for _, f := range s.Failures {
		out.Failures = append(out.Failures, Failure(f))
	}
	return out
}

// moment is a time in UTC, nil for the zero time.
func moment(t time.Time) *time.Time {
	if t.IsZero() || t.UnixMilli() == 0 {
		return nil
	}
	t = t.UTC()
	return &t
}
