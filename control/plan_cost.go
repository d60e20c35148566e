package control

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/reshelve/reshelve/drive"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/migrate"
	"github.com/reshelve/reshelve/movement"
)

// Cost is about what a migration takes.
type Cost struct {
	Documents int64 `json:"documents"`
	Bytes     int64 `json:"bytes"` // of sources
	// Exact is false when documents and bytes are extrapolated from the first of each segment.
	Exact    bool  `json:"exact"`
	Items    int   `json:"items"`    // pieces of work for workers
	Requests int64 `json:"requests"` // bulk requests to the target, if none is repeated
	Disk     int64 `json:"disk"`     // bytes on the target, its replicas counted
	// Seconds are how long the documents take at the rate at which the movement Like copied
	// into this target; 0 when none did for long enough to tell.
	Seconds float64 `json:"seconds,omitempty"`
	Like    string  `json:"like,omitempty"`
	Rate    float64 `json:"rate,omitempty"` // bytes of sources in a second, in that movement
}

// What the writer puts into one request; see cluster.WriterOptions.
const (
	requestBytes = 8 << 20
	requestDocs  = 5000
)

// costs adds up what the plan takes, when all indices of the preview are known.
func (l *looking) costs(ctx context.Context) error {
	c := Cost{Exact: l.exact, Items: items(l.Plan)}
	for i, index := range l.Plan.Indices {
		c.Documents += index.Documents
		c.Bytes += index.Bytes
		c.Requests += max(int64(index.Shards), index.Bytes/requestBytes, index.Documents/requestDocs)
		copies := int64(1)
		if bodies := l.Indices[i].bodies; len(bodies) > 0 {
			copies += replicasOf(&bodies[0])
		}
		c.Disk += index.Stored * copies
	}
	like, rate, err := lastRate(ctx, drive.New(l.side.coord, 0))
	if rate > 0 {
		c.Seconds, c.Like, c.Rate = float64(c.Bytes)/rate, like, rate
	}
	l.Cost = c
	return err
}

// lastRate is how many bytes in a second the newest migration of the place has copied that
// took some time.
func lastRate(ctx context.Context, d *drive.Driver) (id string, rate float64, err error) {
	all, err := d.Movements(ctx)
	if err != nil {
		return "", 0, err
	}
	slices.SortFunc(all, func(a, b movement.Record) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.ID, a.ID)) })
	for i := range all {
		if rate := rateOf(&all[i]); rate > 0 {
			return all[i].ID, rate, nil
		}
	}
	return "", 0, nil
}

// longEnough is for how long documents must have been copied to tell a rate.
const longEnough = 5 * time.Second

// rateOf is how many bytes of sources a movement has copied in a second; 0 when it does not tell.
func rateOf(m *movement.Record) float64 {
	var p migrate.Progress
	if m.Kind != movement.Migrate || json.Unmarshal(m.Report, &p) != nil {
		return 0
	}
	for _, phase := range m.Phases {
		if took := phase.Ended.Sub(phase.Started); phase.Name == "documents" && took >= longEnough {
			return float64(p.Bytes) / took.Seconds()
		}
	}
	return 0
}

// lookShards compares the shards that are made with what the target may open.
func lookShards(ctx context.Context, l *looking) (string, error) {
	if err := l.costs(ctx); err != nil {
		return "", err
	}
	wanted := int64(0)
	for i, index := range l.Plan.Indices {
		for j := range l.Indices[i].bodies {
			wanted += int64(max(l.Plan.Metadata.Shards, index.Shards)) * (1 + replicasOf(&l.Indices[i].bodies[j]))
		}
	}
	open, most, err := l.side.client.Shards(ctx)
	switch {
	case fault.Is(err, fault.Refused) || fault.Is(err, fault.Unauthorised):
		return "the target does not tell its shards", nil
	case err != nil:
		return "", err
	case most == 0:
		return fmt.Sprintf("%d to create, of any number", wanted), nil
	case int64(open)+wanted > int64(most):
		l.refuse("raise cluster.max_shards_per_node, add nodes, or make fewer with --shards or --index",
			"%d shards would be made, replicas counted, and the target has room for %d", wanted, most-open)
	}
	return fmt.Sprintf("%d to create, %d of %d are open", wanted, open, most), nil
}

// lookDisk compares what is stored with what the target's disks take.
func lookDisk(ctx context.Context, l *looking) (string, error) {
	if l.req.folder() {
		free, ok := freeSpace(l.req.Target)
		if !ok {
			return "the free space of the folder's disk is not known", nil
		}
		return l.fits(free)
	}
	disk, err := l.side.client.Disk(ctx)
	if err != nil {
		return "", err
	}
	if len(disk.Nodes) == 0 {
		return "the target does not tell its disks", nil
	}
	for _, n := range disk.Nodes {
		if used := n.Total - n.Available; disk.Watched && used > disk.High(n.Total) {
			l.refuse("free disk space on the node, or add nodes", "node %s has used %s of %s: it is above the high watermark, and takes no shards",
				n.Node, bytesOf(used), bytesOf(n.Total))
		}
	}
	_, all := disk.Free()
	return l.fits(all)
}

func (l *looking) fits(free int64) (string, error) {
	if l.Cost.Disk > free {
		l.refuse("free disk space on the target, add nodes, or move fewer indices or replicas",
			"about %s would be stored, and the target has room for %s", bytesOf(l.Cost.Disk), bytesOf(free))
	}
	return fmt.Sprintf("about %s to store, room for %s", bytesOf(l.Cost.Disk), bytesOf(free)), nil
}

// bytesOf is a size for people.
func bytesOf(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/1024, 0
	for value >= 1024 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	return fmt.Sprintf("%.1f %ciB", value, units[unit])
}
