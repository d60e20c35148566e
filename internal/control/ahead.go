package control

import (
	"context"

	"github.com/reshelve/reshelve/snapshot"
)

// shardAhead is a shard whose manifest is read while the one before it is still
// being passed over, so that its first request's latency is hidden.
type shardAhead struct {
	cancel context.CancelFunc
	index  *snapshot.Index
	number int
	done   chan struct{} // closed when shard or err is set
	shard  *snapshot.Shard
	err    error
}

// lookAhead begins to read the manifest of the shard after the current one.
func (d *Documents) lookAhead() {
	i, n := d.index, d.shard+1
	for i < len(d.indices) && n >= d.indices[i].Shards {
		i, n = i+1, 0
	}
	if i == len(d.indices) {
		return
	}
	if _, absent := d.absent(d.indices[i].Name, n); absent {
		return
	}
	ctx, cancel := context.WithCancel(d.ctx)
	a := &shardAhead{cancel: cancel, index: d.indices[i], number: n, done: make(chan struct{})}
	d.ahead = a
	go func() {
		defer close(a.done)
		a.shard, a.err = a.index.Shard(ctx, a.number)
	}()
}

// take is the current shard of the index: the one that was looked ahead for, or
// a new one.
func (d *Documents) take(idx *snapshot.Index) (*snapshot.Shard, error) {
	a := d.ahead
	d.ahead = nil
	if a == nil || a.index != idx || a.number != d.shard {
		a.drop()
		return idx.Shard(d.ctx, d.shard)
	}
	defer a.cancel()
	<-a.done
	return a.shard, a.err
}

// drop ends the look ahead and waits for it.
func (a *shardAhead) drop() {
	if a != nil {
		a.cancel()
		<-a.done
	}
}
