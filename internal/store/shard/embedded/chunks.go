package embedded

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/bits"

	"github.com/cockroachdb/pebble/v2/batchrepr"
)

// Pebble's log and manifest are sequences of chunks in blocks; the format is told in its package record:
// checksum:4, length:2, kind:1, in logs the log's number:4, and up to where the log was synced when the chunk was
// made:8; then the bytes. A file may be one that is used again, with chunks of another log behind those of its own.
const (
	chunkBlock  = 32 << 10
	plainHeader = 7 // of a manifest
	oldHeader   = plainHeader + 4
	logHeader   = oldHeader + 8
)

// chunk is one that is as it was written.
type chunk struct {
	at, end     int64
	first, last bool // of a record
	synced      int64
	data        []byte
}

// chunks are the bytes of a file with a number; 0: of a manifest, whose chunks have none.
type chunks struct {
	data   []byte
	number uint32
}

// header is the shortest one of a chunk that holds something.
func (c chunks) header() int64 {
	if c.number == 0 {
		return plainHeader
	}
	return logHeader
}

// at is the chunk at an offset, which is that of its header; false where there is none that is as it was written.
func (c chunks) at(offset int64) (found chunk, ok bool) {
	block := c.data[offset:min(int64(len(c.data)), offset&^(chunkBlock-1)+chunkBlock)]
	if len(block) < plainHeader {
		return chunk{}, false
	}
	kind, header := block[6], plainHeader
	if kind == 0 || kind > 12 || (c.number == 0) != (kind <= 4) {
		return chunk{}, false
	}
	found.at = offset
	switch {
	case kind > 8:
		header = logHeader
	case kind > 4:
		header = oldHeader
	}
	length := header + int(binary.LittleEndian.Uint16(block[4:]))
	if length > len(block) || c.number != 0 && binary.LittleEndian.Uint32(block[7:]) != c.number {
		return chunk{}, false
	}
	sum := crc32.Checksum(block[6:length], crc32.MakeTable(crc32.Castagnoli))
	if bits.RotateLeft32(sum, -15)+0xa282ead8 != binary.LittleEndian.Uint32(block) {
		return chunk{}, false
	}
	if header == logHeader {
		found.synced = int64(binary.LittleEndian.Uint64(block[11:]))
	}
	place := (kind - 1) % 4 // full, first, middle, last
	found.first, found.last = place < 2, place == 0 || place == 3
	found.end, found.data = offset+int64(length), block[header:length]
	return found, true
}

// tail is where the first chunk is missing that reading the file from its beginning would take next.
func (c chunks) tail() (offset int64) {
	for offset < int64(len(c.data)) {
		block := c.data[offset:min(int64(len(c.data)), offset&^(chunkBlock-1)+chunkBlock)]
		if full := (offset+int64(len(block)))%chunkBlock == 0; full && len(block) < int(logHeader) && padding(block) {
			offset += int64(len(block))
			continue
		}
		found, ok := c.at(offset)
		if !ok {
			break
		}
		offset = found.end
	}
	return offset
}

// padding reports whether the rest of a block, in which there is no room for a chunk, is skipped by those who read it.
func padding(rest []byte) bool {
	if len(rest) < plainHeader {
		return true
	}
	for i, b := range rest {
		if b != 0 && (i < plainHeader || len(rest) >= oldHeader) {
			return false
		}
	}
	return true
}

// behind are the chunks of the file's own from an offset on, wherever they begin.
func (c chunks) behind(offset int64) (all []chunk) {
	for offset < int64(len(c.data)) {
		if c.number != 0 { // which stands in each
			next := bytes.Index(c.data[min(offset+plainHeader, int64(len(c.data))):], binary.LittleEndian.AppendUint32(nil, c.number))
			if next < 0 {
				break
			}
			offset += int64(next)
		}
		found, ok := c.at(offset)
		if !ok {
			offset++
			continue
		}
		all = append(all, found)
		offset = found.end
	}
	return all
}

// rowsIn counts the records that are whole among chunks, and the documents that they put or delete.
func rowsIn(all []chunk) (records, rows int) {
	var record []byte
	begun := false
	for i, c := range all {
		if c.first {
			record, begun = record[:0], true
		} else if i == 0 || all[i-1].end != c.at && c.at%chunkBlock != 0 {
			begun = false
		}
		if record = append(record, c.data...); !c.last || !begun {
			continue
		}
		begun = false
		records++
		if len(record) < batchrepr.HeaderLen {
			continue
		}
		for r := batchrepr.Read(record); ; {
			_, key, value, ok, err := r.Next()
			if !ok || err != nil {
				break
			}
			if len(key) > 0 && key[0] == rowSpace && value != nil {
				rows++
			}
		}
	}
	return records, rows
}
