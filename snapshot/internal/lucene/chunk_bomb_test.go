package lucene

import (
	"context"
	"encoding/binary"
	"runtime"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

// oneLetter is a frame of n bytes that are all the same, n a multiple of 128 KiB: four bytes for each of its blocks.
func oneLetter(n int) []byte {
	const magic, singleSegment = 0xfd2fb528, 3<<6 | 1<<5 // with eight bytes of length
	frame := append(binary.LittleEndian.AppendUint32(nil, magic), singleSegment)
	frame = binary.LittleEndian.AppendUint64(frame, uint64(n))
	for left := n; left > 0; left -= largestZstdBlock {
		head := uint32(largestZstdBlock)<<3 | 1<<1
		if left == largestZstdBlock {
			head |= 1
		}
		frame = append(frame, byte(head), byte(head>>8), byte(head>>16), 'x')
	}
	return frame
}

// spent is how many bytes do has allocated.
func spent(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestFewBytesThatPromiseGigabytes: 64 KiB of a chunk do not become two gibibytes, in one frame or in many that a
// document lies across; and the longest document of one letter that servers take is read.
func TestFewBytesThatPromiseGigabytes(t *testing.T) {
	const longest = 100 << 20
	z := &zstdDecoder{}
	defer z.close()
	if dst, err := z.decode(nil, 0, longest, oneLetter(longest)); err != nil || dst[longest-1] != 'x' {
		t.Errorf("a document of %d bytes: %v", longest, err)
	}
	const bomb = 2<<30 - largestZstdBlock
	frame := oneLetter(bomb)
	if len(frame) > 64<<10+16 {
		t.Fatalf("the frame has %d bytes", len(frame))
	}
	var err error
	if used := spent(func() { _, err = z.decode(nil, 0, bomb, frame) }); !fault.Is(err, fault.Refused) || used > 16<<20 {
		t.Errorf("one frame: %d MiB allocated, %v", used>>20, err)
	}

	const block, blocks = 32 << 20, 63
	chunk := binary.AppendUvarint(nil, block)
	for range blocks {
		one := oneLetter(block)
		chunk = append(binary.AppendUvarint(chunk, uint64(len(one))), one...)
	}
	s, err := openStream(context.Background(), memory{"_0.fdt": chunk}, "_0.fdt", 0, int64(len(chunk)), int64(len(chunk)))
	if err != nil {
		t.Fatal(err)
	}
	body := chunkBody{blocks: newBlockReader(zstdBlocks)}
	defer body.blocks.zstd.close()
	used := spent(func() {
		body.reset(s, block*blocks, block*blocks)
		body.bytes(s, 0, block*blocks)
	})
	if !fault.Is(s.err, fault.Refused) || !strings.Contains(s.err.Error(), "can hold at most") || used > 1<<30 {
		t.Errorf("many frames: %d MiB allocated, %v", used>>20, s.err)
	}
}

// huge is a directory that promises a file of any length.
type huge struct{ memory }

func (huge) Stat(string) (FileInfo, bool) { return FileInfo{Length: 1 << 40}, true }

// TestAFileThatIsReadWholeHasABound: of .si, .fnm and their like no more is read than such files can have.
func TestAFileThatIsReadWholeHasABound(t *testing.T) {
	_, err := OpenSegment(context.Background(), huge{}, SegmentCommit{Name: "_0", Codec: "Lucene104"})
	if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "_0.si") {
		t.Errorf("%v", err)
	}
}
