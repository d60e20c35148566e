package migrate

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"io"
	"os"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
)

// Bounds of what is held of records: more than so many are spread over files of the system's folder for temporary files, by
// their hashes. With 250 million documents a file has about as many as were held before.
var spillFrom = 1_000_000 // 32 MB; a variable only so that tests reach it

const (
	spillFiles  = 256
	spillBuffer = 16 << 10 // of each file
	recordBytes = 4 * 8
)

// spill collects records, in memory that hardly grows with them.
type spill struct {
	held  []idRecord
	files []*os.File // nil while all records are held
	into  []*bufio.Writer
}

func (s *spill) add(r idRecord) error {
	if s.files != nil {
		return s.write(r)
	}
	if s.held = append(s.held, r); len(s.held) < spillFrom {
		return nil
	}
	for range spillFiles {
		f, err := os.CreateTemp("", "reshelve-ids-")
		if err != nil {
			return unspilt(err)
		}
		_ = os.Remove(f.Name()) // where the system lets us: a kill then leaves nothing behind
		s.files, s.into = append(s.files, f), append(s.into, bufio.NewWriterSize(f, spillBuffer))
	}
	for _, r := range s.held {
		if err := s.write(r); err != nil {
			return err
		}
	}
	s.held = nil
	return nil
}

func (s *spill) write(r idRecord) error {
	var b [recordBytes]byte
	for i, field := range [...]uint64{r.id, r.place, uint64(r.version), r.at} {
		binary.BigEndian.PutUint64(b[8*i:], field)
	}
	_, err := s.into[r.id%spillFiles].Write(b[:])
	return unspilt(err)
}

// groups hands out the records of each id together.
func (s *spill) groups(take func([]idRecord)) error {
	grouped(s.held, take)
	for i, f := range s.files {
		if err := s.into[i].Flush(); err != nil {
			return unspilt(err)
		}
		size, err := f.Seek(0, io.SeekCurrent)
		if err == nil {
			_, err = f.Seek(0, io.SeekStart)
		}
		if err != nil {
			return unspilt(err)
		}
		records, in := make([]idRecord, size/recordBytes), bufio.NewReaderSize(f, 1<<16)
		for j := range records {
			var b [recordBytes]byte
			if _, err := io.ReadFull(in, b[:]); err != nil {
				return unspilt(err)
			}
			field := func(i int) uint64 { return binary.BigEndian.Uint64(b[8*i:]) }
			records[j] = idRecord{id: field(0), place: field(1), version: int64(field(2)), at: field(3)}
		}
		grouped(records, take)
	}
	return nil
}

func grouped(records []idRecord, take func([]idRecord)) {
	slices.SortFunc(records, func(a, b idRecord) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.place, b.place), cmp.Compare(a.at, b.at))
	})
	for from := 0; from < len(records); {
		to := from + 1
		for to < len(records) && records[to].id == records[from].id {
			to++
		}
		take(records[from:to])
		from = to
	}
}

func (s *spill) close() {
	for _, f := range s.files {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
}

// unspilt is the failure of a temporary file.
func unspilt(err error) error {
	if err == nil {
		return nil
	}
	err = fault.At(fault.New(fault.Unavailable, "the ids of an index could not be counted: %w", err), os.TempDir())
	return fault.WithNext(err, "make room in that folder, or name another one in TMPDIR: each document takes 32 bytes there")
}
