package snapshot

import (
	"context"
	"encoding/json"
	"sort"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
)

// indexFile is the metadata of one index.
type indexFile struct {
	State    string          `json:"state"`
	Settings json.RawMessage `json:"settings"`
	Mappings json.RawMessage `json:"mappings"`
	Aliases  json.RawMessage `json:"aliases"`
	// Split is of OpenSearch from 3.1 on: an index whose shards were split in place
	// has other shard numbers than 0 to n−1.
	Split *struct {
		Active []int `json:"active_shard_ids"`
	} `json:"split_shards_metadata"`
}

// maxShards is far above what servers allow (1024) and bounds loops over shards.
const maxShards = 1 << 16

// Index reads the metadata of the named index. An index that is not in the
// snapshot is fault.NotFound and the message lists what is.
func (s *Snapshot) Index(ctx context.Context, name string) (*Index, error) {
	entry, ok := s.indexOf[name]
	if !ok {
		err := fault.New(fault.NotFound, "no index %q in snapshot %q; it holds %s", name, s.Name, enumerate(s.Indices))
		return nil, fault.WithNext(err, "name one of these")
	}
	i := &Index{Name: name, ID: entry.ID, snapshot: s, folder: "indices/" + entry.ID, pathType: entry.PathType}
	key, identifier, err := s.indexMetadataKey(i)
	if err != nil {
		return nil, err
	}
	var file map[string]indexFile
	e, err := s.repo.readPacked(ctx, key, s.layout.codec(codecIndex), &file)
	if err != nil {
		lost := s.orDeleted(ctx, dangling(err, "snapshot %q holds index %q, but %s is missing", s.Name, name, key))
		if fault.Is(err, fault.NotFound) && fault.Is(lost, fault.Corrupt) && s.mayLack(name, -1) {
			return nil, fault.At(fault.New(fault.NotFound, "is not in snapshot %q, whose state is %s", s.Name, s.State), "index "+name)
		}
		return nil, lost
	}
	meta, ok := file[name]
	if !ok || len(file) != 1 {
		return nil, fault.At(fault.New(fault.Corrupt, "does not hold the metadata of index %q alone", name), key)
	}
	if err := i.fill(&meta, e); err != nil {
		return nil, fault.At(err, key)
	}
	if identifier != "" && i.UUID != "" && !strings.HasPrefix(identifier, i.UUID+"-") {
		return nil, fault.At(fault.New(fault.Corrupt, "is of the index with UUID %s; the root file says %s", i.UUID, identifier), key)
	}
	return i, fault.At(s.checkShardCount(ctx, i, entry, identifier != ""), key)
}

// checkShardCount compares the number of shards that an index's metadata gives with the snapshot itself. The root file
// lists as many shards as the largest index of that name ever had in any snapshot: an index may have been deleted and
// made again with fewer. Fewer are listed than a complete snapshot holds only where something is damaged. Metadata that
// the root file ties to the UUID of the index (named) cannot be those of another one of that name; others, of servers
// before 7.9, could give fewer shards than the snapshot holds, whose documents would be lost: then there is one more.
func (s *Snapshot) checkShardCount(ctx context.Context, i *Index, entry rootIndex, named bool) error {
	if listed := len(entry.Generations); listed > 0 && listed < i.Shards && s.State == Success {
		return fault.New(fault.Corrupt, "says that the index has %d shards; the root file lists %d", i.Shards, listed)
	}
	if named || s.layout.plain { // 1.x: countShards compares them all
		return nil
	}
	next := i.shardPath(i.Shards) + "/" + s.layout.snapKey()
	there, err := exists(ctx, s.repo.bucket, next)
	if there {
		err = fault.New(fault.Corrupt, "says that the index has %d shards, but %s is there: the file was swapped", i.Shards, next)
	}
	return err
}

