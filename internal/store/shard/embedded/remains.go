package embedded

import (
	"bytes"
	"encoding/binary"
	"errors"
	"log/slog"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// allowed asks Options.Allow before the end of a log is left out. Nothing has changed yet.
func (e *Engine) allowed(l *lost) error {
	if e.options.Allow == nil {
		return nil
	}
	known, err := e.remains(l)
	if err != nil {
		return fault.At(err, "the folder without the end of "+l.path)
	}
	if err := e.options.Allow(known); err != nil {
		return fault.WithNext(fault.At(fault.New(fault.KindOf(err), "--leave-out %s is refused: %w", l.place(), err), e.dir),
			"restore the folder from a backup; nothing was changed")
	}
	return nil
}

// remains is what is known of shards when a log ends where it is damaged. The folder is read as if it did.
func (e *Engine) remains(l *lost) (known map[shard.ID]shard.Remains, err error) {
	p := e.options.pebble()
	p.FS, p.Lock, p.ReadOnly, p.ErrorIfNotExists = ending{e.options.FS, l}, e.lock, true, true
	p.Logger = &logger{to: slog.New(slog.DiscardHandler), seal: &seal{}}
	db, err := pebble.Open(e.truth(), p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	known = map[shard.ID]shard.Remains{}
	err = eachKey(db, []byte{stateSpace}, func(key, value []byte) error {
		id, err := idOf(key)
		if err != nil {
			return err
		}
		s, err := readState(value)
		of := known[id]
		of.SeqNo, of.Range = s.last, s.within
		known[id] = of
		return err
	})
	if err != nil {
		return nil, err
	}
	return known, eachKey(db, []byte{stageSpace}, func(key, value []byte) error {
		id, err := idOf(key)
		if err != nil || len(key) != stagePrefix+2 || key[stagePrefix] != stagedState {
			return err
		}
		s, _, err := readStaged(value)
		of, is := known[id]
		if !is {
			of.SeqNo = -1
		}
		if of.Staged == nil {
			of.Staged = map[int64]int64{}
		}
		of.Staged[int64(binary.BigEndian.Uint64(key[shardPrefix:]))] = s.last
		known[id] = of
		return err
	})
}

// idOf is the shard of a key.
func idOf(key []byte) (shard.ID, error) {
	index, err := indexOf(key)
	if err != nil || len(key) < shardPrefix {
		return shard.ID{}, errors.Join(err, fault.New(fault.Corrupt, "the key of a shard is % x", key))
	}
	return shard.ID{Index: index, Number: binary.BigEndian.Uint32(key[indexPrefix:])}, nil
}

// eachKey gives what begins with a prefix.
func eachKey(from pebble.Reader, prefix []byte, do func(key, value []byte) error) error {
	lower, upper := bounds(prefix)
	it, err := from.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		var value []byte
		if value, err = it.ValueAndErr(); err == nil {
			err = do(it.Key(), value)
		}
	}
	return errors.Join(err, it.Error(), it.Close())
}

// ending shows a log as if it ended where it is damaged.
type ending struct {
	vfs.FS
	of *lost
}

func (f ending) Open(name string, o ...vfs.OpenOption) (vfs.File, error) {
	if name == f.of.path {
		return vfs.NewMemFile(bytes.Clone(f.of.chunks.data[:f.of.at])), nil
	}
	return f.FS.Open(name, o...)
}
