package local

import (
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
)

// OpenRemembering is Open with another memory for watches.
var OpenRemembering = open

// EncodeFormat is the format's record.
var EncodeFormat = encodeFormat

// Edit changes the file of a folder that nobody serves.
func Edit(t *testing.T, dir string, change func(*bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(filepath.Join(dir, fileName), 0o600, options(false))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Update(change); err != nil {
		t.Fatal(err)
	}
}

// SetTimeAhead makes the last write of a folder one of the future.
func SetTimeAhead(t *testing.T, dir string) time.Time {
	ahead := time.Now().Add(time.Hour)
	Edit(t, dir, func(tx *bolt.Tx) error {
		h, err := readHead(tx)
		if err != nil {
			return err
		}
		h.time = ahead
		return tx.Bucket(ownBucket).Put(headKey, h.encode())
	})
	return ahead
}
