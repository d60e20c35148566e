package lucene

import (
	"github.com/reshelve/reshelve/internal/fault"
)

// ConfirmStored compares the footer of a segment's stored fields with the
// checksum of what several passes read, which together read the whole file: the
// parts of SplitStored, each read to its end, in ascending order. A wrong
// checksum is Corrupt, a file without one (see HasChecksum) Refused, parts that
// do not cover the file a Bug.
func ConfirmStored(parts ...*StoredReader) error {
	if len(parts) == 0 {
		return fault.New(fault.Bug, "there are no parts to confirm")
	}
	last := parts[len(parts)-1]
	if !last.HasChecksum() {
		return fault.At(fault.New(fault.Refused, "has no checksum: Lucene wrote it before 4.8"), "file "+last.in.name)
	}
	var sum uint32
	var offset int64
	for _, part := range parts {
		from, to, partSum := part.Checksum()
		if from != offset {
			return fault.New(fault.Bug, "file %s: a part begins at offset %d, the one before ended at %d", last.in.name, from, offset)
		}
		sum = crc32Combine(sum, partSum, to-from)
		offset = to
	}
	if offset != last.info.Length-checksumLength {
		return fault.New(fault.Bug, "file %s: the parts end at offset %d of %d", last.in.name, offset, last.info.Length)
	}
	return fault.At(confirmFooter(last.footer, last.info.Length-footerLength, sum, last.info), "file "+last.in.name)
}
