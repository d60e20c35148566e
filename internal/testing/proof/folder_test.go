package proof

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// run runs the program to its end.
func run(t *testing.T, words ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, binary(t), words...)
	var out, err strings.Builder
	command.Stdout, command.Stderr = &out, &err
	_ = command.Run()
	return command.ProcessState.ExitCode(), out.String(), err.String()
}

// TestRefusals: what cannot be served is refused, with an exit code and what to do.
func TestRefusals(t *testing.T) {
	dir := dataFolder(t)
	p, url := serve(t, filepath.Join(dir, "served"))
	unknown, damaged := filepath.Join(dir, "unknown"), filepath.Join(dir, "damaged")
	for name, format := range map[string]string{unknown: "reshelve embedded shards, format 4711\n", damaged: "no format\n"} {
		other, _ := serve(t, name)
		stop(t, other)
		if err := os.WriteFile(filepath.Join(name, "format"), []byte(format), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	faulty := filepath.Join(dir, "faulty.yaml")
	if err := os.WriteFile(faulty, []byte("data: a\ndata: b\nlisten: c\nlisten: d\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := strings.TrimPrefix(url, "http://")
	for _, c := range []struct {
		what   string
		code   int
		stderr string
		words  []string
	}{
		{"a folder that is served", 8, `another process[^\n]*\n  → `, []string{"--data", filepath.Join(dir, "served"), "--listen", "127.0.0.1:0"}},
		{"a port in use", 7, `in use\n  → .*--listen`, []string{"--data", filepath.Join(dir, "other"), "--listen", address}},
		{"all addresses", 5, `authentication\n  → `, []string{"--data", filepath.Join(dir, "other"), "--listen", "0.0.0.0:0"}},
		{"all addresses, unsaid", 5, `authentication\n  → `, []string{"--data", filepath.Join(dir, "other"), "--listen", ":0"}},
		{"all addresses of IPv6", 5, `authentication\n  → `, []string{"--data", filepath.Join(dir, "other"), "--listen", "[::]:0"}},
		{"an address of the network", 5, `authentication\n  → `, []string{"--data", filepath.Join(dir, "other"), "--listen", "192.0.2.1:0"}},
		{"no address", 2, `HOST:PORT`, []string{"--data", filepath.Join(dir, "other"), "--listen", "nowhere"}},
		{"an unknown format", 5, `4711.*\n  → `, []string{"--data", unknown, "--listen", "127.0.0.1:0"}},
		{"a damaged format", 4, `format.*\n  → `, []string{"--data", damaged, "--listen", "127.0.0.1:0"}},
		{"a file", 2, `file.*\n  → `, []string{"--data", file, "--listen", "127.0.0.1:0"}},
		{"a folder that cannot be made", 7, `proc.*\n  → `, []string{"--data", "/proc/none", "--listen", "127.0.0.1:0"}},
		{"a size that is none", 2, `memory`, []string{"--memory", "much"}},
		{"no memory", 2, `memory`, []string{"--data", filepath.Join(dir, "other"), "--memory", "0"}},
		{"no folder", 2, `data`, []string{"--data", ""}},
		{"a depth below 0", 2, `max-depth`, []string{"--data", filepath.Join(dir, "other"), "--max-depth", "-1"}},
		{"a time below 0", 2, `timeout`, []string{"--data", filepath.Join(dir, "other"), "--timeout", "-1s"}},
		{"a configuration of two faults", 2, `^reshelve: [^\n]*line 2: [^\n\x{fffd}]*line 4: [^\n]*\n  → [^\n]*\n\z`, []string{"--config", faulty}},
	} {
		code, stdout, stderr := run(t, append([]string{"serve"}, c.words...)...)
		if code != c.code || stdout != "" || !regexp.MustCompile(c.stderr).MatchString(stderr) {
			t.Errorf("%s: %d, not %d, with %q and %q", c.what, code, c.code, stdout, stderr)
		}
	}
	ask(t, talk(t), 200, "GET", url, "") // goes on
	stop(t, p)
}

// TestServingLine: one line on standard error says what is served, and nothing else is said.
func TestServingLine(t *testing.T) {
	dir := dataFolder(t)
	p, url := serve(t, dir)
	ask(t, talk(t), 201, "PUT", url+"/one/_doc/1?refresh=true", `{}`)
	stop(t, p)
	p, _ = serve(t, dir)
	stop(t, p)
	line := regexp.MustCompile(`^serving ` + regexp.QuoteMeta(dir) + ` on http://127\.0\.0\.1:\d+: 1 document in 1 index, ready after \d+ ms\n$`)
	if !line.MatchString(p.Stderr()) {
		t.Errorf("it said %q", p.Stderr())
	}
}

// TestAtFolder: verbs go through the socket of the process that serves a folder, and
// open the folder themselves when none does; a killed server's socket is in nobody's way.
func TestAtFolder(t *testing.T) {
	short := dataFolder(t)
	long := filepath.Join(short, strings.Repeat("long", 30), strings.Repeat("path", 30))
	for _, dir := range []string{filepath.Join(short, "d"), long} {
		p, url := serve(t, dir)
		ask(t, talk(t), 201, "PUT", url+"/shelf/_doc/1?refresh=true", `{"a":1}`)
		lists(t, dir, "while it is served")
		if code, _, stderr := run(t, "index", "create", "other", "--at", dir); code != 0 {
			t.Errorf("create: %d %s", code, stderr)
		}
		ask(t, talk(t), 200, "HEAD", url+"/other", "")
		if code, _, stderr := run(t, "index", "delete", "other", "--at", dir); code != 0 {
			t.Errorf("delete: %d %s", code, stderr)
		}
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
		lists(t, dir, "after a kill")
		p, _ = serve(t, dir)
		lists(t, dir, "served again")
		stop(t, p)
		if _, err := os.Lstat(filepath.Join(dir, "socket")); !os.IsNotExist(err) {
			t.Errorf("the socket is left: %v", err)
		}
		lists(t, dir, "after a stop")
	}
	if code, _, stderr := run(t, "index", "ls", "--at", filepath.Join(short, "none")); code != 3 || !strings.Contains(stderr, "→") {
		t.Errorf("a folder that is not there: %d %s", code, stderr)
	}
}

// TestIndexVerbs: what the verbs on indices say, of a folder that nobody serves.
func TestIndexVerbs(t *testing.T) {
	dir := dataFolder(t)
	p, _ := serve(t, dir)
	stop(t, p)
	says := func(code int, stdout, stderr string, words ...string) {
		t.Helper()
		got, out, err := run(t, append(append([]string{"index"}, words...), "--at", dir)...)
		if got != code || !regexp.MustCompile(stdout).MatchString(out) || !regexp.MustCompile(stderr).MatchString(err) {
			t.Errorf("%v: %d %q %q", words, got, out, err)
		}
	}
	says(0, `^there are no indices\n$`, `^$`, "ls")
	says(0, `^there are no indices\n$`, `^$`, "stats")
	for i, settings := range []string{`{"number_of_shards":3}`, `{"index.number_of_shards":3}`, `{"index":{"number_of_shards":3,"refresh_interval":"5s"}}`} {
		body := filepath.Join(t.TempDir(), "body.json")
		if err := os.WriteFile(body, []byte(`{"settings":`+settings+`}`), 0o600); err != nil {
			t.Fatal(err)
		}
		name := string(rune('a' + i))
		says(0, `^created `+name+`\n$`, `^$`, "create", name, "--body", body, "--shards", "5")
		says(0, `(?m)^`+name+` +open +yellow +5 `, `^$`, "ls", name)
	}
	says(0, `^no index matches "x\*"\n$`, `^$`, "ls", "x*")
	says(0, `^no index matches "x\*"\n$`, `^$`, "stats", "x*")
	says(8, `^$`, `^reshelve: `+regexp.QuoteMeta(dir)+`: index a: resource_already_exists_exception: `, "create", "a")
	says(3, `^$`, `^reshelve: `+regexp.QuoteMeta(dir)+`: index x: index_not_found_exception: `, "delete", "x")
	says(2, `^$`, `one by one`, "delete", "*")
}

func lists(t *testing.T, dir, when string) {
	t.Helper()
	code, stdout, stderr := run(t, "index", "ls", "--at", dir)
	if code != 0 || !regexp.MustCompile(`(?m)^shelf .*\b1\b`).MatchString(stdout) || strings.Contains(stdout, "other") {
		t.Errorf("%s: %d %s %s", when, code, stdout, stderr)
	}
}

// TestSocketIsPrivate: others on the machine do not reach a folder.
func TestSocketIsPrivate(t *testing.T) {
	dir := filepath.Join(dataFolder(t), "data")
	p, _ := serve(t, dir)
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v %v", info.Mode(), err)
	}
	if conn, err := net.Dial("unix", filepath.Join(dir, "socket")); err != nil {
		t.Error(err)
	} else {
		conn.Close()
	}
	stop(t, p)
}

// TestMovedFolder: a folder may be moved, after a stop and after a kill, and copied.
func TestMovedFolder(t *testing.T) {
	at := dataFolder(t)
	dir := filepath.Join(at, "first")
	p, url := serve(t, dir)
	for i, next := range []string{"second", "third"} {
		ask(t, talk(t), 201, "PUT", fmt.Sprintf("%s/moved/_doc/%d", url, i), `{"kept":true}`)
		if i == 0 {
			stop(t, p)
		} else if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
		moved := filepath.Join(at, next)
		if err := os.Rename(dir, moved); err != nil {
			t.Fatal(err)
		}
		dir = moved
		p, url = serve(t, dir)
		for j := range i + 1 {
			ask(t, talk(t), 200, "GET", fmt.Sprintf("%s/moved/_doc/%d", url, j), "")
		}
	}
	stop(t, p)
}

// TestServesWhatWasLeft: files that a crash may leave do not keep a folder from being served.
func TestServesWhatWasLeft(t *testing.T) {
	dir := dataFolder(t)
	p, url := serve(t, dir)
	ask(t, talk(t), 201, "PUT", url+"/one/_doc/1", `{"kept":true}`)
	stop(t, p)
	for _, name := range []string{"format.new", "socket", "truth/000999.log.tmp"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("torn"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, url = serve(t, dir)
	if got := ask(t, talk(t), 200, "GET", url+"/one/_source/1", ""); string(got) != `{"kept":true}` {
		t.Errorf("%s", got)
	}
	stop(t, p)
}
