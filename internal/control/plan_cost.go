package control

import (
	"cmp"
	"context"
	"fmt"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/drive"
)

// Cost is about what a migration takes. It counts three kinds of bytes: of sources, as a client reads them, which rates are of; of the
// files that hold them in the snapshot, compressed, with their index; and on disk.
type Cost struct {
	Documents int64 `json:"documents"`
	// SourceBytes are not known (0) while a snapshot is yet to be taken: no server tells them.
	SourceBytes int64 `json:"sourceBytes,omitempty"`
	// Exact is false when documents and bytes of sources are extrapolated from the first of each segment, or the snapshot is
	// yet to be taken.
	Exact     bool  `json:"exact"`
	FileBytes int64 `json:"fileBytes"` // of one copy of each shard: in the snapshot, or on the source while that is yet to be taken
	Items     int   `json:"items"`     // pieces of work for workers
	Requests  int64 `json:"requests"`  // bulk requests to the target, if none is repeated
	// DiskBytes are an estimate of what the target stores: the files, times the copies of each shard there.
	DiskBytes int64 `json:"diskBytes"`
	// Seconds are how long the documents take at the rate at which the movement Like copied into this target; 0 when none
	// that did so is like this one (see likest), or only what has changed is copied.
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
	changes := false
	for i, index := range l.Plan.Indices {
		changes = changes || index.Since != nil
		c.Documents += index.Documents
		c.SourceBytes += index.Bytes
		c.FileBytes += index.Stored
		c.Requests += max(int64(index.Shards), index.Bytes/requestBytes, index.Documents/requestDocs)
		copies := int64(1)
		if bodies := l.Indices[i].bodies; len(bodies) > 0 {
			copies += replicasOf(&bodies[0])
		}
		c.DiskBytes += index.Stored * copies
	}
	l.Cost = c
	if changes { // how many there are is not known
		return nil
	}
	all, err := drive.New(l.side.coord, 0).Movements(ctx)
	if err != nil {
		return err
	}
	if last := likest(copying{target: l.Plan.Target, transformed: l.Plan.Transform != "", documents: c.Documents, bytes: c.SourceBytes}, copiesOf(all)); last != nil {
		l.Cost.Rate, l.Cost.Like = float64(last.bytes)/last.took.Seconds(), last.id
		l.Cost.Seconds = float64(c.SourceBytes) / l.Cost.Rate
	}
	return nil
}

// lookShards compares the shards that are made with what the target may open.
func lookShards(ctx context.Context, l *looking) (string, error) {
	if err := l.costs(ctx); err != nil {
		return "", err
	}
	wanted := int64(0)
	for i, index := range l.Plan.Indices {
		for j := range l.Indices[i].bodies {
			body := &l.Indices[i].bodies[j]
			wanted += int64(shardsOf(body, cmp.Or(l.Plan.Metadata.Shards, index.Shards))) * (1 + replicasOf(body))
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
			"%d shards would be made, replicas counted, and the target has room for %d: %d of %d are open (cluster.max_shards_per_node, for each data node)", wanted, most-open, open, most)
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
	const estimated = "(the files of the snapshot, times the copies of each shard)"
	if l.Cost.DiskBytes > free {
		l.refuse("free disk space on the target, add nodes, or move fewer indices or replicas",
			"about %s of disk would be taken %s, and the target has room for %s", bytesOf(l.Cost.DiskBytes), estimated, bytesOf(free))
	}
	return fmt.Sprintf("about %s of disk to take %s, room for %s", bytesOf(l.Cost.DiskBytes), estimated, bytesOf(free)), nil
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
