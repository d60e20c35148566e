package snapshot

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

// snapFile is the file of one snapshot. Times are milliseconds since 1970.
type snapFile struct {
	Name        string      `json:"name"`
	UUID        string      `json:"uuid"`
	VersionID   versionID   `json:"version_id"`
	Indices     nameList    `json:"indices"`
	DataStreams []string    `json:"data_streams"`
	State       string      `json:"state"`
	Reason      string      `json:"reason"`
	Global      *bool       `json:"include_global_state"` // from 6.2 on; before, as if true
	Start       int64       `json:"start_time"`
	End         int64       `json:"end_time"`
	Total       int         `json:"total_shards"`
	Successful  int         `json:"successful_shards"`
	Failures    failureList `json:"failures"`
	// PinnedTimestamp is set by OpenSearch in snapshots that only pin the state of
	// a remote segment store.
	PinnedTimestamp int64 `json:"pinned_timestamp"`
	// Shallow is set by OpenSearch where shards of indices in a remote store are
	// only pointed at.
	Shallow bool `json:"remote_store_index_shallow_copy"`
}

// nameList are the names of a snapshot's indices.
type nameList []string

// UnmarshalJSON reads an array of texts, none of them empty.
func (l *nameList) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	*l = nameList{}
	return eachElement(data, func(element json.RawMessage) error {
		var name string
		if err := decodeJSON(element, &name); err != nil {
			return err
		}
		if name == "" {
			return fault.New(fault.Corrupt, "lists an index without a name")
		}
		*l = append(*l, name)
		return nil
	})
}

// failureList are the shards that a snapshot does not hold.
type failureList []Failure

// UnmarshalJSON reads an array of objects, which all name their index.
func (l *failureList) UnmarshalJSON(data []byte) error {
	*l = nil
	if string(data) == "null" {
		return nil
	}
	return eachElement(data, func(element json.RawMessage) error {
		var f struct {
			Index  string `json:"index"`
			Shard  int    `json:"shard_id"`
			Reason string `json:"reason"`
		}
		if err := decodeJSON(element, &f); err != nil {
			return err
		}
		if f.Index == "" {
			return fault.New(fault.Corrupt, "a failure names no index")
		}
		*l = append(*l, Failure(f))
		return nil
	})
}

// layout is how the files of one snapshot are named.
type layout struct {
	id    string // in file names: the UUID, or the name before 5.0
	plain bool   // 1.x: no .dat, and plain JSON inside
}

func (l layout) snapKey() string {
	if l.plain {
		return "snapshot-" + l.id
	}
	return "snap-" + l.id + ".dat"
}

func (l layout) globalKey() string {
	if l.plain {
		return "metadata-" + l.id
	}
	return l.metaKey()
}

// metaKey names an index's metadata below its folder, where no identifier does.
func (l layout) metaKey() string {
	if l.plain {
		return "snapshot-" + l.id
	}
	return "meta-" + l.id + ".dat"
}

func (l layout) codec(name string) string {
	if l.plain {
		return ""
	}
	return name
}

// states are the texts of State in snapshot files.
var states = map[string]State{
	"IN_PROGRESS":  InProgress,
	"SUCCESS":      Success,
	"FAILED":       Failed,
	"PARTIAL":      Partial,
	"INCOMPATIBLE": Incompatible,
}

// String is the state as the servers write it.
func (s State) String() string {
	for text, state := range states {
		if s == state {
			return text
		}
	}
	return fmt.Sprintf("State(%d)", int(s))
}

// load reads the snapshot that the root file lists.
func (r *Repository) load(ctx context.Context, entry rootSnapshot) (*Snapshot, error) {
	s, err := r.loadAs(ctx, entry, layout{id: entry.blob()})
	if fault.Is(err, fault.NotFound) && entry.blob() == entry.Name {
		if s, err = r.loadAs(ctx, entry, layout{id: entry.Name, plain: true}); err == nil {
			return s, s.countShards(ctx)
		}
	}
	return s, r.orDeleted(ctx, entry, dangling(err, "the root file (generation %d) names snapshot %q, but %s is missing", r.Generation, entry.Name, layout{id: entry.blob()}.snapKey()))
}

// countShards reads the metadata of all indices for CheckShards. The files of
// 1.x have no checksum, and a damaged list of indices would silently be a
// shorter one.
func (s *Snapshot) countShards(ctx context.Context) error {
	var indices []*Index
	for _, name := range s.Indices {
		index, err := s.Index(ctx, name)
		if err != nil {
			return err
		}
		indices = append(indices, index)
	}
	return s.CheckShards(indices)
}

// CheckShards compares the shards of all indices of the snapshot with the number
// that the snapshot promises; a difference is Corrupt. Only snapshots that ended
// promise it.
func (s *Snapshot) CheckShards(indices []*Index) error {
	shards := 0
	for _, index := range indices {
		shards += index.Shards
	}
	if shards != s.ShardsTotal && (s.State == Success || s.State == Partial) {
		return fault.New(fault.Corrupt, "%s: promises %d shards, its indices have %d", s.layout.snapKey(), s.ShardsTotal, shards)
	}
	return nil
}

// loadIncompatible reads a snapshot that later servers set aside. It is whole
// where its file can be read, and only a name where it cannot.
func (r *Repository) loadIncompatible(ctx context.Context, entry rootSnapshot) (*Snapshot, error) {
	s, err := r.load(ctx, entry)
	switch fault.KindOf(err) {
	case fault.Corrupt, fault.Refused, fault.NotFound:
	default:
		return s, err
	}
	if err == nil {
		return s, nil
	}
	return &Snapshot{Name: entry.Name, UUID: entry.blob(), State: Incompatible, FailedReason: err.Error(), repo: r}, nil
}

