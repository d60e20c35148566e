package embedded

import "time"

func init() {
	retryEvery, refuseEvery = time.Millisecond, time.Millisecond
}

// Overlaps is how many files wait to be merged, one above the other.
func (e *Engine) Overlaps() int { return int(e.db.Metrics().Levels[0].Sublevels) }

// Used is how many bytes the engine takes on disk, now.
func (e *Engine) Used() int64 { return e.used() }
