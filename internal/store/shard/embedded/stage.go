package embedded

import (
	"context"
	"errors"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Stage writes states and manifests alone: rows lie where they will be looked for, and the
// files of segments are shared. The turn of each shard is held meanwhile, so its segments
// stay; writes go on, unless a fence stops them.
func (e *Engine) Stage(ctx context.Context, index uint32, from []uint32, to []shard.Incarnation) (staged *shard.Staged, err error) {
	sources, err := e.sources(index, from, to)
	if err != nil {
		return nil, fault.At(err, e.dir)
	}
	staged = &shard.Staged{}
	defer func() {
		for _, s := range sources {
			s.end()
		}
		if err != nil {
			err = errors.Join(fault.At(err, e.dir), staged.Close())
			staged = nil
		}
	}()
	if err := e.writable(ctx, 0); err != nil {
		return staged, err
	}
	var rows []placement.Shard
	for _, s := range sources {
		r, err := s.pin(ctx)
		if r != nil {
			staged.From = append(staged.From, r)
		}
		if err != nil {
			return staged, fault.At(failure(err), place(s.id))
		}
		if s.row.Epoch == 0 {
			return staged, over(s.id, 0)
		}
		rows = append(rows, s.row)
	}
	if err := shard.CheckStage(rows, to); err != nil {
		return staged, err
	}
	next := make([]*staging, len(to))
	defer func() {
		for _, n := range next {
			n.release()
		}
	}()
	for i := range to {
		if next[i], err = e.incarnate(sources, to[i]); err != nil {
			return staged, failure(err)
		}
	}
	if err := sameDocs(sources, next); err != nil {
		return staged, err
	}
	if err := e.storeStaged(index, from, next); err != nil {
		return staged, failure(err)
	}
	return staged, failure(e.show(index, next, staged))
}

// sameDocs checks that what is staged shows as many documents as the sources have rows, where these
// were counted.
func sameDocs(sources []*source, next []*staging) error {
	there, shown := int64(0), int64(0)
	for _, s := range sources {
		if !s.view.exact {
			return nil
		}
		there += s.view.docs
	}
	for _, n := range next {
		shown += n.docs
	}
	if shown != there {
		return fault.New(fault.Bug, "what is staged shows %d documents, and there are %d", shown, there)
	}
	return nil
}

// show gives the views of what was stored, as they are read back.
func (e *Engine) show(index uint32, of []*staging, to *shard.Staged) error {
	db, done, err := e.use()
	if err != nil {
		return err
	}
	defer done()
	var files []*file
	kept := map[maskOf]*segment.Bits{}
	to.Free = func() {
		for _, f := range files {
			f.release()
		}
		for of, mask := range kept {
			e.stagedMasks.drop(of, mask)
		}
	}
	for _, n := range of {
		id := shard.ID{Index: index, Number: n.Number}
		m, err := readManifestAt(db, stagedKey(id, n.Term, stagedManifest))
		if err != nil {
			return err
		}
		views := []segment.View{}
		for _, listed := range m.entries {
			entry, err := openListed(e.files, db, index, listed, stagedMaskKey(id, n.Term, listed.number), nil)
			if err != nil {
				return err
			}
			files = append(files, entry.file)
			if entry.hidden != nil {
				of := maskOf{id, n.Term, listed.number}
				kept[of] = entry.hidden
				e.stagedMasks.keep(of, entry.hidden)
			}
			views = append(views, segment.View{Segment: entry.Segment, Hidden: entry.hidden})
		}
		to.To = append(to.To, views)
	}
	return nil
}
