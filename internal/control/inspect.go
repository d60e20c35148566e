package control

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot"
)

// InspectRequest asks what a snapshot holds.
type InspectRequest struct {
	Repository string   // a location; see package blob
	Snapshot   string   // name or UUID; "": the newest successful one
	Indices    []string // patterns; none: all indices
}

// Inspection is the answer of [Control.Inspect].
type Inspection struct {
	Repository string     `json:"repository"`
	Snapshots  []Snapshot `json:"snapshots"` // all of the repository, oldest first
	// Problems tell of the other snapshots, and of the global state, where they
	// cannot be read.
	Problems []Problem `json:"problems,omitempty"`
	Snapshot Snapshot  `json:"snapshot"` // the one that is inspected
	Indices  []Index   `json:"indices"`  // ordered by the bytes of their names
	Global   *Global   `json:"global"`
}

// Index is one index of a snapshot. Documents and Deleted count as the servers'
// listings of indices do: by Lucene document. With nested fields those are more
// than the documents that Read yields.
type Index struct {
	Name      string `json:"index"`
	ID        string `json:"id"` // its folder in the repository
	UUID      string `json:"uuid,omitempty"`
	Open      bool   `json:"open"`
	Created   string `json:"created"`   // version of the server that created it
	Documents int64  `json:"documents"` // live Lucene documents
	Deleted   int64  `json:"deleted"`   // deleted and not yet merged away, soft deletes included
	Nested    bool   `json:"nested"`    // the mapping has nested fields
	Bytes     int64  `json:"bytes"`     // of all files
	Files     int    `json:"files"`

	Lucene       []string `json:"lucene"`       // versions that wrote its segments
	Codecs       []string `json:"codecs"`       // of its segments
	StoredFields []string `json:"storedFields"` // formats in which its documents are stored

	Shards   []Shard           `json:"shards"`
	Types    []string          `json:"types,omitempty"` // mapping types, where the version has them
	Mappings json.RawMessage   `json:"mappings,omitempty"`
	Settings map[string]string `json:"settings"` // flat, with the prefix "index."
	Aliases  json.RawMessage   `json:"aliases,omitempty"`
	Problem  *Problem          `json:"problem,omitempty"` // why the index could not be looked at
}

// Shard is one shard of an index.
type Shard struct {
	Number    int       `json:"shard"`
	State     string    `json:"state"` // SUCCESS; FAILED: the snapshot does not hold it; DAMAGED; REFUSED: not supported
	Path      string    `json:"path,omitempty"`
	Documents int64     `json:"documents"`
	Deleted   int64     `json:"deleted"`
	Bytes     int64     `json:"bytes"`
	Files     int       `json:"files"`
	Segments  []Segment `json:"segments"`
	Problem   *Problem  `json:"problem,omitempty"`
}

// Segment is one Lucene segment of a shard, in commit order.
type Segment struct {
	Name         string `json:"segment"`
	Lucene       string `json:"lucene"`
	Codec        string `json:"codec"`
	StoredFields string `json:"storedFields"`
	Compound     bool   `json:"compound"`
	Sorted       bool   `json:"sorted"`
	MaxDoc       int64  `json:"maxDoc"` // document numbers, deleted and nested ones included
	Documents    int64  `json:"documents"`
	Deleted      int64  `json:"deleted"`
	SoftDeleted  int64  `json:"softDeleted"`
	StoredBytes  int64  `json:"storedBytes"`
}

// Global is the cluster state in a snapshot, each part as the repository holds
// it; without global state only data streams.
type Global struct {
	Templates           json.RawMessage `json:"templates,omitempty"` // legacy index templates, by name
	ComposableTemplates json.RawMessage `json:"composableTemplates,omitempty"`
	ComponentTemplates  json.RawMessage `json:"componentTemplates,omitempty"`
	DataStreams         json.RawMessage `json:"dataStreams,omitempty"`
	DataStreamAliases   json.RawMessage `json:"dataStreamAliases,omitempty"`
	Settings            json.RawMessage `json:"settings,omitempty"` // persistent cluster settings
	Ingest              json.RawMessage `json:"ingest,omitempty"`   // ingest pipelines
}

