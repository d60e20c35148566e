package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/cli"
)

// answer is a document as the server returned it, or as cat printed it.
type answer struct {
	Index        string          `json:"_index"`
	ID           string          `json:"_id"`
	Routing      string          `json:"_routing"`
	Type         string          `json:"_type"`
	Version      *int64          `json:"_version"`
	Source       json.RawMessage `json:"_source"` // of the server: a JSON string with the text
	SourceLength int             `json:"_source_length"`
	SourceSHA256 string          `json:"_source_sha256"`
}

// identity tells documents of one snapshot apart, but for those that two shards
// hold under one id.
func (a answer) identity() string {
	return fmt.Sprintf("%s/%q/%q/%q", a.Index, a.ID, a.Routing, strings.TrimPrefix(a.Type, "_doc"))
}

// source tells sources apart: with spaces for line breaks, as cat prints them.
func (a answer) source(t *testing.T, fromServer bool) string {
	switch {
	case a.SourceSHA256 != "":
		return fmt.Sprint(a.SourceLength, " ", a.SourceSHA256)
	case a.Source == nil:
		return "none"
	case !fromServer:
		return string(a.Source)
	}
	var text string
	if err := json.Unmarshal(a.Source, &text); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(strings.NewReplacer("\n", " ", "\r", " ").Replace(text))
}

// digest is how a long source is expected.
func (a answer) digest() string {
	sum := sha256.Sum256(a.Source)
	return fmt.Sprint(len(a.Source), " ", hex.EncodeToString(sum[:]))
}

// TestCatPrintsTheServersAnswers prints every snapshot of testdata and compares
// each line with what the server that made the snapshot returned.
func TestCatPrintsTheServersAnswers(t *testing.T) {
	snapshots, err := filepath.Glob("../../testdata/repositories/*/expected/*/counts.json")
	if err != nil || len(snapshots) == 0 {
		t.Fatal("testdata/repositories holds no expected documents", err)
	}
	for _, counts := range snapshots {
		expected := filepath.Dir(counts)
		repository := filepath.Dir(filepath.Dir(expected))
		name := filepath.Base(expected)
		t.Run(filepath.Base(repository)+"/"+name, func(t *testing.T) {
			compareSnapshot(t, filepath.Join(repository, "repo"), name, readAnswers(t, expected))
		})
	}
}

