package drive_test

import (
	"encoding/json"
	"testing"

	coord "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
)

// TestTheLedgerRemembersWhatWasThereFirst: a second try does not write over what the first
// has seen, because what it sees is what the first has made.
func TestTheLedgerRemembersWhatWasThereFirst(t *testing.T) {
	ctx := t.Context()
	d := drive.New(coord.New(), 0)
	first := movement.Entry{Kind: "settings", Name: "books", Before: json.RawMessage(`"1s"`), By: "w1"}
	second := movement.Entry{Kind: "settings", Name: "books", Before: json.RawMessage(`"-1"`), By: "w2"}
	for _, e := range []movement.Entry{first, second} {
		if err := d.Intend(ctx, "m", e); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Made(ctx, "m", second, "u1"); err != nil {
		t.Fatal(err)
	}
	ledger, err := d.Ledger(ctx, "m")
	if err != nil || len(ledger) != 1 {
		t.Fatalf("%+v, %v", ledger, err)
	}
	if e := ledger[0]; string(e.Before) != `"1s"` || e.By != "w1" || !e.Made || e.Identity != "u1" || e.At.IsZero() {
		t.Errorf("%+v", e)
	}
	if err := d.Strike(ctx, "m", first); err != nil {
		t.Fatal(err)
	}
	if err := d.Made(ctx, "m", first, "u1"); !fault.Is(err, fault.Conflict) {
		t.Errorf("what is not in the ledger was made: %v", err)
	}
}
