package embedded_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/reshelve/reshelve/internal/fault"
)

// killed is the disk of a process that was killed: everything that was written, synced or not.
type killed struct {
	*testing.T
	*vfs.MemFS
}

func kill(t *testing.T, of *vfs.MemFS) killed {
	return killed{t, of.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 2))})}
}

func (k killed) read(name string) []byte {
	k.Helper()
	file, err := k.Open(name)
	if err != nil {
		k.Fatal(err)
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		k.Fatal(err)
	}
	return data
}

func (k killed) write(name string, data []byte) {
	k.Helper()
	file, err := k.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		k.Fatal(err)
	}
	_, err = file.Write(bytes.Clone(data)) // which the disk in memory overwrites under the race detector
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		k.Fatal(err)
	}
}

// kept are the logs that were kept before their ends were left out.
func (k killed) kept() (logs [][]byte) {
	k.Helper()
	names, err := k.List("data/left-out")
	if err != nil {
		k.Fatal(err)
	}
	for _, name := range names {
		logs = append(logs, k.read("data/left-out/"+name))
	}
	return logs
}

// remove takes a file away for good.
func (k killed) remove(name string) {
	k.Helper()
	dir, err := k.OpenDir("data/truth")
	if err == nil {
		err = errors.Join(k.Remove(name), dir.Sync(), dir.Close())
	}
	if err != nil {
		k.Fatal(err)
	}
}

// newest is the path of the newest file of Pebble with a beginning and an end.
func (k killed) newest(prefix, suffix string) string {
	k.Helper()
	names, err := k.List("data/truth")
	if err != nil {
		k.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, prefix) || !strings.HasSuffix(n, suffix) })
	if len(names) == 0 {
		return ""
	}
	return "data/truth/" + slices.Max(names)
}

// synced is how many bytes of the newest log, or manifest, are noted.
func (k killed) synced() (log, manifest int) {
	k.Helper()
	var n int
	if _, err := fmt.Sscanf(string(k.read("data/truth/synced")), "log %d %d manifest %d %d", &n, &log, &n, &manifest); err != nil {
		k.Fatal(err)
	}
	return log, manifest
}

// starts opens the folder as it is and reports what it holds; refused is its refusal as damaged.
func (k killed) starts(h *history) (last int64, refused error) {
	k.Helper()
	e, s, err := opened(small(kill(k.T, k.MemFS).MemFS))
	if fault.Is(err, fault.Corrupt) && fault.Next(err) != "" {
		return -1, err
	}
	if err != nil {
		k.Fatal(err)
	}
	defer func() {
		if err := errors.Join(s.Close(), e.Close()); err != nil {
			k.Error(err)
		}
	}()
	if err := check(s, h.ops, -1, -1); err != nil {
		k.Fatal(err)
	}
	return s.Stats().SeqNo, nil
}

// written is the disk of a process that was killed after some groups were acknowledged, the last ones small, and how
// many bytes of its newest log were synced before the last group.
func written(t *testing.T, sizes ...int) (before, after killed, h *history) {
	t.Helper()
	mem := vfs.NewCrashableMem()
	h = &history{acked: -1, pruned: -1}
	e, s, err := opened(small(mem))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for i, n := range sizes {
		if i == len(sizes)-1 {
			before = kill(t, mem)
		}
		if !h.write(s, random(rng, n)) {
			t.Fatal("a write failed")
		}
	}
	after = kill(t, mem)
	if err := errors.Join(s.Close(), e.Close()); err != nil {
		t.Fatal(err)
	}
	return before, after, h
}

// ending gives logs that end within a block, at its very end, and soon after its beginning.
func ending(t *testing.T, do func(t *testing.T, before, after killed, h *history)) {
	for _, sizes := range [][]int{{1, 2, 3}, {30, 30, 100, 3, 2}, {7, 40, 1, 1}} {
		t.Run(fmt.Sprint(sizes), func(t *testing.T) {
			t.Parallel()
			before, after, h := written(t, sizes...)
			do(t, before, after, h)
		})
	}
}

// stride is to the next byte near both ends of a stretch, and further between.
func stride(at, of int) int {
	switch {
	case testing.Short():
		return 17
	case at < 50 || at > of-50:
		return 1
	}
	return 29
}

