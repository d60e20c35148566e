package migrate_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// blobs are the files with data of a folder in the repository, by name.
func (p *copied) blobs(glob string) map[string][]byte {
	p.t.Helper()
	names, err := filepath.Glob(filepath.Join(p.repository, "indices", glob, "__*"))
	if err != nil || len(names) == 0 {
		p.t.Fatal(names, err)
	}
	all := map[string][]byte{}
	for _, name := range names {
		if all[name], err = os.ReadFile(name); err != nil {
			p.t.Fatal(err)
		}
	}
	return all
}

func (p *copied) write(files map[string][]byte) {
	p.t.Helper()
	for name, data := range files {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
}

// TestWhatFailedIsTriedAgain: blobs are damaged, or gone. The rest is moved, and what failed
// is named; when the blobs are back, a redrive makes the whole complete.
func TestWhatFailedIsTriedAgain(t *testing.T) {
	for name, harm := range map[string]func(data []byte) []byte{
		"damaged": func(data []byte) []byte {
			torn := append([]byte(nil), data...)
			for i := range torn {
				torn[i] ^= 0x55
			}
			return torn
		},
		"cut":  func(data []byte) []byte { return data[:len(data)/2] },
		"gone": func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			p := newCopied(t, "opensearch-2.19.0-basic")
			shelves, err := p.open().Find(t.Context(), "second")
			if err != nil {
				t.Fatal(err)
			}
			idx, err := shelves.Index(t.Context(), "shelves")
			if err != nil {
				t.Fatal(err)
			}
			whole := p.blobs(idx.ID + "/1")
			for file, data := range whole {
				if torn := harm(data); torn != nil {
					p.write(map[string][]byte{file: torn})
				} else if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			}
			p.start("m", p.plan("second"))
			m, progress := p.work("m")
			if m.State != movement.Held || progress.Items.Failed == 0 || progress.Items.Done == 0 {
				t.Fatalf("it is %s: %s; %+v", m.State, m.Cause, progress.Items)
			}
			pieces, err := migrate.FailedPieces(t.Context(), p.driver, "m")
			if err != nil || len(pieces) != progress.Items.Failed || pieces[0].Index != "shelves" || pieces[0].Cause == "" {
				t.Fatal(pieces, err)
			}

			p.tell("m", movement.Redrive) // nothing was mended
			if m, again := p.work("m"); m.State != movement.Held || again.Items.Failed != progress.Items.Failed {
				t.Fatalf("it is %s: %+v", m.State, again.Items)
			}
			p.write(whole)
			p.tell("m", movement.Redrive)
			m, progress = p.work("m")
			if m.State != movement.Finished || progress.Items.Failed != 0 || progress.Items.Done == 0 {
				t.Fatalf("it is %s: %s; %+v", m.State, m.Cause, progress.Items)
			}
			for _, v := range progress.Verified {
				if v.Expected != v.Found {
					t.Errorf("%s: %s in the snapshot, %s on the target", v.Index, v.Expected, v.Found)
				}
			}
			if !progress.Balanced() {
				t.Errorf("%+v", progress.Counts)
			}
		})
	}
}