// Inspect tells what a snapshot holds, in whatever state it is, without reading
// a document. A part that is damaged or not supported is told as such, and the rest
// goes on; the error then stands beside the answer.
func (c *Control) Inspect(ctx context.Context, req InspectRequest) (*Inspection, error) {
	repo, err := c.repository(ctx, req.Repository)
	if err != nil {
		return nil, err
	}
	snap, err := repo.Find(ctx, req.Snapshot)
	if err != nil {
		return nil, err
	}
	names, err := selectIndices(snap.Indices, req.Indices)
	if err != nil {
		return nil, err
	}
	out := &Inspection{Repository: req.Repository, Snapshot: describe(snap), Indices: make([]Index, len(names))}
	if out.Snapshots, out.Problems, err = describeAll(ctx, repo); err != nil {
		return nil, err
	}
	global, err := snap.Global(ctx)
	if err != nil {
		problems, err := tellEach(err)
		if err != nil {
			return nil, err
		}
		out.Problems = append(out.Problems, problems...)
	}
	out.Global = (*Global)(global)
	for i, name := range names {
		if out.Indices[i], err = inspectIndex(ctx, snap, name); err != nil {
			return nil, err
		}
	}
	return out, only(out.allProblems())
}

// inspectIndex looks at one index and its shards, several at a time.
func inspectIndex(ctx context.Context, snap *snapshot.Snapshot, name string) (Index, error) {
	const parallel = 8
	idx, err := snap.Index(ctx, name)
	if err != nil {
		problem, err := tellable(err)
		return Index{Name: name, Problem: problem, Lucene: []string{}, Codecs: []string{}, StoredFields: []string{}, Shards: []Shard{}}, err
	}
	out := Index{
		Name: name, ID: idx.ID, UUID: idx.UUID, Open: idx.Open, Created: idx.Created,
		Shards: make([]Shard, idx.Shards), Types: idx.Types,
		Nested: hasNested(idx.Mappings), Mappings: idx.Mappings, Settings: idx.Setting, Aliases: idx.Aliases,
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for n := range out.Shards {
		group.Go(func() (err error) {
			out.Shards[n], err = inspectShard(ctx, snap, idx, n)
			return err
		})
	}
	err = group.Wait()
	out.sum()
	return out, err
}

func inspectShard(ctx context.Context, snap *snapshot.Snapshot, idx *snapshot.Index, n int) (Shard, error) {
	out := Shard{Number: n, State: "SUCCESS", Segments: []Segment{}}
	if f, absent := snap.Failure(idx.Name, n); absent {
		out.State = "FAILED"
		out.Problem = &Problem{Kind: fault.NotFound.String(), Message: "the snapshot does not hold the shard: " + f.Reason}
		return out, nil
	}
	sh, err := idx.Shard(ctx, n)
	var sum *snapshot.ShardSummary
	if err == nil {
		out.Path, out.Files = sh.Path, len(sh.Files)
		for _, f := range sh.Files {
			out.Bytes += f.Length
		}
		sum, err = sh.Summary(ctx)
	}
	if err != nil {
		out.Problem, err = tellable(err)
		out.State = "DAMAGED"
		if out.Problem != nil && out.Problem.Kind == fault.Refused.String() {
			out.State = "REFUSED"
		}
		return out, err
	}
	out.Documents, out.Deleted = sum.Live(), sum.Deleted()
	for _, s := range sum.Segments {
		out.Segments = append(out.Segments, Segment{
			Name: s.Name, Lucene: s.LuceneVersion, Codec: s.Codec, StoredFields: s.StoredFormat,
			Compound: s.Compound, Sorted: s.Sorted, MaxDoc: int64(s.MaxDoc), Documents: s.Live(),
			Deleted: int64(s.Deleted), SoftDeleted: int64(s.SoftDeleted), StoredBytes: s.StoredBytes,
		})
	}
	return out, nil
}

// sum fills what the index has from its shards.
func (x *Index) sum() {
	lucene, codecs, stored := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, sh := range x.Shards {
		x.Documents += sh.Documents
		x.Deleted += sh.Deleted
		x.Bytes += sh.Bytes
		x.Files += sh.Files
		for _, s := range sh.Segments {
			lucene[s.Lucene], codecs[s.Codec], stored[s.StoredFields] = true, true, true
		}
	}
	x.Lucene, x.Codecs, x.StoredFields = keys(lucene), keys(codecs), keys(stored)
}

// keys are a set's members, sorted; never nil, for JSON.
func keys(set map[string]bool) []string {
	return append([]string{}, slices.Sorted(maps.Keys(set))...)
}

// allProblems are those of indices and shards too; shards that the snapshot does not
// claim to hold are none.
func (i *Inspection) allProblems() []Problem {
	all := slices.Clone(i.Problems)
	for _, x := range i.Indices {
		if x.Problem != nil {
			all = append(all, *x.Problem)
		}
		for _, sh := range x.Shards {
			if sh.Problem != nil && sh.Problem.err != nil {
				all = append(all, *sh.Problem)
			}
		}
	}
	return all
}
