package xcontent

import (
	"errors"

	"github.com/reshelve/reshelve/internal/fault"
)

// Limit is how long the JSON of n stored bytes may reasonably become, in bytes,
// and what x-content of n compressed bytes may expand to: 512 times as long, and
// 1 MiB. DEFLATE alone allows 1032 times, the back references of SMILE a hundred
// times more on top, so that some ten kilobytes could ask for gigabytes.
//
// What servers write stays below: the metadata files of the test repositories
// become 6 times as long at most, mappings of 100,000 fields of one kind 36 times,
// 20,000 failed shards with one stack trace 158 times, 2,000 templates that repeat
// the same 100 fields 372 times. (The mebibyte is for small files, and for small
// Zstandard frames, whose ratio has no limit.)
func Limit(n int) int { return 512*n + 1<<20 }

// errTooLong says so inside the package; ToJSON makes tooLong of it.
var errTooLong = errors.New("the output becomes too long")

// tooLong refuses what would exceed the limit that the caller set.
func tooLong(most int) error {
	err := fault.New(fault.Refused, "expands to more than %d bytes, which so few stored bytes cannot hold by right: it is made to exhaust memory", most)
	return fault.WithNext(err, "do not trust where it comes from; if a server wrote it, read it there")
}