// TestADocumentThatOthersHavePutRight: the target has refused it, and they have written it themselves since. A redrive
// leaves that, with versions and without, and names it.
func TestADocumentThatOthersHavePutRight(t *testing.T) {
	for _, noVersions := range []bool{false, true} {
		p := newCopied(t, "opensearch-2.19.0-basic")
		p.put([]string{"loans"}, `{"mappings":{"dynamic":"strict","properties":{"n":{"type":"integer"}}}}`)
		plan := p.plan("second")
		plan.NoVersions = noVersions
		p.start("m", plan)
		if m, progress := p.work("m"); m.State != movement.Held || progress.Failed < 2 {
			t.Fatalf("it is %s: %s", m.State, m.Cause)
		}
		failed := map[string]bool{}
		err := migrate.Failures(t.Context(), p.driver, "m", "loans", func(_ string, _ int, f migrate.Failure) error {
			failed[f.ID] = true
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		id := pick(t, nil, p.held("second", "loans"), func(_, is string) bool { return is != "" && is != theirs })
		if !failed[id] {
			t.Fatalf("%q has not failed", id)
		}
		p.put([]string{"loans", "_mapping"}, `{"dynamic":"false"}`)
		p.put([]string{"loans", "_doc", id}, theirs)
		p.tell("m", movement.Redrive)
		m, progress := p.work("m")
		said, left := phaseOf(&m, movement.RedrivePhase), fmt.Sprintf("1 were changed or deleted on the target since, and are left so (%q)", id)
		if doc := p.doc("loans", id); doc != theirs || !strings.Contains(said, left) || progress.Failed != 0 {
			t.Errorf("without versions %v: it is %s; %s", noVersions, doc, said)
		}
	}
}

// TestAnIndexThatWasRefused is moved by a redrive when the target allows it.
func TestAnIndexThatWasRefused(t *testing.T) {
	p := newCopied(t, "opensearch-2.19.0-basic")
	p.put([]string{"loans", "_doc", "theirs"}, `{}`)
	p.request(http.MethodPost, "_refresh", "")
	p.start("m", p.plan("second"))
	m, _ := p.work("m")
	if m.State != movement.Held || !strings.Contains(m.Cause, "loans was not moved") {
		t.Fatalf("it is %s: %s", m.State, m.Cause)
	}
	p.request(http.MethodDelete, "loans", "")
	p.tell("m", movement.Redrive)
	m, progress := p.work("m")
	if m.State != movement.Finished {
		t.Fatalf("it is %s: %s", m.State, m.Cause)
	}
	for _, index := range progress.Indices {
		if index.State != work.Done || index.Copied.Acknowledged == 0 {
			t.Errorf("%+v", index)
		}
	}
	found := false
	for _, phase := range m.Phases {
		found = found || phase.Outcome == "1 index opened again, of which 0 failed again, 0 documents sent again"
	}
	if !found || len(progress.Verified) != 3 {
		t.Errorf("%+v, %d compared", m.Phases, len(progress.Verified))
	}
}

// TestDocumentsThatWereRefused are counted by cause, listed, and taken when the mapping was
// mended; or allowed.
func TestDocumentsThatWereRefused(t *testing.T) {
	p := newCopied(t, "opensearch-2.19.0-basic")
	strict := `{"mappings":{"dynamic":"strict","properties":{"n":{"type":"integer"}}}}`
	p.put([]string{"loans"}, strict)
	p.start("m", p.plan("second"))
	m, progress := p.work("m")
	if m.State != movement.Held || progress.Failed == 0 {
		t.Fatalf("it is %s: %s", m.State, m.Cause)
	}
	var sum, listed int64
	for _, c := range progress.Failures {
		sum += c.Documents
		if c.Index != "loans" || c.Type != "strict_dynamic_mapping_exception" {
			t.Errorf("%+v", c)
		}
	}
	err := migrate.Failures(t.Context(), p.driver, "m", "loans", func(index string, shard int, f migrate.Failure) error {
		listed++
		if index != "loans" || shard != 0 || f.ID == "" || f.Reason == "" {
			t.Errorf("%s/%d: %+v", index, shard, f)
		}
		return nil
	})
	if err != nil || sum != progress.Failed || listed != sum {
		t.Errorf("%d failed, %d by cause, %d listed; %v", progress.Failed, sum, listed, err)
	}

	p.put([]string{"loans", "_mapping"}, `{"dynamic":"false"}`)
	p.tell("m", movement.Redrive)
	m, progress = p.work("m")
	if m.State != movement.Finished || progress.Failed != 0 || len(progress.Failures) != 0 || !progress.Balanced() {
		t.Errorf("it is %s: %s; %+v", m.State, m.Cause, progress.Counts)
	}

	p.request(http.MethodDelete, "loans", "")
	p.request(http.MethodDelete, "shelves", "")
	p.request(http.MethodDelete, "empty-hall", "")
	p.put([]string{"loans"}, strict)
	plan := p.plan("second")
	plan.AllowFailures = sum
	p.start("allowed", plan)
	if m, progress = p.work("allowed"); m.State != movement.Finished || progress.Failed != sum || len(progress.Failures) == 0 {
		t.Errorf("it is %s: %s; %+v", m.State, m.Cause, progress.Counts)
	}
	plan.AllowFailures--
	p.request(http.MethodDelete, "loans", "")
	p.put([]string{"loans"}, strict)
	p.start("toomany", plan)
	if m, _ = p.work("toomany"); m.State != movement.Held {
		t.Errorf("it is %s: %s", m.State, m.Cause)
	}
}
