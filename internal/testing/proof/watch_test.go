package proof

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// watched is a migration into a folder, by a process of its own, which takes some seconds; places are where it is recorded, and what
// --coordinate says of that.
func watched(t *testing.T, target, place string, more ...string) (p *Process, id string) {
	t.Helper()
	p = start(t, append([]string{"migrate", "--from", ledger, "--to", target, "--docs-per-second", "1.5", "--heartbeat", "200ms", "--quiet"}, more...)...)
	for {
		select {
		case <-p.Exited():
			t.Fatal(p.Stderr())
		case <-time.After(50 * time.Millisecond):
		}
		code, out, _ := ends(t, "movement", "ls", "--at", place, "--output", "json")
		var all []struct{ ID, State string }
		if code == 0 && json.Unmarshal([]byte(out), &all) == nil && len(all) == 1 && all[0].State == "running" {
			return p, all[0].ID
		}
	}
}

// ledger is a repository of ten documents in two shards.
const ledger = "../../../testdata/repositories/elasticsearch-1.7.6-history/repo"

// TestAWatchEndsWithTheMovementOfAnotherProcess: the process that works for it goes away with the folder that it served.
func TestAWatchEndsWithTheMovementOfAnotherProcess(t *testing.T) {
	records := dataFolder(t)
	for target, coordinate := range map[string]string{dataFolder(t): "", dataFolder(t): "local:" + records} {
		place, more := target, []string(nil)
		if coordinate != "" {
			place, more = coordinate, []string{"--coordinate", coordinate}
		}
		works, id := watched(t, target, place, more...)
		watch := start(t, "movement", "watch", id, "--at", place)
		<-works.Exited()
		select {
		case <-watch.Exited():
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: the watch goes on: %s", place, watch.Stderr())
		}
		if out := watch.Stderr(); !strings.Contains(out, "movement "+id+": finished") || strings.Contains(out, "nobody") {
			t.Errorf("%s: %s", place, out)
		}
	}
}

var pasted = regexp.MustCompile(`→ (reshelve worker --join \S+ --once)`)

// TestAMovementThatNobodyWorksAtSaysSo: its worker is killed. The status, the list and the watch say that nobody works at it, with
// the command by which it goes on, which can be pasted while the watch goes on, and the watch sees its end.
func TestAMovementThatNobodyWorksAtSaysSo(t *testing.T) {
	target := dataFolder(t)
	works, id := watched(t, target, target)
	watch := start(t, "movement", "watch", id, "--at", target)
	for !strings.Contains(watch.Stderr(), "running") {
		time.Sleep(20 * time.Millisecond)
	}
	if err := works.Kill(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); !strings.Contains(watch.Stderr(), "nobody is seen to work at it"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the watch does not say it: %s", watch.Stderr())
		}
	}
	for _, line := range [][]string{{"movement", "status", id, "--at", target}, {"movement", "ls", "--at", target}} {
		if code, out, wrong := ends(t, line...); code != 0 || !strings.Contains(out, "nobody works at it") || !pasted.MatchString(out) {
			t.Errorf("%s: %d %s%s", line, code, out, wrong)
		}
	}
	command := pasted.FindStringSubmatch(watch.Stderr())
	if command == nil {
		t.Fatalf("no command: %s", watch.Stderr())
	}
	if code, out, wrong := ends(t, strings.Fields(command[1])[1:]...); code != 0 || !strings.Contains(out, id+": finished") {
		t.Errorf("%s: %d %s%s", command[1], code, out, wrong)
	}
	select {
	case <-watch.Exited():
	case <-time.After(40 * time.Second):
		t.Fatalf("the watch goes on: %s", watch.Stderr())
	}
	if out := watch.Stderr(); !strings.Contains(out, "movement "+id+": finished") {
		t.Error(out)
	}
}

// TestAWatchSaysThatItsPlaceIsGone: a server that is killed leaves the watch with what it has seen, and it says so.
func TestAWatchSaysThatItsPlaceIsGone(t *testing.T) {
	server, url := serve(t, dataFolder(t))
	works, id := watched(t, url, url)
	watch := start(t, "movement", "watch", id, "--at", url)
	for !strings.Contains(watch.Stderr(), "running") {
		time.Sleep(20 * time.Millisecond)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := works.Kill(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); !strings.Contains(watch.Stderr(), "the place has not answered since"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the watch does not say it: %s", watch.Stderr())
		}
	}
}

// TestTheNamedVariableTrustsACertificate: what the error of a repository behind a certificate of its own advises works.
func TestTheNamedVariableTrustsACertificate(t *testing.T) {
	server := httptest.NewUnstartedServer(http.FileServer(http.Dir(ledger)))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	if code, _, wrong := ends(t, "snapshot", "ls", server.URL); code == 0 || !strings.Contains(wrong, "set SSL_CERT_FILE to the file") {
		t.Errorf("%d %s", code, wrong)
	}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", ca)
	if code, out, wrong := ends(t, "snapshot", "ls", server.URL); code != 0 || !strings.Contains(out, "last") {
		t.Errorf("%d %s", code, wrong)
	}
}
