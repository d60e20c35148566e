package control_test

import (
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/reshard"
)

// TestTheOutcomeOfACheckThatMetDamage names the shard, the cause, and what mends it.
func TestTheOutcomeOfACheckThatMetDamage(t *testing.T) {
	u := &control.Upkeep{Index: "my books", Checked: []reshard.Checked{{Shard: 4, Missing: 1}, {Shard: 7, Damage: "a.seg: broken", Rebuilds: true}}}
	err := u.Outcome("./data")
	if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "1 of 2 shards cannot be compared; shard 7: a.seg: broken") ||
		!strings.HasPrefix(fault.Next(err), "reshelve index rebuild 'my books' --at ./data ") {
		t.Errorf("%v (%s)", err, fault.Next(err))
	}
	u.Checked = append(u.Checked, reshard.Checked{Shard: 8, Damage: "000006.sst"})
	if err := u.Outcome("./data"); !strings.Contains(fault.Next(err), "restore the data folder") {
		t.Errorf("%v (%s)", err, fault.Next(err))
	}
}
