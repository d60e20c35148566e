package snapshot_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/snapshot/blob/memory"
)

// repository is one real repository with the server's own answers beside it;
// see testdata/README.md for the form of the answers.
type repository struct {
	name string
	dir  string
}

// repositories are those of testdata, and those of RESHELVE_SHARED (or the
// folder shared beside the checkout) where it is there.
func repositories(t testing.TB) (found []repository) {
	t.Helper()
	for _, pattern := range []string{"../testdata/repositories/*/expected", sharedFolder() + "/snapshots/real/*/expected"} {
		dirs, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			dir = filepath.Dir(dir)
			name := filepath.Base(dir)
			if !strings.HasPrefix(dir, "../testdata") {
				name = "shared-" + name
			}
			found = append(found, repository{name, dir})
		}
	}
	if len(found) == 0 {
		t.Fatal("testdata/repositories is empty")
	}
	return found
}

func sharedFolder() string {
	if dir := os.Getenv("RESHELVE_SHARED"); dir != "" {
		return dir
	}
	return "../../shared"
}

// bucket holds the whole repository in memory.
func (r repository) bucket(t testing.TB) memory.Bucket {
	t.Helper()
	return memory.Bucket(r.blobs(t))
}

func (r repository) blobs(t testing.TB) map[string][]byte {
	t.Helper()
	blobs := map[string][]byte{}
	root := filepath.Join(r.dir, "repo")
	err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		key, _ := filepath.Rel(root, path)
		blobs[filepath.ToSlash(key)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return blobs
}

// answer is one document as the server returned it.
type answer struct {
	ID           string  `json:"_id"`
	Shard        int     `json:"_shard"`
	Type         string  `json:"_type"`
	Routing      *string `json:"_routing"`
	Version      *int64  `json:"_version"`
	SeqNo        *int64  `json:"_seq_no"`
	PrimaryTerm  *int64  `json:"_primary_term"`
	Source       *string `json:"_source"`
	SourceLength *int    `json:"_source_length"`
	SourceSHA256 string  `json:"_source_sha256"`
}

// key tells documents of one index apart: the same id may live in two shards
// and, up to 5.x, in two types.
func (a answer) key() string { return fmt.Sprintf("%d/%s/%s", a.Shard, a.Type, a.ID) }

func (r repository) answers(t testing.TB, snap, index string) map[string]answer {
	t.Helper()
	file, err := os.Open(filepath.Join(r.dir, "expected", snap, index+".ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	answers := map[string]answer{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatalf("%s: %v", file.Name(), err)
		}
		if a.Type == "_doc" { // from 7.0 on every document has this type, which is none
			a.Type = ""
		}
		answers[a.key()] = a
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return answers
}

// compare holds one document against the server's answer.
// A source-only snapshot holds no versions.
func (a answer) compare(doc *document.Document, sourceOnly bool) error {
	if routing := string(doc.Routing); a.Routing != nil && *a.Routing != routing || a.Routing == nil && routing != "" {
		return fmt.Errorf("routing %q", routing)
	}
	none := document.Versions{Version: -1, SeqNo: -1, PrimaryTerm: -1}
	if v := doc.Versions; v != nil && (!sourceOnly || *v != none) {
		for _, n := range []struct {
			name string
			want *int64
			got  int64
		}{{"version", a.Version, v.Version}, {"sequence number", a.SeqNo, v.SeqNo}, {"primary term", a.PrimaryTerm, v.PrimaryTerm}} {
			if n.want != nil && n.got != *n.want {
				return fmt.Errorf("%s %d, the server says %d", n.name, n.got, *n.want)
			}
		}
	}
	switch {
	case a.SourceLength != nil:
		sum := sha256.Sum256(doc.Source)
		if len(doc.Source) != *a.SourceLength || hex.EncodeToString(sum[:]) != a.SourceSHA256 {
			return fmt.Errorf("source of %d bytes differs from the server's of %d", len(doc.Source), *a.SourceLength)
		}
	case a.Source == nil && doc.Source != nil:
		return fmt.Errorf("source %.200s, the server has none", doc.Source)
	case a.Source != nil && doc.Source == nil:
		return fmt.Errorf("no source, the server has %.200s", *a.Source)
	case a.Source != nil && !bytes.Equal(doc.Source, []byte(*a.Source)):
		return fmt.Errorf("source\n%.300s\nthe server says\n%.300s", doc.Source, *a.Source)
	}
	return nil
}

// unreadable are repositories whose documents lie elsewhere.
var unreadable = map[string]bool{"opensearch-2.19.0-shallow": true, "opensearch-2.19.0-mount": true}

// TestDocumentsAreTheServersAnswers reads every shard of every snapshot of every
// repository and compares each document with what the server that made the
// snapshot returned for it.
func TestDocumentsAreTheServersAnswers(t *testing.T) {
	for _, r := range repositories(t) {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			repo, err := snapshot.Open(t.Context(), r.bucket(t))
			if err != nil {
				t.Fatal(err)
			}
			snaps, err := repo.All(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			compared := 0
			for _, snap := range snaps {
				for _, index := range snap.Indices {
					if _, err := os.Stat(filepath.Join(r.dir, "expected", snap.Name, index+".ndjson")); err != nil {
						t.Logf("%s: the server's answers for %s were not kept", snap.Name, index)
						continue
					}
					compared += compareIndex(t, r, snap, index)
				}
			}
			if compared == 0 && !unreadable[r.name] {
				t.Error("nothing was compared")
			}
			t.Logf("%d documents compared", compared)
		})
	}
}

func compareIndex(t *testing.T, r repository, snap *snapshot.Snapshot, name string) (compared int) {
	t.Helper()
	index, err := snap.Index(t.Context(), name)
	if err != nil {
		t.Errorf("%s/%s: %v", snap.Name, name, err)
		return 0
	}
	if why, is := index.Synthetic(); is {
		t.Logf("%s/%s: refused: %s", snap.Name, name, why)
		return 0
	}
	left := r.answers(t, snap.Name, name)
	for n := range index.Shards {
		shard, err := index.Shard(t.Context(), n)
		switch {
		case unreadable[r.name] && fault.Is(err, fault.Refused) && fault.Next(err) != "":
			t.Logf("refused: %v: %s", err, fault.Next(err))
			return compared
		case snap.State == snapshot.Partial && (fault.Is(err, fault.NotFound) || fault.Is(err, fault.Refused)):
			t.Logf("not in the snapshot: %v", err)
			continue
		case err != nil:
			t.Errorf("%s/%s/%d: %v", snap.Name, name, n, err)
			continue
		}
		docs, err := shard.Documents(t.Context(), snapshot.ReadOptions{Versions: true})
		if err != nil {
			t.Errorf("%s/%s/%d: %v", snap.Name, name, n, err)
			continue
		}
		for docs.Next() {
			doc := docs.Document()
			key := answer{ID: string(doc.ID), Shard: n, Type: string(doc.Type)}.key()
			want, ok := left[key]
			if !ok {
				t.Errorf("%s: %s is no document of the server's, or a second one", doc.Position, key)
				continue
			}
			delete(left, key)
			compared++
			if err := want.compare(doc, strings.Contains(r.name, "source-only")); err != nil {
				t.Errorf("%s: document %s: %v", doc.Position, key, err)
			}
		}
		if err := docs.Err(); err != nil {
			t.Errorf("%s/%s/%d: %v", snap.Name, name, n, err)
		}
		if first, last, open := docs.Unconfirmed(); open || len(docs.Unreached()) > 0 {
			t.Errorf("%s/%s/%d: %d to %d and %v stay unconfirmed at the end", snap.Name, name, n, first, last, docs.Unreached())
		}
		docs.Close()
	}
	for key := range left {
		t.Errorf("%s/%s: document %s of the server's is missing", snap.Name, name, key)
	}
	return compared
}
