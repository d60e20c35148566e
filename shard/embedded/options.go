package embedded

import (
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options of an engine. The zero value of a field is its default.
type Options struct {
	Memory   int64            // bytes for the block cache and the tables of recent writes; 16 MB
	LowWater int64            // free bytes below which writes are refused; see [Options.lowWater]
	Ballast  int64            // bytes kept to get out of a full disk with; 16 MB, negative: none
	Quiet    time.Duration    // without a write until memory is given back; 2 s, negative: never
	FS       vfs.FS           // vfs.Default
	Now      func() time.Time // stamps changes; time.Now
	Logger   *slog.Logger     // slog.Default()
}

func (o Options) withDefaults() Options {
	if o.Memory <= 0 {
		o.Memory = 16 << 20
	}
	if o.Ballast == 0 {
		o.Ballast = 16 << 20
	}
	if o.Quiet == 0 {
		o.Quiet = 2 * time.Second
	}
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

// memtable is the size of one table of recent writes, in bytes. Two exist at a
// time: one is filled while the other is written out. The log is as long, so it
// bounds how long an opening after a crash takes.
func (o Options) memtable() int64 { return min(max(o.Memory/4, 256<<10), 64<<20) }

// pebble are the options of the store below.
func (o Options) pebble() *pebble.Options {
	p := &pebble.Options{
		FormatMajorVersion:    pebble.FormatNewest,
		CacheSize:             o.Memory, // of which Pebble takes its tables of recent writes
		MemTableSize:          uint64(o.memtable()),
		MaxOpenFiles:          1000,
		L0CompactionThreshold: 8,
		Comparer:              comparer,
		FS:                    o.FS,
	}
	p.Experimental.ValueSeparationPolicy = func() pebble.ValueSeparationPolicy {
		return pebble.ValueSeparationPolicy{Enabled: true, MinimumSize: 128, MaxBlobReferenceDepth: 200,
			RewriteMinimumAge: time.Minute, TargetGarbageRatio: 0.3}
	}
	for i := range p.Levels {
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		p.Levels[i].BlockSize = 4 << 10
	}
	return p
}
