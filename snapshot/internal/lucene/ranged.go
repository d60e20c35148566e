package lucene

import (
	"cmp"
	"context"
	"hash/crc32"
	"io"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
)

// Variables only so that tests can make every file a long one.
var (
	// wholeFile is the length up to which a file is read at once and checked
	// before use: one request costs more than these bytes.
	wholeFile = int64(1 << 20)
	// windowSize is how much of a longer file a forward reader fetches and holds.
	windowSize = int64(1 << 18)
)

// ranged reads parts of one file that has a footer, each byte once, and can say
// at the end whether the file was right. Not safe for concurrent use.
type ranged struct {
	ctx    context.Context
	dir    Directory
	name   string
	info   FileInfo
	whole  []byte // of a short file, confirmed; else nil
	pieces []*piece
	checks bool // finish has a footer to compare with
	// confirmed: finish compared the footer of a file that is not whole.
	confirmed bool
}

// piece is a run of bytes that were read, and their CRC-32.
type piece struct {
	span
	crc uint32
}

// openRanged opens the named file. A file of at most most bytes is read and
// confirmed at once. footer tells whether the format has one.
func openRanged(ctx context.Context, dir Directory, name string, most int64, footer bool) (*ranged, error) {
	f := &ranged{ctx: ctx, dir: dir, name: name, checks: footer}
	var ok bool
	if f.info, ok = dir.Stat(name); !ok {
		return nil, fault.New(fault.Corrupt, "file %s: is missing", name)
	}
	if f.info.Length > most {
		return f, nil
	}
	var err error
	if f.whole, _, err = readAll(ctx, dir, name); err != nil {
		return nil, err
	}
	if footer {
		err = fault.At(checkFooter(f.whole, f.info), "file "+name)
	}
	return f, err
}

// end is where the content ends and the footer begins.
func (f *ranged) end() int64 {
	if f.checks {
		return max(0, f.info.Length-footerLength)
	}
	return f.info.Length
}

// corrupt is an error at an offset of the file.
func (f *ranged) corrupt(offset int64, format string, args ...any) error {
	return fault.At(fault.New(fault.Corrupt, format, args...), "file "+f.name, offsetPlace(offset))
}

// read returns a range; it adds it to p, which it must follow.
func (f *ranged) read(p *piece, length int64) ([]byte, error) {
	if f.whole != nil {
		b := f.whole[p.end() : p.end()+length]
		p.length += length
		return b, nil
	}
	b, err := readRange(f.ctx, f.dir, f.name, p.end(), length)
	if err != nil {
		return nil, err
	}
	p.crc = crc32.Update(p.crc, crc32.IEEETable, b)
	p.length += length
	return b, nil
}

// newPiece begins a run at an offset.
func (f *ranged) newPiece(offset int64) *piece {
	p := &piece{span: span{offset: offset}}
	f.pieces = append(f.pieces, p)
	return p
}

// finish reads what was not read yet, and confirms the file. Nothing is read
// twice: the checksum of the whole is put together from those of its pieces.
func (f *ranged) finish() error {
	if f.whole != nil || !f.checks {
		return nil
	}
	slices.SortFunc(f.pieces, func(a, b *piece) int { return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.length, b.length)) })
	total := piece{}
	for _, p := range f.pieces {
		if p.offset < total.end() {
			return f.corrupt(p.offset, "two parts of the file overlap")
		}
		if err := f.fill(&total, p.offset); err != nil {
			return err
		}
		total.crc = crc32Combine(total.crc, p.crc, p.length)
		total.length += p.length
	}
	if err := f.fill(&total, f.end()); err != nil {
		return err
	}
	footer, err := readRange(f.ctx, f.dir, f.name, f.end(), f.info.Length-f.end())
	if err != nil {
		return err
	}
	if len(footer) == footerLength {
		total.crc = crc32.Update(total.crc, crc32.IEEETable, footer[:8])
	}
	err = confirmFooter(footer, f.end(), total.crc, f.info)
	f.confirmed = err == nil
	return fault.At(err, "file "+f.name)
}

// fill streams the bytes from the end of p up to an offset through p's checksum.
func (f *ranged) fill(p *piece, to int64) error {
	if p.end() == to {
		return nil
	}
	r, err := f.dir.Open(f.ctx, f.name, p.end(), to-p.end())
	if err != nil {
		return fault.At(err, "file "+f.name)
	}
	defer r.Close()
	sum := crc32.NewIEEE()
	n, err := io.CopyBuffer(onlyWriter{sum}, io.LimitReader(r, to-p.end()), make([]byte, 1<<16))
	if err == nil && n < to-p.end() {
		return f.corrupt(p.end()+n, "the file ends here, %d bytes were promised", f.info.Length)
	}
	p.crc = crc32Combine(p.crc, sum.Sum32(), n)
	p.length += n
	return fault.At(err, "file "+f.name)
}

// forward reads inside one range of a ranged file, from lower to higher offsets,
// and holds one window of it.
type forward struct {
	file   *ranged
	bounds span
	piece  *piece
	buf    []byte // the last bytes of piece
}

func (f *ranged) forward(bounds span) *forward { return &forward{file: f, bounds: bounds} }

// at returns the n bytes at offset, which is not below that of any earlier call.
// They stay valid until the next call.
func (r *forward) at(offset int64, n int) ([]byte, error) {
	if !(span{offset, int64(n)}).within(r.bounds.offset, r.bounds.end()) {
		return nil, r.file.corrupt(offset, "%d bytes wanted, this part of the file is %d to %d", n, r.bounds.offset, r.bounds.end())
	}
	if r.piece == nil || offset > r.piece.end()+windowSize {
		r.piece, r.buf = r.file.newPiece(offset), nil
	}
	for offset+int64(n) > r.piece.end() {
		if err := r.fetch(offset); err != nil {
			return nil, err
		}
	}
	i := offset - (r.piece.end() - int64(len(r.buf)))
	return r.buf[i : i+int64(n)], nil
}

// fetch reads the next window and drops what lies before offset.
func (r *forward) fetch(offset int64) error {
	next, err := r.file.read(r.piece, min(windowSize, r.bounds.end()-r.piece.end()))
	if err != nil {
		return err
	}
	keep := min(int64(len(r.buf)), max(0, r.piece.end()-int64(len(next))-offset))
	if keep == 0 {
		r.buf = next
		return nil
	}
	r.buf = append(r.buf[int64(len(r.buf))-keep:len(r.buf):len(r.buf)], next...)
	return nil
}
