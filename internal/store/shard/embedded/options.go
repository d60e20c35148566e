package embedded

import (
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/reshelve/reshelve/internal/store/shard"
)

// Options of an engine. The zero value of a field is its default.
type Options struct {
	Memory   int64         // bytes for cached blocks and the tables of recent writes, and as a measure of what segments take: see Memory above; 16 MB
	Share    int64         // of it, about, for each of the three parts that segments take; a quarter, 1 MB or more. Tests have little data
	LowWater int64         // free bytes below which writes are refused; by the size of the disk, at most 256 MB
	Ballast  int64         // bytes kept to get out of a full disk with; 4 MB, negative: none
	Quiet    time.Duration // without a request until the log is written out, and four times until memory is given back; 1 s, negative: never
	LeaveOut string        // NAME:OFFSET of a damaged log: what is behind is given up; see checkEnds
	// Allow refuses to leave something out by what would still be known; nil: it is not asked
	Allow  func(known map[shard.ID]shard.Remains) error
	FS     vfs.FS           // vfs.Default
	Now    func() time.Time // stamps changes; time.Now
	Logger *slog.Logger     // slog.Default()
}

func (o Options) withDefaults() Options {
	if o.Memory <= 0 {
		o.Memory = 16 << 20
	}
	if o.Ballast == 0 {
		o.Ballast = 4 << 20
	}
	if o.Quiet == 0 {
		o.Quiet = time.Second
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

// memtable is the size of one table of recent writes, in bytes. The log is as long
// as two of them, so it bounds how long an opening after a crash takes; larger ones
// were measured no faster to load. Three or four logs stay on disk to be used again.
func (o Options) memtable() int64 { return min(max(o.Memory/4, 256<<10), 3<<20) }
