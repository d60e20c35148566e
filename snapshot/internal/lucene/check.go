package lucene

import (
	"hash/crc32"
	"io"

	"github.com/reshelve/reshelve/internal/fault"
)

// CheckFile reads r, the whole of a Lucene file, to its end and compares its
// length, its footer and the directory's promise with what came. Memory is
// constant. Files without a footer (before Lucene 4.8) are Corrupt to it.
func CheckFile(r io.Reader, info FileInfo) error {
	if info.Length < footerLength {
		return fault.New(fault.Corrupt, "is %d bytes long, too short for a footer", info.Length)
	}
	sum := crc32.NewIEEE()
	body := info.Length - footerLength
	if n, err := io.CopyBuffer(onlyWriter{sum}, io.LimitReader(r, body), make([]byte, 1<<17)); err != nil {
		return fault.At(err, offsetPlace(n))
	} else if n < body {
		return fault.New(fault.Corrupt, "ends at offset %d, %d bytes were promised", n, info.Length)
	}
	var footer [footerLength]byte
	if n, err := io.ReadFull(r, footer[:]); err == io.EOF || err == io.ErrUnexpectedEOF {
		return fault.New(fault.Corrupt, "ends at offset %d, %d bytes were promised", body+int64(n), info.Length)
	} else if err != nil {
		return fault.At(err, offsetPlace(body))
	}
	sum.Write(footer[:8])
	return confirmFooter(footer[:], body, sum.Sum32(), info)
}

// onlyWriter hides everything but Write, so that io.CopyBuffer uses its buffer.
type onlyWriter struct{ io.Writer }
