package movement_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
)

func TestWhatBecomesOfTheLedger(t *testing.T) {
	at := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	ledger := []movement.Entry{
		{Kind: "template", Name: "logs", Made: true, Keep: true, At: at},
		{Kind: "index", Name: "books", Made: true, Keep: true, At: at.Add(time.Second)},
		{Kind: "alias", Name: "library", Keep: true, Before: json.RawMessage(`["books-old"]`), At: at.Add(2 * time.Second)},
		{Kind: "settings", Name: "books/refresh", Made: true, Before: json.RawMessage(`{"refresh_interval":"1s"}`), At: at.Add(time.Second)},
		{Kind: "index", Name: "tmp", Made: true, At: at.Add(time.Second)},
	}
	for _, tc := range []struct {
		finish bool
		want   string
	}{
		{false, "restore alias library, restore settings books/refresh, remove index tmp, remove index books, remove template logs"},
		{true, "handover alias library, restore settings books/refresh, remove index tmp, handover index books, handover template logs"},
	} {
		var deeds []string
		for _, e := range movement.Closing(ledger) {
			deeds = append(deeds, string(e.Deed(tc.finish))+" "+e.Kind+" "+e.Name)
		}
		if got := strings.Join(deeds, ", "); got != tc.want {
			t.Errorf("finish %v:\n got %s\nwant %s", tc.finish, got, tc.want)
		}
	}
	if got, want := ledger[2].String(), `intended alias library keep before="[\"books-old\"]"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := movement.LedgerKey("m1", "settings", "books/refresh"), "movement/m1/ledger/settings/books%2frefresh"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestWhoseAThingIs: what was made is known by its identity, and what perhaps was made by
// the movement's mark.
func TestWhoseAThingIs(t *testing.T) {
	for _, tc := range []struct {
		entry    movement.Entry
		identity string
		marked   bool
		ours     bool
	}{
		{movement.Entry{Made: true, Identity: "a"}, "a", false, true},
		{movement.Entry{Made: true, Identity: "a"}, "b", true, false},
		{movement.Entry{Made: true}, "", true, false},
		{movement.Entry{}, "b", true, true},
		{movement.Entry{}, "b", false, false},
	} {
		if got := tc.entry.Ours(tc.identity, tc.marked); got != tc.ours {
			t.Errorf("%+v, there is %s, marked %v: ours is %v", tc.entry, tc.identity, tc.marked, got)
		}
	}
}
