package placement_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
)

var creation = placement.Change{By: "operator", Why: "create index", At: time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)}

func TestAnIndexBeginsAsEqualRanges(t *testing.T) {
	p := placement.New(7, 3, placement.Local, creation)
	want := `index 7 version 1 next 3 by operator: create index
shard 0 0000000000000000-55555555ffffffff epoch 1 term 1 on local
shard 1 5555555600000000-aaaaaaaaffffffff epoch 1 term 1 on local
shard 2 aaaaaaab00000000-ffffffffffffffff epoch 1 term 1 on local
`
	if got := p.String(); got != want {
		t.Errorf("got\n%s", got)
	}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
}

func TestTheStoredFormHoldsEverything(t *testing.T) {
	p := placement.New(7, 3, placement.Local, creation)
	p.Version, p.Next, p.Transfer = 4, 5, json.RawMessage(`{"movement":"m1"}`)
	p.Shards[1].Number, p.Shards[1].Epoch, p.Shards[1].Term, p.Shards[1].Node = 4, 4, 2, "elsewhere"
	back, err := placement.Decode(p.Encode())
	if err != nil || !reflect.DeepEqual(back, p) {
		t.Errorf("%v\n%+v", err, back)
	}
}

func TestEveryKeyHasOneOwner(t *testing.T) {
	p := placement.New(1, 5, placement.Local, creation)
	for _, s := range p.Shards {
		for _, key := range []routing.Key{s.Range.From, s.Range.To} {
			if got := p.Owner(key); got.Number != s.Number {
				t.Errorf("%s belongs to shard %d, not %d", key, got.Number, s.Number)
			}
		}
	}
	if _, ok := p.Shard(5); ok {
		t.Error("shard 5 of 5 exists")
	}
}

func TestADamagedMapIsRefused(t *testing.T) {
	for name, damage := range map[string]func(p *placement.Placement){
		"no shards":       func(p *placement.Placement) { p.Shards = nil },
		"a gap":           func(p *placement.Placement) { p.Shards[1].Range.From++ },
		"an overlap":      func(p *placement.Placement) { p.Shards[0].Range.To++ },
		"no end":          func(p *placement.Placement) { p.Shards[2].Range.To-- },
		"out of order":    func(p *placement.Placement) { p.Shards[0], p.Shards[1] = p.Shards[1], p.Shards[0] },
		"a number twice":  func(p *placement.Placement) { p.Shards[1].Number = 0 },
		"a future number": func(p *placement.Placement) { p.Shards[1].Number = 3 },
		"a future epoch":  func(p *placement.Placement) { p.Shards[1].Epoch = 2 },
		"no term":         func(p *placement.Placement) { p.Shards[1].Term = 0 },
		"a second ring":   func(p *placement.Placement) { p.Next = 9; p.Shards = append(p.Shards, p.Shards[0]) },
	} {
		p := placement.New(7, 3, placement.Local, creation)
		damage(&p)
		if _, err := placement.Decode(p.Encode()); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(placement.New(7, 3, placement.Local, creation).Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := placement.Decode(data)
		if err != nil {
			return
		}
		for _, key := range []routing.Key{0, 1 << 63, routing.MaxKey} {
			if !p.Owner(key).Range.Contains(key) {
				t.Errorf("%s has no owner in\n%s", key, p)
			}
		}
	})
}
