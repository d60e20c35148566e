package work

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/reshelve/reshelve/internal/fault"
)

// schema is the version of the records that this package writes.
const schema = 1

// Schema is the version of a record's schema. As JSON it is always the number of the version
// that this package writes, and it refuses to read a newer one: a worker of an older release
// leaves alone what it does not understand. A record without it is of version 1.
//
// The schema of version 1 is that of Reindex-from-Snapshot for its work entries, with the
// fields added that its design leaves open. Times are RFC 3339 in UTC.
//
//	{"schemaVersion":1, "creatorId":"w1", "leaseHolderId":"w2", "expiration":"2026-03-01T03:10:00Z",
//	 "heartbeatAt":"2026-03-01T03:04:55Z", "nextAcquisitionLeaseExponent":1, "attempts":1,
//	 "index":"books", "shard":0, "start":0, "end":-1, "cursor":4200,
//	 "read":4000, "acknowledged":3990, "conflicts":0, "failed":10, "dropped":0, "bytes":9500000, "retries":3}
//
// An entry that has ended has "state" (done or failed) and "completedAt", the last attempt's
// "cause" where it failed, and "successorWorkItems" where others go on.
type Schema struct{}

// MarshalJSON is the number of the version that this package writes.
func (Schema) MarshalJSON() ([]byte, error) { return []byte(strconv.Itoa(schema)), nil }

// UnmarshalJSON is fault.Refused for a newer version.
func (*Schema) UnmarshalJSON(data []byte) error {
	var version int
	switch err := json.Unmarshal(data, &version); {
	case err != nil || version < 1:
		return fault.New(fault.Corrupt, "%.20q is no version of a schema", data)
	case version > schema:
		return fault.WithNext(fault.Wrap(fault.Refused, newer(version)),
			"use the release of Reshelve that the movement was begun with, or a newer one")
	}
	return nil
}

// newer is the version of a record that this release does not know.
type newer int

func (n newer) Error() string {
	return fmt.Sprintf("the record has version %d of its schema; this release knows %d", int(n), schema)
}

// IsNewer tells whether err, whatever its kind has become, says that a record has a newer schema.
func IsNewer(err error) bool {
	var n newer
	return errors.As(err, &n)
}

// ReadItem reads an item as it was stored: fault.Refused when its schema is newer,
// fault.Corrupt when it is none.
func ReadItem(value []byte) (Item, error) {
	var i Item
	if err := json.Unmarshal(value, &i); err != nil {
		if fault.Is(err, fault.Refused) {
			return Item{}, err
		}
		return Item{}, fault.Wrap(fault.Corrupt, err)
	}
	return i, fault.Wrap(fault.Corrupt, i.Check())
}
