package snapshot

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/internal/lucene"
)

// Part are the documents of one segment that a pass is to hand out.
type Part struct {
	// Has tells whether document n of the segment is wanted; nil: each that lives.
	Has func(n int) bool
}

// Changes are what two snapshots of one shard may have different: Older and Newer are the
// parts of each that the other perhaps has not, for [ReadOptions.Parts]. What is in neither
// lives on both sides, in segments whose files are the same.
type Changes struct {
	Older, Newer map[string]Part // by segment

	Segments  int   // of the newer side
	Same      int   // of those, that lie in neither part
	Documents int64 // that live on both sides and are left out, nested ones included
	Bytes     int64 // of the files of segments that are left out on the newer side
}

// Since compares a shard with what an older snapshot holds of it, segment by segment, without
// reading documents. Two segments are the same when their files are: by name, length and
// checksum, or because they are the same blobs. Of segments that are the same but for what
// has been deleted in them, the parts are what lives on one side alone.
func (sh *Shard) Since(ctx context.Context, older *Shard) (*Changes, error) {
	c := &Changes{Older: map[string]Part{}, Newer: map[string]Part{}}
	was, err := older.segments(ctx)
	if err != nil {
		return nil, err
	}
	is, err := sh.segments(ctx)
	if err != nil {
		return nil, err
	}
	for name := range was {
		c.Older[name] = Part{}
	}
	c.Segments = len(is)
	for name, newer := range is {
		c.Newer[name] = Part{}
		before, there := was[name]
		if !there || !sameFiles(before.core, newer.core) {
			continue
		}
		if err := c.deletions(ctx, name, older, before, sh, newer); err != nil {
			return nil, fault.At(err, sh.Path, "segment "+name)
		}
	}
	return c, nil
}

// deletions compares what lives of one segment on both sides.
func (c *Changes) deletions(ctx context.Context, name string, older *Shard, before *segmentFiles, newer *Shard, now *segmentFiles) error {
	was, maxDoc, err := older.living(ctx, before)
	if err != nil {
		return err
	}
	is, _, err := newer.living(ctx, now)
	if err != nil {
		return err
	}
	left, came := 0, 0
	for n := range maxDoc {
		switch {
		case was(n) && is(n):
			c.Documents++
		case was(n):
			left++
		case is(n):
			came++
		}
	}
	setPart(c.Older, name, left, was, is)
	setPart(c.Newer, name, came, is, was)
	if came == 0 {
		c.Same++
		for _, f := range now.core {
			c.Bytes += f.Length
		}
	}
	return nil
}

// setPart keeps what lives on one side and not on the other.
func setPart(parts map[string]Part, name string, count int, here, there func(int) bool) {
	if count == 0 {
		delete(parts, name)
		return
	}
	parts[name] = Part{Has: func(n int) bool { return here(n) && !there(n) }}
}

// living tells which documents of a segment live, and how many numbers there are.
func (sh *Shard) living(ctx context.Context, s *segmentFiles) (func(n int) bool, int, error) {
	seg, err := lucene.OpenSegment(ctx, sh, s.commit)
	if err != nil {
		return nil, 0, err
	}
	live, err := seg.Live(ctx)
	if err != nil {
		return nil, 0, err
	}
	return func(n int) bool { return live.Docs == nil || live.Docs.Has(n) }, seg.MaxDoc, nil
}

// segmentFiles are the files of one segment without those that say what is deleted in it,
// by name.
type segmentFiles struct {
	commit lucene.SegmentCommit
	core   map[string]*File
}

// segments are those of the shard's commit, by name.
func (sh *Shard) segments(ctx context.Context) (map[string]*segmentFiles, error) {
	commit, err := sh.commit(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string]*segmentFiles{}
	for _, sc := range commit.Segments {
		later := slices.Concat(slices.Concat(slices.Collect(maps.Values(sc.DocValuesUpdates))...), sc.FieldInfosFiles)
		if sc.DelGen > 0 {
			later = append(later, sc.Name+"_"+strconv.FormatInt(sc.DelGen, 36)+".liv", sc.Name+"_"+strconv.FormatInt(sc.DelGen, 36)+".del")
		}
		s := &segmentFiles{commit: sc, core: map[string]*File{}}
		for i := range sh.Files {
			f := &sh.Files[i]
			rest, of := strings.CutPrefix(f.Name, sc.Name)
			if of && rest != "" && (rest[0] == '.' || rest[0] == '_') && !slices.Contains(later, f.Name) {
				s.core[f.Name] = f
			}
		}
		all[sc.Name] = s
	}
	return all, nil
}

// sameFiles tells whether the files of two segments are the same.
func sameFiles(a, b map[string]*File) bool {
	if len(a) != len(b) || len(a) == 0 {
		return false
	}
	for name, f := range a {
		if g, there := b[name]; !there || !f.same(g) {
			return false
		}
	}
	return true
}

// same tells whether two files hold the same bytes.
func (f *File) same(g *File) bool {
	switch {
	case f.Length != g.Length || f.HasChecksum && g.HasChecksum && f.Checksum != g.Checksum:
		return false
	case !f.Virtual && !g.Virtual && f.Blob != "" && f.Blob == g.Blob:
		return true
	case f.Content != nil && g.Content != nil:
		return bytes.Equal(f.Content, g.Content)
	}
	return f.HasChecksum && g.HasChecksum
}
