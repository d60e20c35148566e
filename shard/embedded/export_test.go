package embedded

import (
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/reshelve/reshelve/shard"
)

func init() {
	retryEvery, refuseEvery = time.Millisecond, time.Millisecond
}

// SetTiers gives engines that are opened from now on tiers for little data, until it is
// undone.
func SetTiers(fanIn int, early, held int64) (undo func()) {
	was := tiersOf
	tiersOf = func(int64) tiers { return tiers{fanIn: fanIn, early: early, builder: 4000, held: held} }
	return func() { tiersOf = was }
}

// Overlaps is how many files wait to be merged, one above the other.
func (e *Engine) Overlaps() int { return int(e.db.Metrics().Levels[0].Sublevels) }

// Used is how many bytes the engine takes on disk, now.
func (e *Engine) Used() int64 { return e.used() }

// SetManifest replaces the manifest of a shard that is closed.
func (e *Engine) SetManifest(id shard.ID, value []byte) error {
	return e.db.Set(manifestKey(id), value, pebble.Sync)
}

// ManifestOf is one of no entries.
func ManifestOf(committed int64) []byte {
	return encodeManifest(&manifest{committed: committed})
}