func (r *Repository) loadAs(ctx context.Context, entry rootSnapshot, l layout) (*Snapshot, error) {
	var file struct {
		Snapshot *snapFile `json:"snapshot"`
	}
	key := l.snapKey()
	if err := r.readMetadata(ctx, key, l.codec(codecSnapshot), &file); err != nil {
		return nil, err
	}
	if file.Snapshot == nil {
		return nil, fault.At(fault.New(fault.Corrupt, `has no key "snapshot"`), key)
	}
	s := &Snapshot{repo: r, layout: l, lookup: entry.Lookup, indexOf: r.root.indicesIn(entry.blob())}
	if err := s.fill(file.Snapshot); err != nil {
		return nil, fault.At(err, key)
	}
	return s, fault.At(s.compare(entry, file.Snapshot), key)
}

// fill takes what the file says.
func (s *Snapshot) fill(f *snapFile) error {
	state, ok := states[f.State]
	if !ok {
		return fault.New(fault.Corrupt, "the state %q is unknown", f.State)
	}
	s.Name, s.UUID, s.State, s.FailedReason = f.Name, s.layout.id, state, f.Reason
	s.Version, s.version = f.VersionID.String(), f.VersionID
	s.Start, s.End = millis(f.Start), millis(f.End)
	s.Indices = append([]string{}, f.Indices...)
	sort.Strings(s.Indices)
	s.DataStreams = f.DataStreams
	sort.Strings(s.DataStreams)
	s.GlobalState = f.Global == nil || *f.Global
	s.ShardsTotal, s.ShardsOK = f.Total, f.Successful
	s.Failures = f.Failures
	s.pinned, s.shallow = f.PinnedTimestamp > 0, f.Shallow
	return nil
}

func millis(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// compare holds the snapshot's own file against the root file.
func (s *Snapshot) compare(entry rootSnapshot, f *snapFile) error {
	if s.Name != entry.Name {
		return fault.New(fault.Corrupt, "is of snapshot %q; the root file says %q", s.Name, entry.Name)
	}
	if f.UUID != "" && f.UUID != unassigned && entry.UUID != "" && entry.UUID != unassigned && f.UUID != entry.UUID {
		return fault.New(fault.Corrupt, "is of the snapshot with UUID %s; the root file says %s", f.UUID, entry.UUID)
	}
	if entry.State != nil && *entry.State != s.State {
		return fault.New(fault.Corrupt, "has the state %s; the root file says %s", s.State, *entry.State)
	}
	if f.Indices == nil {
		return fault.New(fault.Corrupt, `has no key "indices"`)
	}
	if entry.Started > 0 && entry.Started != f.Start {
		return fault.New(fault.Corrupt, "began at %d; the root file says %d", f.Start, entry.Started)
	}
	if f.Total < 0 || f.Successful < 0 || f.Successful > f.Total {
		return fault.New(fault.Corrupt, "counts %d successful shards of %d", f.Successful, f.Total)
	}
	for i, name := range s.Indices {
		if i > 0 && s.Indices[i-1] == name {
			return fault.New(fault.Corrupt, "lists index %q twice", name)
		}
	}
	return s.compareIndices()
}

// compareIndices holds the list of indices against the root file's. Before 5.0
// the root file has none, and index folders are named by the index.
func (s *Snapshot) compareIndices() error {
	if s.repo.Generation < 0 || s.indexOf == nil {
		s.indexOf = make(map[string]rootIndex, len(s.Indices))
		for _, name := range s.Indices {
			if err := checkComponent("index", name); err != nil {
				return err
			}
			s.indexOf[name] = rootIndex{ID: name}
		}
		return nil
	}
	listed := make(map[string]bool, len(s.Indices))
	for _, name := range s.Indices {
		listed[name] = true
		if _, ok := s.indexOf[name]; !ok && s.State == Success {
			return fault.New(fault.Corrupt, "lists index %q; the root file does not say so", name)
		}
	}
	for name := range s.indexOf {
		if !listed[name] && s.State == Success {
			return fault.New(fault.Corrupt, "does not list index %q; the root file says that it holds it", name)
		}
	}
	return nil
}

// Failure finds the shard among those that the snapshot says it does not hold.
func (s *Snapshot) Failure(index string, shard int) (Failure, bool) {
	for _, f := range s.Failures {
		if f.Index == index && f.Shard == shard {
			return f, true
		}
	}
	return Failure{}, false
}

// Complete is nil when every shard is in the snapshot. Else it is fault.Refused
// and names the shards that are not.
func (s *Snapshot) Complete() error {
	if s.State == Success && len(s.Failures) == 0 && s.ShardsOK == s.ShardsTotal {
		return nil
	}
	err := fault.New(fault.Refused, "snapshot %q is not complete: state %s, %d of %d shards%s", s.Name, s.State, s.ShardsOK, s.ShardsTotal, s.shortfall())
	switch s.State {
	case InProgress:
		return fault.WithNext(err, "wait until it is done; or read what is there with --allow-partial")
	case Incompatible:
		return fault.WithNext(err, "its files are not readable here: open the repository with a server of the version that made it")
	}
	return fault.WithNext(err, "take another snapshot, or read the shards that are there with --allow-partial")
}

// shortfall says why, and which shards are missing.
func (s *Snapshot) shortfall() string {
	text := ""
	if s.FailedReason != "" {
		text = " (" + s.FailedReason + ")"
	}
	var missing []string
	for _, f := range s.Failures {
		missing = append(missing, fmt.Sprintf("%s/%d (%s)", f.Index, f.Shard, f.Reason))
	}
	if len(missing) > 0 {
		text += "; missing: " + enumerate(missing)
	}
	return text
}
