package control

import (
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// The words in which faces ask for a migration.
type (
	Metadata = migrate.Metadata
	// Setting is a setting of indices that are made, in the place of the snapshot's.
	Setting = migrate.Setting
	// Mapping is the mapping of indices that are made, in the place of the snapshot's.
	Mapping = migrate.Mapping
	Leases  = work.Policy
)

// DefaultLeases are those of a migration that asks for no others.
var DefaultLeases = work.Default

// Limits are how fast, and when, the movement may be, as it was last told; the zero value
// when it has none, or none that this version understands.
func (m *Movement) Limits() Throttle {
	limits, _ := migrate.ReadLimits(m.Rate)
	return limits
}

// The words in which faces tell how far a migration is.
type (
	Copying   = migrate.Progress      // how far all of it is
	CopiedOf  = migrate.IndexProgress // how far one index is
	Pieces    = migrate.States        // pieces of work, counted by state
	Step      = migrate.StepProgress  // what one step of a transformation has done
	Pace      = migrate.Pace
	Rate      = migrate.Rate
	Moved     = migrate.Index  // one index of a plan
	Throttle  = migrate.Limits // of documents and bytes in a second, and of hours
	Hindrance = migrate.Hindrance
)
