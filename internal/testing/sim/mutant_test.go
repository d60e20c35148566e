package sim_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mutant is a mistake: a piece of the code, and what stands there instead.
type mutant struct{ name, file, is, becomes string }

// mutants are mistakes that somebody could make, or has made: a piece of the code, and what
// stands there instead. The simulation must not survive one of them. What it cannot reach is not
// here: that a late answer of the clock is believed is met by the tests of package drive, since an
// answer has to be late three times in a row.
var mutants = []mutant{
	{"a lease is not checked", "internal/movement/work/lease.go",
		"	case l.LeaseHolderID != worker:\n		return fault", "	case l.LeaseHolderID != worker && l.LeaseHolderID == \"nobody\":\n		return fault"},
	{"a cursor is stored before the target has answered", "internal/movement/migrate/copying.go",
		"	b.ticket = s.tracker.Begin(end)\n", "	b.ticket = s.tracker.Begin(end)\n	s.tracker.Done(b.ticket, b.counts)\n	b.ticket = s.tracker.Begin(end)\n"},
	{"an abort does not wait for those at work", "internal/movement/worker/piece.go",
		"		if !piece.Quiet(p, now) {\n", "		if false && !piece.Quiet(p, now) {\n"},
	{"an item is done before its successor is there", "internal/movement/migrate/documents.go",
		"	if err := t.Driver.Make(held.Context(), t.itemKey(&successor), successor); err != nil {\n		return err\n	}\n	return held.Complete()\n",
		"	if err := held.Complete(); err != nil {\n		return err\n	}\n	return t.Driver.Make(context.Background(), t.itemKey(&successor), successor)\n"},
	{"a lease is taken from who was heard of", "internal/movement/work/lease.go",
		"	return !now.After(l.Deadline(p))\n", "	return !now.After(l.HeartbeatAt.Add(p.Heartbeat / 2))\n"},
	{"an index is made before it is written down", "internal/movement/migrate/making.go",
		"	if err := t.Driver.Intend(ctx, t.movement.ID, ours); err != nil {\n		return err\n	}\n	if err := t.intendSettings(ctx, name, before); err != nil {\n		return err\n	}\n	err = t.target.CreateIndex(ctx, name, body)\n",
		"	err = t.target.CreateIndex(ctx, name, body)\n	if err := t.Driver.Intend(ctx, t.movement.ID, ours); err != nil {\n		return err\n	}\n	if err := t.intendSettings(ctx, name, before); err != nil {\n		return err\n	}\n"},
	{"documents are sent by the name of their index", "internal/movement/migrate/writealias.go", "	if alias, has := s.ways[name]; has {\n", "	if alias, has := s.ways[name]; has && name == \"\" {\n"},
	{"an alias stays when the movement has ended", "internal/movement/migrate/undo.go", "return \"\", t.removeAlias(ctx, e)", "return \"\", nil"},
	{"an index is called made before it is bare", "internal/movement/migrate/making.go",
		"			if err := t.bare(ctx, held, name); err != nil {\n				return err\n			}\n			return t.Driver.Made(ctx, t.movement.ID, *e, identity)\n",
		"			if err := t.Driver.Made(ctx, t.movement.ID, *e, identity); err != nil {\n				return err\n			}\n			return t.bare(ctx, held, name)\n"},
	{"what is taken away is not written down", "internal/movement/migrate/bare.go", "		e.Aliases = all\n", "		_ = all\n"},
	{"differences are not looked at", "internal/movement/migrate/verify.go",
		"	n := v.Result.Differences() - v.Others\n", "	n := 0 * v.Result.Differences()\n"},
	{"what others have written is deleted", "internal/movement/migrate/deltasend.go",
		"care{mine: was.stands})", "care{mine: func(*standing) bool { return true }})"},
	{"a redrive forgets a letter", "internal/movement/migrate/redrive.go",
		"positions[i] = list[i].Position", "positions[i] = list[0].Position"},
	{"a redrive does not name what others have deleted", "internal/movement/migrate/redrive.go",
		"			l.Others = addOthers(l.Others, again.others)\n", ""},
	{"a reader ignores a checksum", "snapshot/internal/lucene/header.go",
		"		return fault.At(fault.New(fault.Corrupt, \"the checksum is %08x, the footer says %08x\"", "		_ = fault.At(fault.New(fault.Corrupt, \"the checksum is %08x, the footer says %08x\""},
	{"what failed is not listed", "internal/movement/migrate/copying.go",
		"s.keepFailures(s.ctx, item.Name(), item.Index, b.from, b.bad)", "s.keepFailures(s.ctx, item.Name(), item.Index, b.from, nil)"},
	{"hours are not looked at", "internal/movement/migrate/sharing.go",
		"	return open || err != nil\n", "	return open || !open || err != nil\n"},
	{"each worker has all of the limits", "internal/movement/migrate/limits.go",
		"	if all > mine && mine > 0 {\n", "	if all < mine && mine > 0 {\n"},
	{"who finds nothing to do asks on and on", "internal/movement/migrate/delta.go",
		"	if outcome.Done && !changes.Done { // others are at what is left: nothing was done here\n		return worker.Outcome{}, err\n	}\n",
		"	outcome.Done = outcome.Done && changes.Done\n"},
	{"documents lose their versions", "internal/movement/migrate/resend.go",
		"		op.Version = v.Version\n", "		op.Version = -v.Version - 1\n"},
	{"who is not heard of goes on", "internal/movement/drive/held.go", "func() { h.cancel(unheard) }", "func() { _ = unheard }"},
	{"the end is left to chance", "internal/movement/worker/search.go",
		"	return s.count(ctx, slot, m, p, sweep)\n",
		"	if len(sweep.Open()) > 0 {\n		return Found{}, nil\n	}\n	return s.count(ctx, slot, m, p, sweep)\n"},
	{"what others have written is replaced", "internal/movement/migrate/beside.go",
		"	case !care.mine(there) || round >= rounds:\n", "	case round >= rounds:\n"},
	{"what others write between a look and the write is replaced", "internal/movement/migrate/beside.go",
		"		op.Version, op.Above, op.Seen = -1, false, there.Seen\n", "		op.Version, op.Above = there.Version+1, false\n"},
	{"a new document replaces what is there", "internal/movement/migrate/beside.go",
		"		op.Version, op.Above = care.fresh, c.created[i] == 0\n", "		op.Version, op.Above = care.fresh, false\n"},
}

