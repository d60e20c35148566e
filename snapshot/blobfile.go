package snapshot

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"

	"github.com/reshelve/reshelve/internal/fault"
)

// The wrapper of a metadata file is that of a Lucene file: see ChecksumBlobStoreFormat
// of Elasticsearch 7.10 and CodecUtil of Lucene. All numbers are big-endian.
//
//	3f d7 6c 17 · length and name of the codec · version · payload · c0 28 93 e8 · 0 · CRC-32
const (
	headerMagic  = 0x3fd76c17
	footerMagic  = 0xc02893e8
	footerLength = 16
	codecVersion = 1
)

// The codecs of metadata files.
const (
	codecSnapshot = "snapshot"       // of a snapshot, and of a shard in a snapshot
	codecIndex    = "index-metadata" // of an index
	codecGlobal   = "metadata"       // of the cluster
	// codecShardIndex is of what a shard holds in all snapshots.
	codecShardIndex = "snapshots"
)

// largestMetadata is far above the length of any file of metadata that servers write,
// and of the root file that they keep in memory whole.
const largestMetadata = 512 << 20

// readBlob reads a whole blob; memory grows with what arrives. One that is longer than
// any metadata is fault.Refused.
func readBlob(ctx context.Context, b Bucket, key string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.At(err, key)
	}
	r, err := b.Open(ctx, key, 0, -1)
	if err != nil {
		return nil, fault.At(err, key)
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, largestMetadata+1))
	if err == nil && len(data) > largestMetadata {
		data, err = nil, fault.WithNext(fault.New(fault.Refused, "has more than %d bytes, which the metadata of no server have", largestMetadata),
			"look at the file: no server has written it")
	}
	return data, fault.At(err, key)
}

// readMetadata reads the metadata file at key into out, by encoding/json's
// rules. The empty codec stands for the plain JSON of 1.x. A missing file is
// fault.NotFound.
func (r *Repository) readMetadata(ctx context.Context, key, codec string, out any) error {
	_, err := r.readPacked(ctx, key, codec, out)
	return err
}

// readPacked is readMetadata of a file with parts that are compressed again; the
// result expands them.
func (r *Repository) readPacked(ctx context.Context, key, codec string, out any) (*expander, error) {
	data, err := readBlob(ctx, r.bucket, key)
	if err != nil {
		return nil, err
	}
	e, err := decodeMetadata(data, codec, out)
	return e, fault.At(err, key)
}

// decodeMetadata decodes the bytes of one metadata file into out.
func decodeMetadata(data []byte, codec string, out any) (e *expander, err error) {
	e = newExpander(data)
	if codec != "" {
		if data, err = unwrap(data, codec); err != nil {
			return e, err
		}
	}
	if data, err = e.json(data); err != nil {
		return e, err
	}
	return e, decodeJSON(data, out)
}

// decodeJSON decodes one JSON value. Unknown keys are ignored: every release
// adds some. Known ones must have the type that is expected.
func decodeJSON(data []byte, out any) error {
	return understood(json.Unmarshal(data, out))
}

// understood makes damage of an error of encoding/json; an error of ours that came
// through it is kept.
func understood(err error) error {
	var ours *fault.Error
	if err == nil || errors.As(err, &ours) {
		return err
	}
	return fault.New(fault.Corrupt, "cannot be understood: %w", err)
}

// eachElement calls take with the elements of a JSON array, one after the other, so
// that an array of very many that are worth nothing takes no memory.
func eachElement(data []byte, take func(json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return fault.New(fault.Corrupt, "cannot be understood: %.20s… is no array", data)
	}
	for d.More() {
		var element json.RawMessage
		err := d.Decode(&element)
		if err == nil {
			err = take(element)
		}
		if err != nil {
			return understood(err)
		}
	}
	_, err := d.Token()
	return understood(err)
}

// unwrap checks the wrapper of a metadata file and returns its payload.
func unwrap(data []byte, codec string) ([]byte, error) {
	if len(data) < 4 || binary.BigEndian.Uint32(data) != headerMagic {
		return nil, notWrapped(data)
	}
	rest := data[4:]
	n, used := binary.Uvarint(rest)
	if used <= 0 || n > uint64(len(rest)-used) {
		return nil, fault.New(fault.Corrupt, "ends inside the codec name")
	}
	name := string(rest[used : used+int(n)])
	rest = rest[used+int(n):]
	if name != codec {
		return nil, fault.New(fault.Corrupt, "holds %q, expected %q: the file was swapped or damaged", name, codec)
	}
	if len(rest) < 4+footerLength {
		return nil, fault.New(fault.Corrupt, "ends after %d bytes, before its footer", len(data))
	}
	if err := checkFooter(data); err != nil {
		return nil, err
	}
	if version := binary.BigEndian.Uint32(rest); version != codecVersion {
		err := fault.New(fault.Refused, "has version %d of codec %q; version %d is known", version, codec, codecVersion)
		return nil, fault.WithNext(err, "a newer server wrote it: look for a newer release of this program")
	}
	return rest[4 : len(rest)-footerLength], nil
}

func checkFooter(data []byte) error {
	footer := data[len(data)-footerLength:]
	if binary.BigEndian.Uint32(footer) != footerMagic || binary.BigEndian.Uint32(footer[4:]) != 0 {
		return fault.New(fault.Corrupt, "has no footer at offset %d: truncated or overwritten", len(data)-footerLength)
	}
	stored := binary.BigEndian.Uint64(footer[8:])
	if computed := uint64(crc32.ChecksumIEEE(data[:len(data)-8])); computed != stored {
		return fault.New(fault.Corrupt, "footer checksum is %08x, computed %08x", stored, computed)
	}
	return nil
}

// notWrapped tells damage from a file that was never in the format: the parts
// of an encrypted repository look like noise from end to end.
func notWrapped(data []byte) error {
	if looksRandom(data) {
		return encrypted()
	}
	return fault.New(fault.Corrupt, "does not begin with a codec header, but with % x", data[:min(8, len(data))])
}

func encrypted() error {
	err := fault.New(fault.Refused, "its bytes look random: the repository seems to be encrypted by the server or by the client that stored it")
	return fault.WithNext(err, "decrypt the repository, or restore the snapshot in the cluster that holds the key and snapshot it again into a plain repository")
}

// looksRandom tells whether the data has neither a codec footer nor the byte
// statistics of any text, SMILE or zeros. For n random bytes, about
// 256·(1−e^(−n/256)) values are expected; less than 15/16 of them is not noise.
func looksRandom(data []byte) bool {
	const sample, distinctExpected = 512, 221
	if len(data) < sample || binary.BigEndian.Uint32(data[len(data)-footerLength:]) == footerMagic {
		return false
	}
	var seen [256]bool
	distinct := 0
	for _, b := range data[:sample] {
		if !seen[b] {
			seen[b] = true
			distinct++
		}
	}
	return distinct >= distinctExpected*15/16
}
