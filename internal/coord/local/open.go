package local

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/reshelve/reshelve/internal/fault"
)

const (
	fileName = "coord.db"
	format   = 1

	// patience is how long a process that is just ending may hold the file.
	patience = time.Second
)

var (
	ownBucket     = []byte("reshelve")
	formatKey     = []byte("format")
	headKey       = []byte("head")
	recordsBucket = []byte("records")
)

// Open opens the store of a data folder, and makes both when they are not there. A
// folder that another process serves is fault.Conflict, an unknown format
// fault.Refused, a damaged file fault.Corrupt.
func Open(ctx context.Context, dir string) (*Store, error) {
	return open(ctx, dir, Remembered)
}

func open(ctx context.Context, dir string, remembered int) (*Store, error) {
	path := filepath.Join(dir, fileName)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = create(dir, path)
	case err == nil && info.Size() == 0:
		err = fault.New(fault.Corrupt, "it is empty")
	}
	if err != nil {
		return nil, unusable(path, err)
	}
	if err := errors.Join(inspect(path), syncFolder(dir)); err != nil { // who made it may have been killed before
		return nil, unusable(path, err)
	}
	var db *bolt.DB
	err = guard(func() (err error) {
		db, err = bolt.Open(path, 0o600, options(false))
		return err
	})
	if err != nil {
		return nil, unusable(path, err)
	}
	var h head
	err = guard(func() error {
		return db.View(func(tx *bolt.Tx) (err error) {
			h, err = verify(tx)
			return err
		})
	})
	if err != nil {
		_ = db.Close()
		return nil, unusable(path, err)
	}
	sweep(dir)
	return start(path, db, h, remembered), nil
}

func options(readOnly bool) *bolt.Options {
	return &bolt.Options{
		Timeout: patience, ReadOnly: readOnly, NoStatistics: true,
		NoFreelistSync: true, FreelistType: bolt.FreelistMapType,
	}
}

// create makes an empty store under another name and links it to its own, so that
// it is there as a whole or not, and never takes the place of another.
func create(dir, path string) error {
	if err := makeFolder(dir); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, fileName+".new-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // else the next Open sweeps it
	if err := file.Close(); err != nil {
		return err
	}
	db, err := bolt.Open(file.Name(), 0o600, options(false))
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		own, err := tx.CreateBucket(ownBucket)
		if err != nil {
			return err
		}
		if err := own.Put(formatKey, encodeFormat(format)); err != nil {
			return err
		}
		if err := own.Put(headKey, head{}.encode()); err != nil {
			return err
		}
		_, err = tx.CreateBucket(recordsBucket)
		return err
	})
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	if err := os.Link(file.Name(), path); err != nil {
		if _, missing := os.Stat(path); missing != nil {
			return err
		} // else another process was faster
	}
	return nil
}

// makeFolder makes a folder and those that it lies in, durably.
func makeFolder(dir string) error {
	err := os.Mkdir(dir, 0o700)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil // if it is a file, what follows says so
	case errors.Is(err, fs.ErrNotExist):
		if err := makeFolder(filepath.Dir(dir)); err != nil {
			return err
		}
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(filepath.Dir(dir))
}

// sweep removes what creations left that were killed. One that is still at it finds
// that the file is there.
func sweep(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, fileName+".new-*"))
	for _, name := range left {
		_ = os.Remove(name) // the next time, then
	}
}

// syncFolder makes the names in a folder durable.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}

// inspect checks the pages of the file while nobody can write.
func inspect(path string) error {
	return guard(func() error {
		db, err := bolt.Open(path, 0, options(true))
		if err != nil {
			return notSystems(err)
		}
		defer db.Close()
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		return db.View(func(tx *bolt.Tx) error {
			return checkPages(file, db.Info().PageSize, tx.Size(), uint64(tx.Cursor().Bucket().RootPage()))
		})
	})
}

// notSystems makes what bbolt itself says about a file fault.Corrupt.
func notSystems(err error) error {
	var system syscall.Errno
	if errors.As(err, &system) || errors.Is(err, bolterrors.ErrTimeout) || errors.Is(err, bolterrors.ErrVersionMismatch) {
		return err
	}
	return fault.Wrap(fault.Corrupt, err)
}

func readHead(tx *bolt.Tx) (head, error) {
	return decodeHead(tx.Bucket(ownBucket).Get(headKey))
}

// verify checks the format and that the file has all records that it says it has,
// each where it is looked for. Values are checked when they are read.
func verify(tx *bolt.Tx) (head, error) {
	own, records := tx.Bucket(ownBucket), tx.Bucket(recordsBucket)
	if own == nil && records == nil {
		err := fault.New(fault.Refused, "it is no coordination store of Reshelve")
		return head{}, fault.WithNext(err, "move the file away if it does not belong here")
	}
	if own == nil || records == nil {
		return head{}, fault.New(fault.Corrupt, "the head or the records are gone")
	}
	version, err := decodeFormat(own.Get(formatKey))
	if err != nil {
		return head{}, err
	}
	if version != format {
		err := fault.New(fault.Refused, "it has format %d, and this program knows %d", version, format)
		return head{}, fault.WithNext(err, "use the release that wrote it")
	}
	h, err := readHead(tx)
	if err != nil {
		return head{}, err
	}
	found := head{revision: h.revision, time: h.time}
	err = records.ForEach(func(key, packed []byte) error {
		sum, revision, err := label(string(key), packed)
		if err != nil {
			return err
		}
		if revision > h.revision || !bytes.Equal(records.Get(key), packed) {
			return damagedRecord(string(key), "it is newer than the head, or cannot be found by its key")
		}
		found.records++
		found.sum ^= sum
		return nil
	})
	if err == nil && found != h {
		err = fault.New(fault.Corrupt, "it has %d records with sum %08x, and says %d with %08x", found.records, found.sum, h.records, h.sum)
	}
	return h, err
}

// unusable gives an error of opening its kind, place and next action.
func unusable(path string, err error) error {
	var known *fault.Error
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return inUse(path)
	case errors.Is(err, bolterrors.ErrVersionMismatch):
		return fault.At(fault.WithNext(fault.Wrap(fault.Refused, err), "use the release that wrote it"), path)
	case fault.Is(err, fault.Corrupt):
		return damaged(path, err)
	case errors.As(err, &known):
		return fault.At(err, path)
	}
	err = fault.At(fault.Wrap(fault.Unavailable, err), path)
	return fault.WithNext(err, "see that the folder exists, may be written and has space")
}