// shelvesMutants are the same for an index that is reshaped.
var shelvesMutants = []mutant{
	{"a hand-off releases before its compare-and-set", "internal/store/handoff.go",
		"	if err == nil {\n		err = h.change(ctx)\n	}\n	h.release(ctx)\n", "	h.release(ctx)\n	if err == nil {\n		err = h.change(ctx)\n	}\n"},
	{"nothing is fenced", "internal/store/handoff.go",
		"			at[i], lifts[i], err = sh.Fence(limited)\n			return err\n",
		"			at[i] = sh.Stats().SeqNo\n			return limited.Err()\n"},
	{"tombstones are forgotten when shards are staged", "internal/store/shard/memory/stage.go",
		"				t.rows = t.rows.with(*row)\n", "				if !row.Deleted {\n					t.rows = t.rows.with(*row)\n				}\n"},
	{"a shard takes what it does not own", "internal/store/shard/memory/gate.go",
		"	if s.placed.Range.Contains(key) {\n", "	if s.placed.Range.Contains(key) || true {\n"},
	{"an epoch is not looked at", "internal/store/shard/memory/gate.go",
		"	if s.placed.Epoch == 0 || s.placed.Epoch != epoch {\n", "	if s.placed.Epoch == 0 {\n"},
	{"a hand-off gives no new term", "internal/movement/transfer/place.go",
		"Term: g.term(), Node: node", "Term: g.term() - 1, Node: node"},
	{"an abort goes on after the hand-off", "internal/movement/transfer/wish.go",
		"	if i := r.handed(); i >= 0 {\n", "	if i := r.handed(); i >= 1000 {\n"},
	{"an abort leaves what is staged", "internal/store/reshape.go",
		"	return s.engine.Unstage(ctx, index, s)\n", "	return nil\n"},
	{"the ledger and the other records stay", "internal/movement/worker/closing.go",
		"		return s.Driver.RemoveAll(ctx, work.Prefix(m.ID))\n", "		_ = work.Prefix(m.ID)\n		return nil\n"},
	{"a hand-off whose end is not known is given up", "internal/store/handoff.go",
		"		if doubt == 0 || fault.Is(err, fault.NotFound) {\n", "		if doubt >= 0 || fault.Is(err, fault.NotFound) {\n"},
	{"a search goes on with a shard that is stale", "internal/store/shard/memory/shard.go",
		"	if err := s.admit(ctx, epoch); err != nil {\n		return nil, err\n	}\n	defer s.mu.Unlock()\n	r := &Reader",
		"	s.mu.Lock()\n	defer s.mu.Unlock()\n	r := &Reader"},
	{"what is staged too late counts", "internal/store/shard/memory/stage.go",
		"		if late = current(sources, rows); late != nil {\n", "		if late = current(sources, rows); late != nil && false {\n"},
	{"a movement whose index was deleted rests for ever", "internal/movement/reshard/pin.go",
		"	if gone, err := l.gone(ctx, &plan); !gone {\n", "	if gone, err := l.gone(ctx, &plan); !gone || gone {\n"},
	{"what was led back stays pinned when its index was deleted", "internal/movement/reshard/end.go",
		"		defer l.unpin(m.ID) // where the way back pins something, and the index is deleted before that is compared\n", ""},
	{"a deletion leaves the name", "internal/store/delete.go",
		"return c.WithoutIndices(names)", "return c, nil"},
	{"who follows is not told that changes are gone", "internal/store/shard/memory/truth.go",
		"	if after < t.pruned {\n		return nil, false\n	}\n", "	if after < t.pruned {\n		return nil, true\n	}\n"},
	{"a change is left out", "internal/store/shard/memory/truth.go",
		"	found := t.log[first:]\n", "	found := t.log[min(first+1, int64(len(t.log))):]\n"},
	{"what was kept for an end stays", "internal/movement/worker/tidy.go",
		"		if over[id] {\n", "		if over[id] && id == \"\" {\n"},
}

