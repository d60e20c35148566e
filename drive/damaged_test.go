package drive_test

import (
	"slices"
	"testing"
	"time"

	"github.com/reshelve/reshelve/coord/memory"
	"github.com/reshelve/reshelve/drive"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/movement"
)

// junk are records of movements that cannot be read, by ID.
var junk = map[string]string{
	"none": "", "binary": "\x00\xff", "text": "junk", "list": "[]", "nothing": "{}", "state": `{"id":"state","state":"dancing"}`,
	"other": `{"id":"m","kind":"migrate","state":"running","phases":[{"name":"documents"}]}`, "torn": `{"id":"torn","kind":"migrate","sta`,
	"phases": `{"id":"phases","state":"running","phases":[{"name":"a"},{"name":"a"}]}`, "deep/er": `null`,
}

// TestADamagedRecordIsShownAndHindersNothing: it is in the list, no verb but one goes, and that one takes
// it out of the way.
func TestADamagedRecordIsShownAndHindersNothing(t *testing.T) {
	store := memory.New()
	d := drive.New(store, 0)
	for id, value := range junk {
		if _, err := store.Create(t.Context(), "movements/"+id, []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	r := movement.Record{ID: "sound", Kind: movement.Migrate, State: movement.Planned, Phases: []movement.Phase{{Name: "documents"}}, Created: time.Now()}
	if err := d.Plan(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for id, value := range junk {
		all, err := d.Movements(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(all, func(m movement.Record) bool { return m.ID == id })
		if at < 0 || all[at].State != movement.Damaged || all[at].Cause == "" || all[at].Next == "" || len(all[at].Owed()) > 0 || all[at].Kind != "" {
			t.Fatalf("%s: %+v", id, all)
		}
		if m, err := d.Shown(t.Context(), id); err != nil || m.State != movement.Damaged {
			t.Errorf("%s: %+v %v", id, m, err)
		}
		if _, err := d.Movement(t.Context(), id); !fault.Is(err, fault.Corrupt) || fault.Next(err) == "" {
			t.Errorf("%s: %v", id, err)
		}
		if _, _, err := d.Apply(t.Context(), id, movement.Event{Verb: movement.Abort}); !fault.Is(err, fault.Corrupt) || fault.Next(err) == "" {
			t.Errorf("%s: %v", id, err)
		}
		if err := d.SetAside(t.Context(), id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
		if kept, err := store.Get(t.Context(), "set-aside/"+id); err != nil || string(kept.Value) != value {
			t.Errorf("%s is kept as %q: %v", id, kept.Value, err)
		}
		if err := d.SetAside(t.Context(), id); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s, again: %v", id, err)
		}
	}
	if err := d.SetAside(t.Context(), "sound"); !fault.Is(err, fault.Refused) || fault.Next(err) == "" {
		t.Errorf("a record that can be read: %v", err)
	}
	if all, err := d.Movements(t.Context()); err != nil || len(all) != 1 || all[0].ID != "sound" {
		t.Errorf("%+v %v", all, err)
	}
}
