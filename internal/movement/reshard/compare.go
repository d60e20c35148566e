package reshard

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Found is what a comparison has found.
type Found struct {
	Documents int64                     `json:"documents"` // that were compared
	Counts    map[reconcile.Class]int64 `json:"counts,omitempty"`
	Examples  []string                  `json:"examples,omitempty"` // some of each class
	// Later says that they were compared as they were at a later look, since what was pinned at the
	// hand-off had been let go of.
	Later bool `json:"later,omitempty"`

	shown int64 // documents that parts show
}

const examples = 10 // of each class

// Differences are how many there are, of all classes.
func (f *Found) Differences() (n int64) {
	for _, count := range f.Counts {
		n += count
	}
	return n
}

func (f *Found) add(class reconcile.Class, format string, args ...any) {
	if f.Counts == nil {
		f.Counts = map[reconcile.Class]int64{}
	}
	if f.Counts[class]++; f.Counts[class] <= examples {
		f.Examples = append(f.Examples, string(class)+" "+fmt.Sprintf(format, args...))
	}
}

// merge adds what another comparison has found.
func (f *Found) merge(o Found) {
	f.Later = f.Later || o.Later
	f.Documents += o.Documents
	f.Examples = append(slices.Clip(f.Examples), o.Examples...)
	for class, n := range o.Counts {
		if f.Counts == nil {
			f.Counts = o.Counts
			break
		}
		f.Counts[class] += n
	}
}

// part is what shows the documents of a range.
type part struct {
	number uint32
	within routing.Range
	views  []segment.View
}

// atOnce is how many documents the second pass of a comparison holds.
const atOnce = 100_000

// truthful compares the rows of readers with what parts show.
func truthful(ctx context.Context, b *breaks, rows []shard.Reader, parts []part) (Found, error) {
	return compare(ctx, b, rows, func(take func(shown) error) error { return eachRow(ctx, b, rows, take) }, parts)
}

// compare compares what is expected of readers with what parts show, in memory that does not grow
// with them: first sums by buckets of order keys, then, of those that are unequal, document
// by document. Each gives all that is expected, each time that it is called.
func compare(ctx context.Context, b *breaks, of []shard.Reader, each func(take func(shown) error) error, parts []part) (f Found, err error) {
	var documents int64
	for _, r := range of {
		documents += r.Docs()
	}
	bits := reconcile.Bits(documents)
	expected, found := reconcile.NewTable(bits), reconcile.NewTable(bits)
	err = each(func(d shown) error { f.Documents++; expected.Add(d.fingerprint()); return nil })
	if err == nil {
		err = eachShown(ctx, b, parts, func(d shown, p *part) error {
			if f.shown++; !p.within.Contains(d.Key) {
				f.add(reconcile.Misplaced, "%q, number %d, is shown by shard %d", d.ID, d.seqNo, p.number)
				return nil
			}
			found.Add(d.fingerprint())
			return nil
		})
	}
	if err != nil {
		return f, err
	}
	groups, err := reconcile.Groups(expected, found, 0, atOnce)
	for _, g := range groups {
		if err == nil {
			err = f.look(ctx, b, g, each, parts)
		}
	}
	return f, err
}

// shown is a document of one side.
type shown struct {
	shard.Ref
	seqNo int64
}

// fingerprint is by the order key, and of all that tells one write from another.
func (d *shown) fingerprint() document.Fingerprint {
	text := binary.BigEndian.AppendUint64(nil, uint64(d.Key))
	text = binary.BigEndian.AppendUint64(text, uint64(d.seqNo))
	sum := sha256.Sum256(append(text, d.ID...))
	return document.Fingerprint{Key: uint64(d.Key), Content: [16]byte(sum[:16])}
}

func eachRow(ctx context.Context, b *breaks, rows []shard.Reader, take func(shown) error) error {
	for _, r := range rows {
		for row, err := range r.Scan(ctx, shard.Select{Range: routing.Whole, NoSource: true}) {
			if err == nil && !row.Deleted {
				err = take(shown{row.Ref, row.SeqNo})
			}
			if err == nil {
				err = b.take(ctx)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func eachShown(ctx context.Context, b *breaks, parts []part, take func(shown, *part) error) error {
	for i := range parts {
		for _, v := range parts[i].views {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			err := segment.Guard(func() error {
				for doc := range segment.Doc(v.Docs()) {
					if !v.IsRoot(doc) || !v.Shows(doc) {
						continue
					}
					if err := take(shown{shard.Ref{Key: v.Key(doc), ID: v.ID(doc)}, v.SeqNo(doc)}, &parts[i]); err != nil {
						return err
					}
					if err := b.take(ctx); err != nil {
						return err
					}
				}
				return nil
			})
			if damaged := (*segment.Damaged)(nil); v.File != "" && errors.As(err, &damaged) {
				return fault.At(err, v.File)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// look compares the documents of a group of buckets one by one.
func (f *Found) look(ctx context.Context, b *breaks, g reconcile.Group, each func(take func(shown) error) error, parts []part) error {
	type sides struct{ is, shown []int64 }
	met := map[shard.Ref]*sides{}
	of := func(d shown) (*sides, error) {
		if met[d.Ref] == nil {
			if len(met) > 2*atOnce {
				return nil, fault.New(fault.Limit, "more than %d documents are in the buckets of a group", 2*atOnce)
			}
			met[d.Ref] = &sides{}
		}
		return met[d.Ref], nil
	}
	err := each(func(d shown) error {
		if !g.Wants(uint64(d.Key)) {
			return nil
		}
		s, err := of(d)
		if err == nil {
			s.is = append(s.is, d.seqNo)
		}
		return err
	})
	if err == nil {
		err = eachShown(ctx, b, parts, func(d shown, p *part) error {
			if !g.Wants(uint64(d.Key)) || !p.within.Contains(d.Key) {
				return nil
			}
			s, err := of(d)
			if err == nil {
				s.shown = append(s.shown, d.seqNo)
			}
			return err
		})
	}
	if err != nil {
		return err
	}
	refs := make([]shard.Ref, 0, len(met))
	for ref := range met {
		refs = append(refs, ref)
	}
	slices.SortFunc(refs, func(a, b shard.Ref) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.ID, b.ID)) })
	for _, ref := range refs {
		f.judge(ref, met[ref].is, met[ref].shown)
	}
	return nil
}

// judge classes one document.
func (f *Found) judge(ref shard.Ref, is, shown []int64) {
	switch {
	case len(is) == 0:
		f.add(reconcile.Ghost, "%q, number %d, is found and not there", ref.ID, shown[0])
	case len(shown) == 0:
		f.add(reconcile.Missing, "%q, number %d, is there and not found", ref.ID, is[0])
	case len(shown) > 1:
		f.add(reconcile.Misplaced, "%q is found %d times, as of numbers %v", ref.ID, len(shown), shown)
	case shown[0] != is[0]:
		f.add(reconcile.Stale, "%q is found as of number %d instead of %d", ref.ID, shown[0], is[0])
	}
}