// TestMutants builds this package with each mistake, and lets the same seeds run: with
// SIM_MUTANTS set, since each takes half a minute.
func TestMutants(t *testing.T) {
	if os.Getenv("SIM_MUTANTS") == "" {
		t.Skip("it builds the lane again for each mistake: set SIM_MUTANTS")
	}
	meet(t, mutants, "TestScripts|TestWhatWas|TestAFleetKnows", "TestOthers", "TestACrash|TestSeeds$")
}

// TestShelvesMutants is the same for what reshapes an index.
func TestShelvesMutants(t *testing.T) {
	if os.Getenv("SIM_MUTANTS") == "" {
		t.Skip("it builds the lane again for each mistake: set SIM_MUTANTS")
	}
	meet(t, shelvesMutants, "TestShelvesScripts", "TestShelves$|TestTheMatrix")
}

// TestMistakesCanStillBeMade: the code still says what each of them changes.
func TestMistakesCanStillBeMade(t *testing.T) {
	for _, m := range slices.Concat(mutants, shelvesMutants) {
		t.Run(m.name, func(t *testing.T) { m.made(t) })
	}
}

// made is the file of the mistake, and what it is with it.
func (m mutant) made(t *testing.T) (path, code string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", m.file))
	if err != nil {
		t.Fatal(err)
	}
	is, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(is), m.is); n != 1 {
		t.Fatalf("%s holds this %d times:\n%s", m.file, n, m.is)
	}
	return path, strings.Replace(string(is), m.is, m.becomes, 1)
}

// meet lets tests meet mistakes: the quick ones first.
func meet(t *testing.T, mutants []mutant, tests ...string) {
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			path, code := m.made(t)
			dir := t.TempDir()
			changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
			if err := os.WriteFile(changed, []byte(code), 0o600); err != nil {
				t.Fatal(err)
			}
			replace, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(overlay, replace, 0o600); err != nil {
				t.Fatal(err)
			}
			var said []byte
			for _, tests := range tests {
				run := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-run", tests, "-failfast", "-timeout", "10m", ".")
				run.Env = append(os.Environ(), "SIM_MUTANTS=", "SIM_SEEDS=150", "SIM_LOG=0")
				if said, err = run.CombinedOutput(); err != nil {
					break
				}
			}
			switch {
			case err == nil:
				t.Errorf("it is survived:\n%.2000s", said)
			case !bytes.Contains(said, []byte("--- FAIL")):
				t.Errorf("it fails for another reason: %v\n%.2000s", err, said)
			default:
				_, law, _ := bytes.Cut(said, []byte("seed "))
				line, _, _ := bytes.Cut(law, []byte("\n"))
				t.Logf("seed %s", line)
			}
		})
	}
}
