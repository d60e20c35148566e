package snapshot_test

import (
	"encoding/binary"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/snapshot"
)

// TestNoByteIsReadTwiceAndNoneThatIsNotNeeded watches whole passes over every
// repository: what they read of each blob does not overlap, and is what a pass
// without versions needs of a segment: its description, fields, deletions and
// stored fields. Of a compound file that is some of its members.
func TestNoByteIsReadTwiceAndNoneThatIsNotNeeded(t *testing.T) {
	var read, held, compounds int64
	for _, r := range repositories(t) {
		t.Run(r.name, func(t *testing.T) {
			bucket := r.bucket(t)
			probe := newProbe(bucket)
			for _, shard := range shardsOf(t, probe) {
				probe.reset()
				if _, docs := pass(t, shard, snapshot.ReadOptions{}); docs.Err() != nil {
					t.Fatal(docs.Err())
				}
				read += probe.bytes()
				held += shard.Bytes()
				for i := range shard.Files {
					f := &shard.Files[i]
					key := shard.Path + "/" + f.Blob
					if twice, _ := probe.twice(key); twice > 0 {
						t.Errorf("%s: %d bytes of %s were read twice: %v", shard.Path, twice, f.Name, probe.read[key])
					}
					switch {
					case len(probe.read[key]) == 0:
					case strings.HasSuffix(f.Name, ".cfs"):
						compounds++
						members := membersOf(t, bucket, shard, strings.TrimSuffix(f.Name, ".cfs")+".cfe")
						for _, s := range probe.read[key] {
							checkMember(t, shard, f.Name, members, s)
						}
					case !needed(f.Name):
						t.Errorf("%s: %s was read: %v", shard.Path, f.Name, probe.read[key])
					}
				}
			}
		})
	}
	if compounds < 100 || read*2 > held*3 {
		t.Errorf("%d compound files, %d bytes read of shards of %d", compounds, read, held)
	}
	t.Logf("%d compound files, %d bytes read of shards of %d", compounds, read, held)
}

// needed tells by a name whether a whole pass needs the file; of doc values, those
// of soft deletes, and the metadata of stored fields where documents are so large
// that they lie in several blocks.
func needed(name string) bool {
	return strings.HasPrefix(name, "segments_") || slices.Contains([]string{".si", ".cfe", ".fnm", ".liv", ".del", ".fdt", ".fdm", ".dvm", ".dvd"}, path.Ext(name))
}

// member is a file within a compound file.
type member struct {
	name string
	span
}

func checkMember(t *testing.T, shard *snapshot.Shard, file string, members []member, s span) {
	t.Helper()
	for _, m := range members {
		if s.from >= m.from && s.to <= m.to {
			if !needed(m.name) {
				t.Errorf("%s: %s in %s was read: %v of %v", shard.Path, m.name, file, s, m.span)
			}
			return
		}
	}
	t.Errorf("%s: bytes %v of %s are of no member", shard.Path, s, file)
}

// membersOf reads the entries of a compound file, by the Javadoc of Lucene's
// compound formats: header, count, and of each member name, offset and length.
func membersOf(t *testing.T, bucket snapshot.Bucket, shard *snapshot.Shard, entries string) (members []member) {
	t.Helper()
	stream, err := shard.Open(t.Context(), entries, 0, fileOf(t, shard, entries).Length)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	data := make([]byte, fileOf(t, shard, entries).Length)
	for n := 0; n < len(data); {
		more, err := stream.Read(data[n:])
		if n += more; err != nil && n < len(data) {
			t.Fatal(err)
		}
	}
	codec := string(data[5 : 5+data[4]])
	at := 5 + len(codec) + 4
	var order binary.ByteOrder = binary.BigEndian
	if codec != "CompoundFileWriterEntries" { // of Lucene 4, which have no id
		at += 16 + 1
	}
	if codec == "Lucene90CompoundEntries" {
		order = binary.LittleEndian
	}
	count := int(data[at])
	if at++; count > 127 {
		t.Fatalf("%s: %d members", entries, count)
	}
	for range count {
		size := int(data[at])
		name := string(data[at+1 : at+1+size])
		at += 1 + size
		from := int64(order.Uint64(data[at:]))
		members = append(members, member{name, span{from, from + int64(order.Uint64(data[at+8:]))}})
		at += 16
	}
	return members
}

func fileOf(t *testing.T, shard *snapshot.Shard, name string) *snapshot.File {
	t.Helper()
	for i := range shard.Files {
		if shard.Files[i].Name == name {
			return &shard.Files[i]
		}
	}
	t.Fatalf("%s: no file %s", shard.Path, name)
	return nil
}
