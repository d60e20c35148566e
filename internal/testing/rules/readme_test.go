package rules_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestReadmeCommands runs each command of the console blocks of README.md and docs, and
// compares what it prints, on both outputs, with what the page shows. "…" at the end of a line
// stands for the rest of it, alone on a line for any lines. A command that ends with & runs
// until the end of its page, and the next one begins when it has printed what the page shows.
func TestReadmeCommands(t *testing.T) {
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "reshelve"), "./cmd/reshelve")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, page := range pages(t, "README.md", "docs/*.md") {
		steps := readConsole(t, page)
		if page == "README.md" && len(steps) < 5 {
			t.Errorf("the README shows only %d commands", len(steps))
		}
		if len(steps) > 0 {
			t.Run(page, func(t *testing.T) { runPage(t, bin, steps) })
		}
	}
}

// runPage runs the commands of one page in their order, with a port and folders of its own:
// somebody may be reading along.
func runPage(t *testing.T, bin string, steps []step) {
	elsewhere := strings.NewReplacer(pagePort, freePort(t), "build/library", t.TempDir()+"/library", "build/moved", t.TempDir()+"/moved")
	for _, step := range steps {
		step.command, step.output = elsewhere.Replace(step.command), elsewhere.Replace(step.output)
		if command, ok := strings.CutSuffix(step.command, " &"); ok {
			step.startBehind(t, bin, command)
			continue
		}
		t.Run(step.command, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, "bash", "-c", step.command)
			cmd.Env = environment(bin)
			out, _ := cmd.CombinedOutput() // some examples show a failure, whose code the next command prints
			if got := string(out); !step.shows(got) {
				t.Errorf("it prints\n%s\nthe page shows\n%s", got, step.output)
			}
		})
	}
}

// pages are the files that fit the patterns, of which each must fit one.
func pages(t *testing.T, patterns ...string) (files []string) {
	t.Helper()
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Errorf("no page fits %s: %v", pattern, err)
		}
		files = append(files, found...)
	}
	return files
}

// pagePort is where the pages serve.
const pagePort = ":9233"

// freePort is one that nobody listens on, ":40000".
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return fmt.Sprintf(":%d", listener.Addr().(*net.TCPAddr).Port)
}

func environment(bin string) []string {
	return append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TZ=UTC")
}

// startBehind runs a command until the test ends, and waits for its first lines.
func (s step) startBehind(t *testing.T, bin, command string) {
	t.Helper()
	cmd := exec.Command("bash", "-c", "exec "+command)
	cmd.Env = environment(bin)
	told, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	var printed strings.Builder
	for lines := bufio.NewScanner(told); printed.Len() == 0 || !s.shows(printed.String()); {
		if !lines.Scan() {
			t.Fatalf("%s prints\n%s\nthe page shows\n%s", command, printed.String(), s.output)
		}
		printed.WriteString(lines.Text() + "\n")
	}
	go func() { _, _ = io.Copy(io.Discard, told) }()
}

type step struct{ command, output string }

func readConsole(t *testing.T, file string) (steps []step) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for _, part := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			command, output, _ := strings.Cut(part, "\n")
			steps = append(steps, step{command, strings.TrimRight(output, "\n")})
		}
	}
	return steps
}

// shows tells whether the step's output stands for what was printed.
func (s step) shows(printed string) bool {
	var pattern strings.Builder
	pattern.WriteString(`(?s)\A`)
	for line := range strings.Lines(s.output + "\n") {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "…":
			pattern.WriteString(`.*?`)
		case strings.HasSuffix(line, "…"):
			pattern.WriteString(regexp.QuoteMeta(strings.TrimSuffix(line, "…")) + `[^\n]*\n`)
		default:
			pattern.WriteString(regexp.QuoteMeta(line) + `\n`)
		}
	}
	pattern.WriteString(`\z`)
	return regexp.MustCompile(pattern.String()).MatchString(printed + strings.Repeat("\n", btoi(!strings.HasSuffix(printed, "\n"))))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestLinksLead holds the relative links of the documents.
func TestLinksLead(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, file := range pages(t, "*.md", "docs/*.md", "testdata/README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", file, m[1])
			}
		}
	}
}
