package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/placement"
)

// TestLeavingOutAsksTheRecordsOfTheFolder: the records of the very folder tell whether the end of its log can be given up.
func TestLeavingOutAsksTheRecordsOfTheFolder(t *testing.T) {
	for _, split := range []bool{false, true} {
		o := control.FolderOptions{Memory: 8 << 20, Logger: slog.New(slog.DiscardHandler)}
		killed := filepath.Join(t.TempDir(), "killed")
		leave(t, filepath.Join(t.TempDir(), "data"), o, split, killed)
		_, err := openFolder(t.Context(), killed, o)
		_, place, _ := strings.Cut(fault.Next(err), "--leave-out ")
		o.LeaveOut, _, _ = strings.Cut(place, " ")
		if !fault.Is(err, fault.Corrupt) || o.LeaveOut == "" {
			t.Fatal(err, fault.Next(err))
		}
		f, err := openFolder(t.Context(), killed, o)
		if split {
			if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "hand-off") {
				t.Error(err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Engine.Close(), f.Coord.Close()); err != nil {
			t.Error(err)
		}
	}
}

// leave copies a folder as a kill leaves it, with a damaged log. Its records know of a split, or of none.
func leave(t *testing.T, data string, o control.FolderOptions, split bool, killed string) {
	ctx := t.Context()
	f, err := openFolder(ctx, data, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(ctx, f.Coord, f.Engine, store.Options{Logger: o.Logger})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateIndex(ctx, "i", nil); err != nil {
		t.Fatal(err)
	}
	for i := range 9 {
		w := document.Write{Operation: document.Index, Target: "i", ID: fmt.Sprint(i), Source: []byte(`{"n":1}`), Condition: document.Always}
		if got := s.Write(ctx, []document.Write{w}, document.Eventually)[0]; got.Err != nil {
			t.Fatal(got.Err)
		}
	}
	p, err := s.PlacementOf(ctx, "i")
	if err != nil {
		t.Fatal(err)
	}
	if split {
		_, err = coord.Update(ctx, f.Coord, fmt.Sprintf("placement/%d", p.Index), func(value []byte) ([]byte, error) {
			p, err := placement.Decode(value)
			if err == nil {
				p.Shards[0].Term++
			}
			return p.Encode(), err
		})
	}
	if err == nil {
		err = os.CopyFS(killed, os.DirFS(data))
	}
	logs, _ := filepath.Glob(filepath.Join(killed, "truth", "*.log"))
	if err = errors.Join(err, s.Close(), f.Engine.Close(), f.Coord.Close()); err != nil || len(logs) == 0 {
		t.Fatal(err, logs)
	}
	log := logs[len(logs)-1]
	content, err := os.ReadFile(log)
	if err == nil {
		content[40] ^= 1
		err = os.WriteFile(log, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
