package shardtest

import (
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

var holds = []test{
	{"a hold keeps the changes after it", holdKeeps},
	{"a hold moves forward only", holdForward},
	{"the last of several holds counts", holdsOfSeveral},
	{"a hold survives reopening", holdSurvives},
	{"a hold of what is gone is refused", holdExpired},
	{"a hold of another incarnation is refused", holdIncarnation},
	{"a hold goes on in the next incarnation", holdGoesOn},
	{"a release of nothing is harmless", releaseNothing},
}

// pruned refreshes and prunes, as if all changes were old, and expects those up to
// seqNo to be gone.
func (k *talk) pruned(seqNo int64) {
	k.Helper()
	k.refresh()
	k.must(k.shard.Prune(k.ctx, later(2*time.Hour)))
	if s := k.shard.Stats(); s.Pruned != seqNo {
		k.Fatalf("pruned up to %d, expected %d", s.Pruned, seqNo)
	}
	if seqNo >= 0 {
		k.expired(k.refusal(k.at(seqNo-1)), seqNo-1, seqNo+1)
	}
	found := k.changes(seqNo, 1<<20)
	if int64(len(found)) != k.shard.Stats().SeqNo-seqNo {
		k.Fatalf("after %d there are %v", seqNo, found)
	}
}

// fill writes n times, each alone.
func (k *talk) fill(n int) {
	k.Helper()
	for range n {
		k.write(indexed("filling", `{}`))
	}
}

func (k *talk) hold(name string, seqNo int64) {
	k.Helper()
	k.must(k.shard.Hold(k.ctx, name, k.at(seqNo)))
}

func (k *talk) holding(expected map[string]int64) {
	k.Helper()
	found := map[string]int64{}
	for name, p := range k.shard.Holds() {
		if p.Incarnation != k.shard.Placed().Term {
			k.Fatalf("%q holds %v", name, p)
		}
		found[name] = p.SeqNo
	}
	if !maps.Equal(found, expected) {
		k.Fatalf("holds %v, expected %v", found, expected)
	}
}

func holdKeeps(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(deleted("never"))
	k.hold("follower", -1)
	k.fill(4)
	k.pruned(-1)
	k.gone("never")
	k.hold("follower", 2)
	k.pruned(2)
	k.absent("never")
	k.must(k.shard.Release(k.ctx, "follower"))
	k.holding(nil)
	k.pruned(4)
}

// holdForward allows an engine to refuse a hold that goes back.
func holdForward(t *testing.T, c Case) {
	k := begin(t, c)
	k.fill(5)
	k.hold("follower", 2)
	_ = k.shard.Hold(k.ctx, "follower", k.at(1))
	k.holding(map[string]int64{"follower": 2})
	k.hold("follower", 2)
	k.pruned(2)
	k.hold("follower", 4)
	k.holding(map[string]int64{"follower": 4})
	clear(k.shard.Holds()) // a copy
	k.holding(map[string]int64{"follower": 4})
}

func holdsOfSeveral(t *testing.T, c Case) {
	k := begin(t, c)
	k.fill(6)
	k.hold("slow", 1)
	k.hold("quick", 4)
	k.holding(map[string]int64{"slow": 1, "quick": 4})
	k.pruned(1)
	k.must(k.shard.Release(k.ctx, "slow"))
	k.pruned(4)
}

func holdSurvives(t *testing.T, c Case) {
	k := begin(t, c)
	odd := "odd\x00name\n\xff🦊"
	k.fill(3)
	k.hold(odd, 1)
	k.hold("released", 0)
	k.hold("moved", 0)
	k.hold("moved", 2)
	k.must(k.shard.Release(k.ctx, "released"))
	k.reopen()
	k.holding(map[string]int64{odd: 1, "moved": 2})
	k.fill(2)
	k.pruned(1)
	k.must(k.shard.Release(k.ctx, odd))
	k.reopen()
	k.holding(map[string]int64{"moved": 2})
	k.pruned(2)
}

func holdExpired(t *testing.T, c Case) {
	k := begin(t, c)
	k.fill(4)
	k.pruned(3)
	k.expired(k.shard.Hold(k.ctx, "late", k.at(2)), 2, 4)
	k.expired(k.shard.Hold(k.ctx, "late", k.at(-1)), -1, 4)
	k.holding(nil)
	k.hold("late", 3)
	k.holding(map[string]int64{"late": 3})
}

func holdIncarnation(t *testing.T, c Case) {
	k := begin(t, c)
	k.fill(1)
	if err := k.shard.Hold(k.ctx, "other", shard.Position{Incarnation: 9, SeqNo: 0}); !errors.As(err, new(*shard.Stale)) {
		t.Fatalf("%v, expected stale", err)
	}
	k.holding(nil)
}

// holdGoesOn has a follower that has read everything continue in the incarnation
// that follows: at the same number, under the new term.
func holdGoesOn(t *testing.T, c Case) {
	k := begin(t, c)
	k.fill(3)
	k.hold("follower", 2)
	k.move(func(s *placement.Shard) { s.Term = 2 })
	k.must(k.shard.Reload(k.ctx))
	if p := k.shard.Holds()["follower"]; p != (shard.Position{Incarnation: 1, SeqNo: 2}) {
		t.Fatalf("it holds %v", p)
	}
	k.fill(1)
	k.pruned(2)
	k.hold("follower", 2)
	k.holding(map[string]int64{"follower": 2})
	k.reopen()
	k.holding(map[string]int64{"follower": 2})
	k.hold("follower", 3)
	k.pruned(3)
}

func releaseNothing(t *testing.T, c Case) {
	k := begin(t, c)
	k.must(k.shard.Release(k.ctx, "nobody"))
	k.hold("somebody", -1)
	k.must(k.shard.Release(k.ctx, "nobody"))
	k.holding(map[string]int64{"somebody": -1})
	for range 2 {
		k.must(k.shard.Release(k.ctx, "somebody"))
	}
	k.holding(nil)
}
