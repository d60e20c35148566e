package drive_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
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
		if key, err := d.SetAside(t.Context(), id); err != nil || key != "set-aside/"+id {
			t.Errorf("%s: %s, %v", id, key, err)
		}
		if kept, err := store.Get(t.Context(), "set-aside/"+id); err != nil || string(kept.Value) != value {
			t.Errorf("%s is kept as %q: %v", id, kept.Value, err)
		}
		if _, err := d.SetAside(t.Context(), id); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s, again: %v", id, err)
		}
	}
	if _, err := d.SetAside(t.Context(), "sound"); !fault.Is(err, fault.Refused) || fault.Next(err) == "" {
		t.Errorf("a record that can be read: %v", err)
	}
	if all, err := d.Movements(t.Context()); err != nil || len(all) != 1 || all[0].ID != "sound" {
		t.Errorf("%+v %v", all, err)
	}
}

// TestARecordOfANewerReleaseIsLeftAlone: it is shown as such, no order reaches it, and it is not set aside.
func TestARecordOfANewerReleaseIsLeftAlone(t *testing.T) {
	store := memory.New()
	d := drive.New(store, 0)
	const value = `{"schemaVersion":2,"id":["m"],"state":7}`
	if _, err := store.Create(t.Context(), "movements/m", []byte(value)); err != nil {
		t.Fatal(err)
	}
	if all, err := d.Movements(t.Context()); err != nil || len(all) != 1 || all[0].ID != "m" || all[0].State != movement.Newer || all[0].Next == "" || len(all[0].Owed()) > 0 {
		t.Errorf("%+v %v", all, err)
	}
	_, err := d.Movement(t.Context(), "m")
	_, _, applied := d.Apply(t.Context(), "m", movement.Event{Verb: movement.Abort})
	_, aside := d.SetAside(t.Context(), "m")
	for _, err := range []error{err, applied, aside} {
		if !drive.IsUnread(err) || !fault.Is(err, fault.Refused) || fault.Next(err) == "" {
			t.Errorf("%v → %s", err, fault.Next(err))
		}
	}
	if there, err := store.Get(t.Context(), "movements/m"); err != nil || string(there.Value) != value {
		t.Errorf("%q %v", there.Value, err)
	}
}

// TestNothingThatWasSetAsideIsLost: of records that are damaged one after the other under one key, each is kept.
func TestNothingThatWasSetAsideIsLost(t *testing.T) {
	store := memory.New()
	d := drive.New(store, 0)
	keys := map[string]string{}
	for _, value := range []string{"first", "second", "", "second", "third"} {
		if _, err := store.Create(t.Context(), "movements/m", []byte(value)); err != nil {
			t.Fatal(err)
		}
		key, err := d.SetAside(t.Context(), "m")
		if err != nil || keys[value] != "" && keys[value] != key {
			t.Fatalf("%q: %s, %v", value, key, err)
		}
		keys[value] = key
		for value, key := range keys {
			if kept, err := store.Get(t.Context(), key); err != nil || string(kept.Value) != value {
				t.Errorf("%s is %q and was %q, %v", key, kept.Value, value, err)
			}
		}
	}
	if len(keys) != 4 || keys["first"] != "set-aside/m" {
		t.Errorf("%v", keys)
	}
}

// interfering is a store in which others do something right before a change is made, once.
type interfering struct {
	coord.Store
	before func(verb, key string) // may be nil
	lost   bool                   // the answer to a deletion, once
}

func (s *interfering) once(verb, key string) {
	if do := s.before; do != nil {
		s.before = nil
		do(verb, key)
	}
}

func (s *interfering) Create(ctx context.Context, key string, value []byte) (int64, error) {
	s.once("create", key)
	return s.Store.Create(ctx, key, value)
}

func (s *interfering) Delete(ctx context.Context, key string, revision int64) error {
	s.once("delete", key)
	err := s.Store.Delete(ctx, key, revision)
	if s.lost && err == nil {
		s.lost = false
		return fault.New(fault.Unavailable, "the answer was lost")
	}
	return err
}

// TestTwoSetARecordAside at once, or one whose answers are lost: it is kept once, and both say so; what comes into its
// place meanwhile is kept as well, or left when it is sound.
func TestTwoSetARecordAside(t *testing.T) {
	sound := movement.Record{ID: "m", Kind: movement.Migrate, State: movement.Planned, Phases: []movement.Phase{{Name: "documents"}}, Created: time.Now()}
	const value = "junk"
	for name, tc := range map[string]struct {
		between func(t *testing.T, other *drive.Driver, plain coord.Store)
		lost    bool
		kept    []string // under set-aside/
		kind    *fault.Kind
	}{
		"another does it, too": {func(t *testing.T, other *drive.Driver, _ coord.Store) {
			if _, err := other.SetAside(t.Context(), "m"); err != nil {
				t.Error(err)
			}
		}, false, []string{value}, nil},
		"another is damaged in its place": {func(t *testing.T, other *drive.Driver, plain coord.Store) {
			if _, err := other.SetAside(t.Context(), "m"); err != nil {
				t.Error(err)
			}
			if _, err := plain.Create(t.Context(), "movements/m", []byte("more junk")); err != nil {
				t.Error(err)
			}
		}, false, []string{value, "more junk"}, nil},
		"a sound one is in its place": {func(t *testing.T, other *drive.Driver, _ coord.Store) {
			if _, err := other.SetAside(t.Context(), "m"); err != nil {
				t.Error(err)
			}
			if err := other.Plan(t.Context(), sound); err != nil {
				t.Error(err)
			}
		}, false, []string{value}, &refused},
		"the answer is lost": {func(*testing.T, *drive.Driver, coord.Store) {}, true, []string{value}, nil},
	} {
		for _, verb := range []string{"create", "delete"} {
			plain := memory.New()
			if _, err := plain.Create(t.Context(), "movements/m", []byte(value)); err != nil {
				t.Fatal(err)
			}
			store := &interfering{Store: plain, lost: tc.lost}
			var arm func(string, string)
			arm = func(met, _ string) {
				if met != verb {
					store.before = arm
					return
				}
				tc.between(t, drive.New(plain, 0), plain)
			}
			store.before = arm
			_, err := drive.New(store, 0).SetAside(t.Context(), "m")
			if tc.kind == nil && err != nil || tc.kind != nil && !fault.Is(err, *tc.kind) {
				t.Errorf("%s before %s: %v", name, verb, err)
			}
			all, err := plain.List(t.Context(), "set-aside/")
			if err != nil {
				t.Fatal(err)
			}
			var kept []string
			for _, r := range all {
				kept = append(kept, string(r.Value))
			}
			if !slices.Equal(kept, tc.kept) {
				t.Errorf("%s before %s: %q is kept", name, verb, kept)
			}
			left, err := plain.List(t.Context(), "movements/")
			if err != nil || len(left) > 0 != (tc.kind != nil) {
				t.Errorf("%s before %s: %d are left, %v", name, verb, len(left), err)
			}
		}
	}
}

var refused = fault.Refused
