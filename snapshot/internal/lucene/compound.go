package lucene

import (
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
)

// compound is the view of a .cfs as a directory: each member is a whole file of
// its own, with header and footer, that lies in a range of the .cfs. The .cfe
// lists them (Lucene50CompoundFormat, Lucene90CompoundFormat, before them
// CompoundFileDirectory).
type compound struct {
	outer   Directory
	file    string // the .cfs
	members map[string]span
}

// span is a range of a file, in bytes.
type span struct{ offset, length int64 }

func (s span) end() int64 { return s.offset + s.length }

// within reports whether the range lies in [from, to).
func (s span) within(from, to int64) bool {
	return s.offset >= from && s.length >= 0 && s.offset <= to && s.length <= to-s.offset
}

// Stat tells of a member.
func (c *compound) Stat(name string) (FileInfo, bool) {
	m, ok := c.members[name]
	return FileInfo{Length: m.length}, ok
}

// Open streams a range of a member.
func (c *compound) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	m, ok := c.members[name]
	if !ok || !(span{offset, length}).within(0, m.length) {
		return nil, fault.New(fault.Bug, "bytes %d+%d of %s are not in %s", offset, length, name, c.file)
	}
	r, err := c.outer.Open(ctx, c.file, m.offset+offset, length)
	return r, fault.At(err, "inside "+c.file)
}

// openCompound reads the .cfe of the segment and checks that its members lie in
// the .cfs, without overlap.
func openCompound(ctx context.Context, dir Directory, segment string, id ID) (*compound, error) {
	in, h, err := readHeaded(ctx, dir, segment+".cfe")
	if err != nil {
		return nil, err
	}
	c := &compound{outer: dir, file: segment + ".cfs", members: map[string]span{}}
	info, ok := dir.Stat(c.file)
	if !ok {
		return nil, fault.New(fault.Corrupt, "file %s: is missing", c.file)
	}
	switch {
	case h.Codec == "CompoundFileWriterEntries" && (h.Version == 0 || h.Version == 1):
	case h.Codec == "Lucene50CompoundEntries" && h.Version == 0:
		in.idAndSuffix(&h, id, "")
	case h.Codec == "Lucene90CompoundEntries" && h.Version == 0:
		in.idAndSuffix(&h, id, "")
		in.order = binary.LittleEndian
	default:
		return nil, unknownFormat(in.name, h)
	}
	end := info.Length
	if h.hasFooter() {
		end -= footerLength
	}
	c.readMembers(in, segment, int64(h.Length), end)
	return c, in.end()
}

// readMembers reads names and ranges; they lie in [from, to) of the .cfs. The
// header of the .cfs is four bytes shorter in its codec name (Data, Entries → −3).
func (c *compound) readMembers(in *input, segment string, headerLength, to int64) {
	from := headerLength - int64(len("Entries")-len("Data"))
	var ranges []span
	for range in.count(in.vint(), 17) {
		name := segment + in.string()
		m := span{in.int64(), in.int64()}
		if in.err != nil {
			return
		}
		if _, twice := c.members[name]; twice {
			in.fail("%s is listed twice", name)
		}
		if !m.within(from, to) {
			in.fail("%s lies at bytes %d+%d of %s, where %d to %d are possible", name, m.offset, m.length, c.file, from, to)
		}
		c.members[name] = m
		ranges = append(ranges, m)
	}
	slices.SortFunc(ranges, func(a, b span) int { return cmp.Compare(a.offset, b.offset) })
	for i := 1; i < len(ranges); i++ {
		if ranges[i-1].end() > ranges[i].offset {
			in.fail("two members overlap at byte %d of %s", ranges[i].offset, c.file)
		}
	}
}
