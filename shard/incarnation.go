package shard

import (
	"errors"

	"github.com/reshelve/reshelve/routing"
	"github.com/reshelve/reshelve/segment"
)

// Incarnation is what a shard is to become: a shard between two changes of its ownership.
type Incarnation struct {
	Number uint32        // of a new shard, or of one that goes on
	Range  routing.Range // that it will own
	Term   int64         // under which it will number, higher than those of all that it comes from
}

// Staged tells what was staged. Close it: it keeps what its readers keep.
type Staged struct {
	From []Reader         // what the shards showed, in the order of from
	To   [][]segment.View // what each incarnation will show, as it was stored, in the order of to
	Free func()           // lets go of To
}

// Close may be called again, by one at a time.
func (s *Staged) Close() (err error) {
	for _, r := range s.From {
		err = errors.Join(err, r.Close())
	}
	if s.Free != nil {
		s.Free()
		s.Free = nil
	}
	return err
}
