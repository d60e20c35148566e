package control

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/memory"
)

// metadataFile wraps JSON as the servers wrap a metadata file.
func metadataFile(codec, text string) []byte {
	data := binary.BigEndian.AppendUint32(nil, 0x3fd76c17)
	data = append(append(data, byte(len(codec))), codec...)
	data = append(binary.BigEndian.AppendUint32(data, 1), text...)
	data = binary.BigEndian.AppendUint64(data, 0xc02893e8<<32)
	return binary.BigEndian.AppendUint64(data, uint64(crc32.ChecksumIEEE(data)))
}

// mixture is a repository of three indices, of which a and c are mounted.
func mixture() memory.Bucket {
	bucket := memory.Bucket{
		"index-0": []byte(`{"snapshots":[{"name":"s","uuid":"S","state":1}],
			"indices":{"a":{"id":"A","snapshots":["S"]},"b":{"id":"B","snapshots":["S"]},"c":{"id":"C","snapshots":["S"]}}}`),
		"snap-S.dat": metadataFile("snapshot", `{"snapshot":{"name":"s","uuid":"S","version_id":8150099,"indices":["a","b","c"],"state":"SUCCESS",
			"include_global_state":false,"start_time":1700000000000,"end_time":1700000001000,"total_shards":3,"successful_shards":3}}`),
	}
	for name, more := range map[string]string{"a": `"index.store.type":"snapshot","index.store.snapshot.snapshot_name":"cold",`, "b": "",
		"c": `"index.store.type":"snapshot","index.store.snapshot.snapshot_name":"colder",`} {
		bucket["indices/"+strings.ToUpper(name)+"/meta-S.dat"] = metadataFile("index-metadata",
			`{"`+name+`":{"state":"open","settings":{`+more+`"index.number_of_shards":"1","index.version.created":"8150099"},"mappings":[]}}`)
	}
	return bucket
}

// What is asked of indices whose documents lie elsewhere is refused at once, and
// the refusal names them all.
func TestAllIndicesThatLieElsewhereAreNamed(t *testing.T) {
	ctl := New(Wiring{Blobs: map[string]blob.Opener{"memory": func(context.Context, blob.Location) (blob.Bucket, error) { return mixture(), nil }}})
	read := func(indices ...string) error {
		docs, err := ctl.Read(t.Context(), ReadRequest{Selection: Selection{Repository: "memory://x", Indices: indices}}, Watch{})
		if err == nil {
			docs.Close()
		}
		return err
	}
	err := read()
	if !fault.Is(err, fault.Refused) || fault.Next(err) != "read that snapshot instead, or choose other indices with --index" {
		t.Fatalf("%v, kind %v: %s", err, fault.KindOf(err), fault.Next(err))
	}
	for _, says := range []string{`index a: a mounted searchable snapshot`, `snapshot "cold" of`, `; index c: a mounted searchable snapshot`, `snapshot "colder" of`} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%v\nlacks %s", err, says)
		}
	}
	if err := read("b"); err != nil {
		t.Errorf("of the others: %v", err)
	}
}
