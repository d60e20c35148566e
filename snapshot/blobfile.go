package snapshot

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"io"

	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/xcontent"
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
)

// readBlob reads a whole blob; memory grows with what arrives.
func readBlob(ctx context.Context, b Bucket, key string) ([]byte, error) {
	r, err := b.Open(ctx, key, 0, -1)
	if err != nil {
		return nil, fault.At(err, key)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	return data, fault.At(err, key)
}

// readMetadata reads the metadata file at key into out, by encoding/json's
// rules. The empty codec stands for the plain JSON of 1.x. A missing file is
// fault.NotFound.
func (r *Repository) readMetadata(ctx context.Context, key, codec string, out any) error {
	data, err := readBlob(ctx, r.bucket, key)
	if err != nil {
		return err
	}
	return fault.At(decodeMetadata(data, codec, out), key)
}

// decodeMetadata decodes the bytes of one metadata file into out.
func decodeMetadata(data []byte, codec string, out any) (err error) {
	if codec != "" {
		if data, err = unwrap(data, codec); err != nil {
			return err
		}
	}
	if data, err = plainJSON(data); err != nil {
		return err
	}
	return decodeJSON(data, out)
}

// plainJSON undoes compression and turns any x-content into JSON.
func plainJSON(data []byte) ([]byte, error) {
	plain, err := xcontent.Expand(data)
	if err != nil {
		return nil, fault.Wrap(fault.Corrupt, err)
	}
	if xcontent.Sniff(plain) == xcontent.JSON {
		return plain, nil
	}
	out, err := xcontent.ToJSON(nil, plain)
	return out, fault.Wrap(fault.Corrupt, err)
}

// decodeJSON decodes one JSON value. Unknown keys are ignored: every release
// adds some. Known ones must have the type that is expected.
func decodeJSON(data []byte, out any) error {
	if err := json.Unmarshal(data, out); err != nil {
		return fault.New(fault.Corrupt, "cannot be understood: %w", err)
	}
	return nil
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