// readAnswers reads the server's documents of one snapshot, by identity.
func readAnswers(t *testing.T, expected string) map[string][]string {
	files, err := filepath.Glob(filepath.Join(expected, "*.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		index := strings.TrimSuffix(filepath.Base(file), ".ndjson")
		all[index] = nil // the index's answers were kept
		for line := range bytes.Lines(data) {
			a := answer{Index: index}
			if err := json.Unmarshal(line, &a); err != nil {
				t.Fatal(err)
			}
			all[a.identity()] = append(all[a.identity()], a.source(t, true))
		}
	}
	return all
}

// refused are the repositories of testdata that hold what cannot be read.
var refused = regexp.MustCompile(`-(synthetic|shallow|mount)/repo$`)

func compareSnapshot(t *testing.T, repository, name string, want map[string][]string) {
	var stdout, stderr bytes.Buffer
	code := cli.Run(context.Background(), opened, []string{"snapshot", "cat", repository, name, "--allow-missing-source", "--allow-partial"}, &stdout, &stderr)
	if code == 5 && refused.MatchString(repository) {
		t.Logf("refused: %s", stderr.String())
		return
	}
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	lines := bufio.NewScanner(&stdout)
	lines.Buffer(nil, 1<<26)
	printed := 0
	for lines.Scan() {
		var got answer
		if err := json.Unmarshal(lines.Bytes(), &got); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		if _, kept := want[got.Index]; !kept {
			continue
		}
		printed++
		if !take(want, got, got.source(t, false)) && !take(want, got, got.digest()) {
			t.Errorf("the server has no such document, or another source: %.300s\nthe server says %.300q", lines.Text(), want[got.identity()])
		}
	}
	for identity, left := range want {
		if len(left) > 0 {
			t.Errorf("%s is missing", identity)
		}
	}
	t.Logf("%d documents compared", printed)
}

// take removes one of the sources that are expected under an identity.
func take(want map[string][]string, got answer, source string) bool {
	list := want[got.identity()]
	for i, s := range list {
		if s == source || s == strings.TrimSpace(source) || sameButForFloats(s, source) {
			want[got.identity()] = append(list[:i:i], list[i+1:]...)
			return true
		}
	}
	return false
}

// sameButForFloats tells whether two sources differ only in how they write the
// same 32-bit number: Elasticsearch 1 gives 0.1 out of CBOR as 0.10000000149011612.
func sameButForFloats(a, b string) bool {
	const written, ours = "0.10000000149011612", `"float":0.1,`
	return strings.Contains(a, written) && strings.Replace(a, `"float":`+written+",", ours, 1) == b
}

// TestAStoppedRunGoesOnWhereItSays interrupts a run again and again, each time
// after what it writes first, and puts the parts together.
func TestAStoppedRunGoesOnWhereItSays(t *testing.T) {
	const repository = "../../testdata/repositories/opensearch-2.11.0-zstd/repo"
	base := []string{"snapshot", "cat", repository, "--versions"}
	var whole, parts, stderr bytes.Buffer
	if code := cli.Run(t.Context(), opened, base, &whole, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	runs, args := 0, base
	for code := 130; code == 130; runs++ {
		ctx, cancel := context.WithCancel(t.Context())
		stderr.Reset()
		code = cli.Run(ctx, opened, args, &interrupting{&parts, 0, cancel}, &stderr)
		cancel()
		next := regexp.MustCompile(`interrupted; go on with (--from) (\S+)\n`).FindStringSubmatch(stderr.String())
		if code != 0 && (code != 130 || next == nil) {
			t.Fatalf("exit code %d: %s", code, stderr.String())
		}
		if next != nil {
			args = append(base[:len(base):len(base)], next[1:]...)
		}
	}
	if !bytes.Equal(whole.Bytes(), parts.Bytes()) {
		t.Errorf("%d parts of %d bytes differ from the whole of %d", runs, parts.Len(), whole.Len())
	}
	if runs < 5 {
		t.Errorf("only %d runs: nothing was stopped", runs)
	}
}

// TestBulkLinesComeInPairs checks that the bulk form holds the documents of the
// other one, in the same order.
func TestBulkLinesComeInPairs(t *testing.T) {
	for _, name := range []string{"elasticsearch-6.8.23-basic", "elasticsearch-9.2.0-basic", "opensearch-2.11.0-zstd"} {
		repository := "../../testdata/repositories/" + name + "/repo"
		var plain, pairs, stderr bytes.Buffer
		for format, out := range map[string]*bytes.Buffer{"ndjson": &plain, "bulk": &pairs} {
			if code := cli.Run(t.Context(), opened, []string{"snapshot", "cat", repository, "--format", format}, out, &stderr); code != 0 {
				t.Fatalf("%s: exit code %d: %s", name, code, stderr.String())
			}
		}
		lines := strings.SplitAfter(pairs.String(), "\n")
		for line := range strings.Lines(plain.String()) {
			var want answer
			var action struct {
				Index struct {
					Index   string `json:"_index"`
					ID      string `json:"_id"`
					Routing string `json:"routing"`
				} `json:"index"`
			}
			if err := json.Unmarshal([]byte(line), &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(lines[0]), &action); err != nil {
				t.Fatal(err)
			}
			got := action.Index
			if got.Index != want.Index || got.ID != want.ID || got.Routing != want.Routing || strings.TrimSpace(lines[1]) != string(want.Source) {
				t.Fatalf("%s: %s%sis not %s", name, lines[0], lines[1], line)
			}
			lines = lines[2:]
		}
		if len(lines) != 1 {
			t.Errorf("%s: %d lines too many", name, len(lines)-1)
		}
	}
}
