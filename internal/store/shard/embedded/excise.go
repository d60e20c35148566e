package embedded

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// excise gives back the space of the rows and changes of dropped indices. Consecutive numbers are one
// range. Tables that hold nothing else go at once. Others are cut, and are rewritten later.
func (e *Engine) excise(ctx context.Context, indices []uint32) (failed error) {
	db, done, err := e.use()
	if err != nil {
		return err
	}
	defer done()
	slices.Sort(indices)
	for len(indices) > 0 {
		n := 1
		for n < len(indices) && indices[n] <= indices[n-1]+1 {
			n++
		}
		for _, space := range []byte{rowSpace, runSpace} {
			lower, _ := bounds(appendIndex(nil, space, indices[0]))
			_, upper := bounds(appendIndex(nil, space, indices[n-1]))
			failed = errors.Join(failed, db.Excise(ctx, pebble.KeyRange{Start: lower, End: upper}))
		}
		indices = indices[n:]
	}
	e.rewriteLater()
	return failed
}

// rewriteWait is how long the rewriting of cut tables waits for more of them.
const rewriteWait = time.Second

// rewriteLater rewrites the tables that were cut, beside whatever the caller does. A piece of a table keeps all of
// its file, and Pebble takes it to refer to as many values as the whole table did: these would stay on disk, and
// a few documents would be shown as the size of all.
func (e *Engine) rewriteLater() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.rewriting {
		return
	}
	e.rewriting = true
	e.work.Go(func() {
		for due := false; !due; {
			select {
			case <-e.stop:
				return
			case <-time.After(rewriteWait):
				due = e.refusal() == nil // it takes space before it gives some back
			}
		}
		e.mu.Lock()
		e.rewriting = false
		e.mu.Unlock()
		if err := e.rewriteCut(); err != nil {
			e.options.Logger.Warn("store: the space of dropped indices is not given back yet", "cause", err)
		}
	})
}

// rewriteCut rewrites each piece of a table, and returns early when the folder is closed, or has to be opened again.
func (e *Engine) rewriteCut() error {
	db, done, err := e.use()
	if err != nil {
		return err
	}
	defer done()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		defer cancel()
		select {
		case <-e.stop:
		case <-db.seal.done:
		case <-ctx.Done():
		}
	}()
	pieces, err := piecesOfCut(db)
	for _, piece := range pieces {
		if err = db.rewrite(ctx, piece); err != nil {
			break
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// piecesOfCut are where the pieces of cut tables are that refer to values: those of one table, between which nothing is, together.
func piecesOfCut(db *store) (pieces []pebble.KeyRange, err error) {
	levels, err := db.SSTables()
	for _, tables := range levels {
		var before *pebble.SSTableInfo
		for i := range tables {
			t := &tables[i]
			if !t.Virtual || len(t.GetBlobReferenceFiles()) == 0 {
				continue
			}
			end := unusedBehind(t.Largest.UserKey)
			if before != nil && before.BackingSSTNum == t.BackingSSTNum {
				pieces[len(pieces)-1].End = end
			} else {
				pieces = append(pieces, pebble.KeyRange{Start: unusedBefore(t.Smallest.UserKey), End: end})
			}
			before = t
		}
	}
	return pieces, err
}

// unusedBefore is a key before another that nothing ever has: the name of a row without a head, and else the first of a shard's
// runs, or of an index.
func unusedBefore(key []byte) []byte {
	prefix := indexPrefix
	switch key[0] {
	case rowSpace:
		return bytes.Clone(key[:split(key)])
	case runSpace:
		prefix = shardPrefix
	}
	before, _ := bounds(key[:min(prefix, len(key)-1)])
	return before
}

// unusedBehind is a key behind another that nothing ever has: close to that of a row or a run, one byte more than its name
// and no head; and else the first behind those of the index.
func unusedBehind(key []byte) []byte {
	if key[0] == rowSpace || key[0] == runSpace {
		return append(bytes.Clone(key[:split(key)-1]), 1, end)
	}
	_, behind := bounds(key[:min(indexPrefix, len(key))])
	return behind
}

// rewrite rewrites the tables at a range whose bounds are keys that nothing has. Pebble rewrites what is on its last level
// only when something comes from above: it is the deletion of these keys.
func (s *store) rewrite(ctx context.Context, r pebble.KeyRange) error {
	b := s.NewBatch()
	err := errors.Join(b.Delete(r.Start, nil), b.Delete(r.End, nil))
	if err == nil {
		err = s.apply(b)
	}
	if err == nil {
		err = s.await(b)
	}
	if err == nil {
		err = s.Compact(ctx, r.Start, r.End, false)
	}
	return err
}
