package snapshot

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"strconv"
	"strings"
	"testing"
)

// wrap puts a payload into the wrapper of a metadata file.
func wrap(codec string, payload []byte) []byte {
	var b bytes.Buffer
	binary.Write(&b, binary.BigEndian, uint32(headerMagic))
	b.WriteByte(byte(len(codec)))
	b.WriteString(codec)
	binary.Write(&b, binary.BigEndian, uint32(codecVersion))
	b.Write(payload)
	return withFooter(b.Bytes())
}

// withFooter appends the footer of a file of Lucene or of metadata.
func withFooter(data []byte) []byte {
	data = binary.BigEndian.AppendUint32(bytes.Clone(data), footerMagic)
	data = binary.BigEndian.AppendUint32(data, 0)
	return binary.BigEndian.AppendUint64(data, uint64(crc32.ChecksumIEEE(data)))
}

// miniature is the text of a small repository: one snapshot, one index of two
// shards, of which the second has a file in three parts. Tests edit the text
// and then build the repository of it.
type miniature map[string]string

// commitFile is what stands for a commit in the miniature.
var commitFile = withFooter([]byte("a commit"))

func newMiniature() miniature {
	sum := strconv.FormatUint(uint64(binary.BigEndian.Uint32(commitFile[len(commitFile)-4:])), 36)
	commit := `{"name":"v__c","physical_name":"segments_1","length":` + strconv.Itoa(len(commitFile)) + `,"checksum":"` + sum +
		`","part_size":9223372036854775807,"written_by":"8.7.0","meta_hash":"` + base64.StdEncoding.EncodeToString(commitFile) + `"}`
	return miniature{
		"index-3": `{"min_version":"7.9.0","snapshots":[{"name":"s","uuid":"S","state":1,"version":"7.10.2","index_metadata_lookup":{"I":"U-_na_-1-1-1"}}],
			"indices":{"books":{"id":"I","snapshots":["S"],"shard_generations":["a","b"]}},"index_metadata_identifiers":{"U-_na_-1-1-1":"M"}}`,
		"index.latest": "\x00\x00\x00\x00\x00\x00\x00\x03",
		"snap-S.dat": `{"snapshot":{"name":"s","uuid":"S","version_id":7100299,"indices":["books"],"state":"SUCCESS","include_global_state":true,
			"start_time":1700000000000,"end_time":1700000001000,"total_shards":2,"successful_shards":2,"failures":[]}}`,
		"meta-S.dat": `{"meta-data":{"templates":{}}}`,
		"indices/I/meta-M.dat": `{"books":{"state":"open","settings":{"index.number_of_shards":"2","index.uuid":"U","index.version.created":"7100299"},
			"mappings":[{"_doc":{"properties":{}}}],"aliases":{}}}`,
		"indices/I/0/snap-S.dat":   `{"name":"s","files":[` + commit + `]}`,
		"indices/I/0/index-a":      `{"files":[` + commit + `],"snapshots":{"s":{"files":["v__c"]}}}`,
		"indices/I/1/snap-S.dat":   `{"name":"s","files":[` + commit + `,{"name":"__x","physical_name":"_0.fdt","length":25,"checksum":"abc","part_size":10,"written_by":"8.7.0"}]}`,
		"indices/I/1/index-b":      `{"files":[],"snapshots":{"s":{"files":["v__c","__x"]}}}`,
		"indices/I/1/__x.part0":    "0123456789",
		"indices/I/1/__x.part1":    "abcdefghij",
		"indices/I/1/__x.part2":    "ABCDE",
		"indices/I/1/index-unused": "{}",
	}
}

// edit replaces text in one file; the text must be there.
func (m miniature) edit(t testing.TB, key, from, to string) miniature {
	t.Helper()
	if !strings.Contains(m[key], from) {
		t.Fatalf("%s does not contain %s", key, from)
	}
	m[key] = strings.Replace(m[key], from, to, 1)
	return m
}

// without takes one file away.
func (m miniature) without(key string) miniature {
	delete(m, key)
	return m
}

// build wraps the metadata files.
func (m miniature) build() *mapBucket {
	b := &mapBucket{blobs: map[string][]byte{}}
	for key, text := range m {
		data := []byte(text)
		switch {
		case strings.HasPrefix(key, "meta-"):
			data = wrap(codecGlobal, data)
		case strings.Contains(key, "snap-") && (text[0] == '{' || strings.HasPrefix(text, "DFL")):
			data = wrap(codecSnapshot, data)
		case strings.Contains(key, "/index-") && text != "{}":
			data = wrap(codecShardIndex, data)
		case strings.Contains(key, "/meta-"):
			data = wrap(codecIndex, data)
		}
		b.blobs[key] = data
	}
	return b
}
