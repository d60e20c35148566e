package snapshot

import (
	"encoding/json"
	"sort"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/xcontent"
)

// knownMinVersion is the newest min_version that repositories were seen with.
const knownMinVersion = "7.12.0"

// root is what the root file says: index-N of 5.0 and later, or index before.
type root struct {
	MinVersion  string               `json:"min_version"`
	UUID        string               `json:"uuid"`
	ClusterID   string               `json:"cluster_id"`
	Snapshots   []rootSnapshot       `json:"snapshots"`
	Indices     map[string]rootIndex `json:"indices"`
	Identifiers map[string]string    `json:"index_metadata_identifiers"` // identifier → blob

	indicesOf map[string][]string // snapshot uuid → names of its indices
}

// rootSnapshot is one snapshot in the root file.
type rootSnapshot struct {
	Name    string            `json:"name"`
	UUID    string            `json:"uuid"`
	State   *State            `json:"state"`                 // from 5.2 on
	Lookup  map[string]string `json:"index_metadata_lookup"` // index id → identifier, from 7.9 on
	Started int64             `json:"start_time_millis"`     // from Elasticsearch 7.14 on
}

// rootIndex is one index in the root file.
type rootIndex struct {
	ID        string    `json:"id"`
	Snapshots []rootRef `json:"snapshots"`
	PathType  pathType  `json:"shard_path_type"` // from OpenSearch 2.17 on
	// Generations has an element for each shard, from 7.6 on.
	Generations []*string `json:"shard_generations"`
}

// rootRef names a snapshot: a uuid, or up to 5.4 an object.
type rootRef struct{ uuid string }

// UnmarshalJSON reads both forms.
func (r *rootRef) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &r.uuid)
	}
	var s rootSnapshot
	err := json.Unmarshal(data, &s)
	r.uuid = s.blob()
	return err
}

// unassigned is the uuid of snapshots that had none when they were made.
const unassigned = "_na_"

// blob is what the snapshot's files are named by.
func (s *rootSnapshot) blob() string {
	if s.UUID == "" || s.UUID == unassigned {
		return s.Name
	}
	return s.UUID
}

// parseRoot reads index-N.
func parseRoot(data []byte) (*root, error) {
	if err := checkPlain(data); err != nil {
		return nil, err
	}
	r := &root{}
	if err := decodeJSON(data, r); err != nil {
		return nil, r.tooNew(err, data)
	}
	return r, r.tooNew(r.check(), data)
}

// parseOldRoot reads index, the list of names that 1.x and 2.x keep.
func parseOldRoot(data []byte) (*root, error) {
	if err := checkPlain(data); err != nil {
		return nil, err
	}
	var old struct {
		Snapshots []string `json:"snapshots"`
	}
	if err := decodeJSON(data, &old); err != nil {
		return nil, err
	}
	r := &root{}
	for _, name := range old.Snapshots {
		r.Snapshots = append(r.Snapshots, rootSnapshot{Name: name})
	}
	return r, r.check()
}

// checkPlain refuses what cannot be a plain JSON file of the root.
func checkPlain(data []byte) error {
	switch {
	case xcontent.Sniff(data) == xcontent.JSON:
		return nil
	case looksRandom(data):
		return encrypted()
	}
	return fault.New(fault.Corrupt, "is no JSON object; it begins with % x", data[:min(8, len(data))])
}

// check compares what the file says here with what it says there.
func (r *root) check() error {
	r.indicesOf = make(map[string][]string, len(r.Snapshots))
	names := make(map[string]bool, len(r.Snapshots))
	for i := range r.Snapshots {
		s := &r.Snapshots[i]
		if err := checkComponent("snapshot", s.blob()); err != nil {
			return err
		}
		if r.indicesOf[s.blob()] != nil || names[s.Name] || s.Name == "" {
			return fault.New(fault.Corrupt, "lists snapshot %q twice, or one without a name", s.Name)
		}
		if s.State != nil && (*s.State < InProgress || *s.State > Incompatible) {
			return fault.New(fault.Corrupt, "snapshot %q has the unknown state %d", s.Name, *s.State)
		}
		r.indicesOf[s.blob()] = []string{}
		names[s.Name] = true
	}
	return r.checkIndices()
}

func (r *root) checkIndices() error {
	ids := make(map[string]string, len(r.Indices))
	for name, index := range r.Indices {
		if err := checkComponent("index id", index.ID); err != nil {
			return fault.At(err, "index "+name)
		}
		if other, ok := ids[index.ID]; ok {
			return fault.New(fault.Corrupt, "indices %q and %q have the same id %s", name, other, index.ID)
		}
		ids[index.ID] = name
		if err := index.PathType.check(); err != nil {
			return fault.At(err, "index "+name)
		}
		for _, ref := range index.Snapshots {
			of := r.indicesOf[ref.uuid]
			if of == nil {
				return fault.New(fault.Corrupt, "index %q belongs to snapshot %s, which is not listed", name, ref.uuid)
			}
			r.indicesOf[ref.uuid] = append(of, name)
		}
	}
	for identifier, blob := range r.Identifiers {
		if err := checkComponent("index metadata blob", blob); err != nil {
			return fault.At(err, "identifier "+identifier)
		}
	}
	return nil
}

// indicesIn are the indices of one snapshot by name; nil when it is not listed.
func (r *root) indicesIn(uuid string) map[string]rootIndex {
	names, ok := r.indicesOf[uuid]
	if !ok {
		return nil
	}
	indices := make(map[string]rootIndex, len(names))
	for _, name := range names {
		indices[name] = r.Indices[name]
	}
	return indices
}

// tooNew turns an error into a refusal when the file itself asks for a newer
// reader.
func (r *root) tooNew(err error, data []byte) error {
	var head struct {
		MinVersion string `json:"min_version"`
	}
	if err == nil || json.Unmarshal(data, &head) != nil || !newerThan(head.MinVersion, knownMinVersion) {
		return err
	}
	err = fault.New(fault.Refused, "asks for version %s at least, and %w; %s is the newest format known", head.MinVersion, err, knownMinVersion)
	return fault.WithNext(err, "look for a newer release of this program")
}

// newerThan compares versions like 7.9.0 by their numbers.
func newerThan(a, b string) bool {
	x, y := numbers(a), numbers(b)
	for i := range x {
		if x[i] != y[i] {
			return x[i] > y[i]
		}
	}
	return false
}

func numbers(version string) (n [3]int) {
	i := 0
	for _, c := range version {
		switch {
		case c == '.':
			i++
		case c < '0' || c > '9':
			return n
		}
		if i == len(n) {
			return n
		}
		if c != '.' && n[i] < 1_000_000 {
			n[i] = n[i]*10 + int(c-'0')
		}
	}
	return n
}

// names are the names of the snapshots, sorted.
func (r *root) names() []string {
	var names []string
	for _, s := range r.Snapshots {
		names = append(names, s.Name)
	}
	sort.Strings(names)
	return names
}