// indexMetadataKey finds the file of an index's metadata. From 7.9 on the root
// file may name it, and several snapshots share it.
func (s *Snapshot) indexMetadataKey(i *Index) (key, identifier string, err error) {
	identifier, ok := s.lookup[i.ID]
	if !ok {
		return i.folder + "/" + s.layout.metaKey(), "", nil
	}
	blob, ok := s.repo.root.Identifiers[identifier]
	if !ok {
		return "", "", fault.New(fault.Corrupt, "%s: index %q has the metadata %s in snapshot %q, which index_metadata_identifiers lacks", generationKey(s.repo.Generation), i.Name, identifier, s.Name)
	}
	return i.folder + "/meta-" + blob + ".dat", identifier, nil
}

// fill takes what the file says; e expands its parts.
func (i *Index) fill(f *indexFile, e *expander) (err error) {
	i.Open = f.State != "close"
	if i.Setting, err = flatten(f.Settings); err != nil {
		return fault.At(err, "settings")
	}
	i.UUID = i.Setting["index.uuid"]
	if i.UUID == unassigned {
		i.UUID = ""
	}
	i.Shards, err = strconv.Atoi(i.Setting["index.number_of_shards"])
	if err != nil || i.Shards < 1 || i.Shards > maxShards {
		return fault.New(fault.Corrupt, "settings: index.number_of_shards is %q", i.Setting["index.number_of_shards"])
	}
	if f.Split != nil && !consecutive(f.Split.Active, i.Shards) {
		err := fault.At(fault.New(fault.Refused, "its shards were split in place and have the numbers %v", f.Split.Active), "index "+i.Name)
		return fault.WithNext(err, "look for a newer release of this program, or reindex in the cluster and snapshot again")
	}
	if err := i.fillCreated(); err != nil {
		return fault.At(err, "settings")
	}
	byType, err := e.mappings(f.Mappings)
	if err == nil {
		if i.SourceOnly() {
			byType = originalMappings(byType)
		}
		err = i.fillTypes(byType)
	}
	if err != nil {
		return fault.At(err, "mappings")
	}
	i.source = i.judgeSource(byType)
	i.Aliases, err = e.aliases(f.Aliases)
	return fault.At(err, "aliases")
}

// fillCreated takes the version that created the index. How its sources are read depends on it (see bareNames), and
// in a snapshot of 1.x, whose files have no checksum, damage can turn one number into another. There a version that
// such a server cannot have met is refused; all others have sources that are read in the same way.
func (i *Index) fillCreated() error {
	text := i.Setting["index.version.created"]
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fault.New(fault.Corrupt, "index.version.created is %q", text)
	}
	i.created = versionID(id)
	i.Created = i.created.String()
	if i.snapshot.layout.plain && !i.created.upTo1x() {
		return fault.New(fault.Corrupt, "index.version.created is %q, but a server of 1.x made the snapshot", text)
	}
	return nil
}

// consecutive tells whether the numbers are 0 to n−1, or none are given.
func consecutive(numbers []int, n int) bool {
	for i, number := range numbers {
		if number != i {
			return false
		}
	}
	return len(numbers) == 0 || len(numbers) == n
}

// SourceOnly tells whether the snapshot went to a repository of the type source:
// its shards have stored fields and deletions, and nothing else.
func (i *Index) SourceOnly() bool { return i.Setting["index.source_only"] == "true" }

// fillTypes makes Mappings and Types of the mappings by type.
func (i *Index) fillTypes(byType map[string]json.RawMessage) (err error) {
	if i.created.typed() {
		i.Types = []string{}
		for name := range byType {
			if name != defaultMapping {
				i.Types = append(i.Types, name)
			}
		}
		sort.Strings(i.Types)
	}
	if i.snapshot.version.typed() {
		i.Mappings, err = json.Marshal(byType)
		return err
	}
	if len(byType) > 1 {
		return fault.New(fault.Corrupt, "%d mapping types, but the server that made the snapshot knows one at most", len(byType))
	}
	i.Mappings = json.RawMessage("{}")
	for _, mapping := range byType {
		i.Mappings = mapping
	}
	return nil
}
