package snapshot

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

func miniatureShard(t *testing.T, n int, m miniature) (*Shard, *mapBucket) {
	t.Helper()
	b := m.build()
	r, err := Open(context.Background(), b)
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Find(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	i, err := s.Index(context.Background(), "books")
	if err != nil {
		t.Fatal(err)
	}
	sh, err := i.Shard(context.Background(), n)
	if err != nil {
		t.Fatal(err)
	}
	b.opened = nil
	return sh, b
}

func readRange(sh *Shard, name string, offset, length int64) (string, error) {
	r, err := sh.Open(context.Background(), name, offset, length)
	if err != nil {
		return "", err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	return string(data), err
}

func TestRangesCrossPartsAndOpenOnlyWhatTheyMeet(t *testing.T) {
	sh, b := miniatureShard(t, 1, newMiniature())
	const whole = "0123456789abcdefghijABCDE"
	for offset := range len(whole) + 1 {
		for end := offset; end <= len(whole); end++ {
			b.opened = nil
			got, err := readRange(sh, "_0.fdt", int64(offset), int64(end-offset))
			if err != nil || got != whole[offset:end] {
				t.Fatalf("[%d,%d): %q, %v", offset, end, got, err)
			}
			var want []string
			for part := range 3 {
				if offset < end && offset < 10*part+10 && end > 10*part {
					want = append(want, "indices/I/1/__x.part"+string(rune('0'+part)))
				}
			}
			if !slices.Equal(b.opened, want) {
				t.Fatalf("[%d,%d): opened %q, want %q", offset, end, b.opened, want)
			}
		}
	}
}

func TestContentOfTheManifestNeedsNoBlob(t *testing.T) {
	sh, b := miniatureShard(t, 0, newMiniature())
	name, err := sh.CommitFile()
	if err != nil || name != "segments_1" {
		t.Fatal(name, err)
	}
	got, err := readRange(sh, name, 2, 6)
	if err != nil || got != "commit" || len(b.opened) > 0 {
		t.Errorf("%q, %v, opened %q", got, err, b.opened)
	}
	info, ok := sh.Stat(name)
	if !ok || info.Length != int64(len(commitFile)) || !info.HasChecksum {
		t.Errorf("%+v", info)
	}
}

func TestTheLatestCommitCounts(t *testing.T) {
	sh := &Shard{Files: []File{{Name: "segments.gen"}, {Name: "segments_9"}, {Name: "segments_z"}, {Name: "segments_10"}}}
	if name, err := sh.CommitFile(); name != "segments_10" || err != nil {
		t.Error(name, err)
	}
}

func TestABlobThatIsShortOrMissing(t *testing.T) {
	short := newMiniature()
	short["indices/I/1/__x.part1"] = "abc"
	sh, _ := miniatureShard(t, 1, short)
	got, err := readRange(sh, "_0.fdt", 0, 25)
	if got != "0123456789abc" || !fault.Is(err, fault.Corrupt) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%q, %v", got, err)
	}
	if want := "blob indices/I/1/__x.part1: ends at offset 3"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	sh, _ = miniatureShard(t, 1, newMiniature().without("indices/I/1/__x.part2"))
	if _, err := readRange(sh, "_0.fdt", 15, 10); !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "__x.part2, which is missing") {
		t.Error(err)
	}
	for _, r := range [][2]int64{{-1, 2}, {0, 26}, {26, 0}, {3, -1}, {1, 1<<63 - 1}} {
		if _, err := sh.Open(context.Background(), "_0.fdt", r[0], r[1]); !fault.Is(err, fault.Corrupt) {
			t.Errorf("range %v: %v", r, err)
		}
	}
	if _, err := sh.Open(context.Background(), "_9.fdt", 0, 1); !fault.Is(err, fault.Corrupt) {
		t.Errorf("a file that is not there: %v", err)
	}
}