// TestDamageOfTheLastRecordsIsNoInterruptedWrite flips each byte of the last records of a log, one after the other, of a
// process that was killed after they were acknowledged, and cuts the log there: what was acknowledged is there, or the
// folder is refused.
func TestDamageOfTheLastRecordsIsNoInterruptedWrite(t *testing.T) {
	ending(t, func(t *testing.T, _, after killed, h *history) {
		name := after.newest("", ".log")
		data := after.read(name)
		synced, _ := after.synced()
		if last, err := after.starts(h); err != nil || last != h.acked {
			t.Fatalf("undamaged: %d of %d: %v", last, h.acked, err)
		}
		cases, refusals := 0, 0
		for at := max(0, synced-700); at < synced; at += stride(at-synced+700, 700) {
			flipped := bytes.Clone(data)
			flipped[at] ^= 1 << (at % 8)
			for what, damaged := range map[string][]byte{"flipped": flipped, "cut": data[:at], "zeroed": append(bytes.Clone(data[:at]), make([]byte, len(data)-at)...)} {
				after.write(name, damaged)
				cases++
				last, err := after.starts(h)
				if err != nil {
					if refusals++; !strings.Contains(err.Error(), name) || !strings.Contains(fault.Next(err), "--leave-out") {
						t.Fatalf("%s at %d: %v (%s)", what, at, err, fault.Next(err))
					}
				} else if last < h.acked {
					t.Fatalf("%s at %d of %d: %d of %d acknowledged changes are there, and the folder is opened", what, at, synced, last+1, h.acked+1)
				}
			}
		}
		after.write(name, data)
		if refusals < cases*9/10 {
			t.Errorf("%d refusals of %d", refusals, cases)
		}
	})
}

// TestAnInterruptedWriteIsNoDamage ends a log at each byte of a group that was being written when the process was
// killed: cut, and in a file that was longer. The folder is opened, with the group or without it.
func TestAnInterruptedWriteIsNoDamage(t *testing.T) {
	ending(t, func(t *testing.T, before, after killed, h *history) {
		name := before.newest("", ".log")
		if other := after.newest("", ".log"); other != name {
			t.Skip("the last group is in another log")
		}
		data := after.read(name)
		acked, _ := before.synced()
		ends, _ := after.synced()
		was, err := before.starts(h)
		if err != nil {
			t.Fatal(err)
		}
		for at := acked; at <= ends; at += stride(at-acked, ends-acked) {
			rest := bytes.Repeat([]byte{0xa5}, ends-at+100)
			for what, torn := range map[string][]byte{"cut": data[:at], "before zeros": append(bytes.Clone(data[:at]), make([]byte, 40000)...), "before old bytes": append(bytes.Clone(data[:at]), rest...)} {
				before.write(name, torn)
				if last, err := before.starts(h); err != nil || last < was {
					t.Fatalf("torn %s at %d of %d to %d: %d of %d: %v", what, at, acked, ends, last, was, err)
				}
			}
		}
	})
}

// TestAMissingLogIsNotAnEmptyOne removes the newest log of a process that was killed.
func TestAMissingLogIsNotAnEmptyOne(t *testing.T) {
	_, after, h := written(t, 5, 5)
	name := after.newest("", ".log")
	after.remove(name)
	if last, err := after.starts(h); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("it is opened with %d of %d: %v", last, h.acked, err)
	}
}

// TestDamageOfTheManifest flips and cuts the end of the manifest, which names the tables of rows: read without its
// end it would name those of before.
func TestDamageOfTheManifest(t *testing.T) {
	sizes := make([]int, 60)
	for i := range sizes {
		sizes[i] = 200
	}
	_, after, h := written(t, sizes...)
	name := after.newest("MANIFEST-", "")
	data := after.read(name)
	_, synced := after.synced()
	if synced < 300 || after.newest("", ".sst") == "" {
		t.Fatalf("%d bytes of a manifest", synced)
	}
	if last, err := after.starts(h); err != nil || last != h.acked {
		t.Fatalf("undamaged: %d of %d: %v", last, h.acked, err)
	}
	for at := synced - 150; at < synced; at += 3 {
		flipped := bytes.Clone(data)
		flipped[at] ^= 1 << (at % 8)
		for what, damaged := range map[string][]byte{"flipped": flipped, "cut": data[:at]} {
			after.write(name, damaged)
			last, err := after.starts(h)
			if err == nil && last < h.acked {
				t.Fatalf("%s at %d of %d: %d of %d acknowledged changes are there, and the folder is opened", what, at, synced, last+1, h.acked+1)
			}
			if err == nil && what == "cut" && synced-at > 8 {
				t.Errorf("%s at %d of %d: the folder is opened", what, at, synced)
			}
		}
	}
}

// TestLeavingOutTheDamagedEndOfALog: the refusal names what to write, and what that costs; then what was before is
// there, the log as it was is kept, and the next start is one as any other.
func TestLeavingOutTheDamagedEndOfALog(t *testing.T) {
	for _, gone := range []bool{false, true} {
		_, after, h := written(t, 5, 5, 3, 2)
		name := after.newest("", ".log")
		data := after.read(name)
		if gone {
			after.remove(name)
		} else {
			data[len(data)/3] ^= 1
			after.write(name, data)
		}
		earlier := "data/left-out/" + strings.TrimPrefix(name, "data/truth/") // kept before the folder was restored from a backup
		if err := after.MkdirAll("data/left-out", 0o700); err != nil {
			t.Fatal(err)
		}
		after.write(earlier, []byte("earlier"))
		_, refused := after.starts(h)
		if refused == nil {
			t.Fatal("it is opened")
		}
		t.Log(refused, "|", fault.Next(refused))
		_, place, _ := strings.Cut(fault.Next(refused), "--leave-out ")
		place, _, _ = strings.Cut(place, " ")
		o := small(after.MemFS)
		o.LeaveOut = "000001.log:0"
		if _, _, err := opened(o); !fault.Is(err, fault.Corrupt) {
			t.Fatalf("another place: %v", err)
		}
		o.LeaveOut = place
		var lasts []int64
		for range 2 {
			e, s, err := opened(o)
			if err != nil {
				t.Fatal(err)
			}
			if lasts = append(lasts, s.Stats().SeqNo); lasts[0] >= h.acked {
				t.Errorf("%d of %d", lasts[0], h.acked)
			}
			if err := errors.Join(check(s, h.ops, -1, -1), s.Close(), e.Close()); err != nil {
				t.Fatal(err)
			}
			o.LeaveOut = ""
		}
		if lasts[0] != lasts[1] {
			t.Errorf("%v", lasts)
		}
		if kept := after.kept(); slices.ContainsFunc(kept, func(k []byte) bool { return bytes.Equal(k, data) }) == gone || !bytes.Equal(after.read(earlier), []byte("earlier")) {
			t.Errorf("the log as it was is not kept, or not beside what was: %d are", len(kept))
		}
	}
}

// TestAFolderOfBefore has no note of what was synced: what is behind a bad record says that it is damage.
func TestAFolderOfBefore(t *testing.T) {
	_, after, h := written(t, 5, 5, 3, 2)
	after.remove("data/truth/synced")
	if last, err := after.starts(h); err != nil || last != h.acked {
		t.Fatalf("undamaged: %d of %d: %v", last, h.acked, err)
	}
	name := after.newest("", ".log")
	data := after.read(name)
	data[40] ^= 1
	after.write(name, data)
	if last, err := after.starts(h); err == nil {
		t.Errorf("it is opened with %d of %d", last, h.acked)
	}
}

// TestTheNoteItselfIsDamaged: the folder is opened without it.
func TestTheNoteItselfIsDamaged(t *testing.T) {
	_, after, h := written(t, 5, 5)
	for _, note := range []string{"", "x", strings.Repeat("9", 300), strings.Replace(string(after.read("data/truth/synced")), "0", "1", 1)} {
		after.write("data/truth/synced", []byte(note))
		if last, err := after.starts(h); err != nil || last != h.acked {
			t.Errorf("%q: %d of %d: %v", note, last, h.acked, err)
		}
	}
}
