package cli_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reshelve/reshelve/internal/cli"
	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/local"
	"github.com/reshelve/reshelve/internal/coord/remote"
	"github.com/reshelve/reshelve/internal/gateway"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
	"github.com/reshelve/reshelve/internal/store/shard/shardtest"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/folder"
)

// TestScripts runs the conversations of testdata/script. Beside the usual
// commands of testscript they have:
//
//	reshelve ARG…            the program, which must exit with 0
//	exits CODE ARG…          the program, which must exit with CODE
//	stopped LINES ARG…       the program, interrupted after so many lines
//	broken ARG…              the program, interrupted while its reader goes away
//	hungup CODE BYTES ARG…   the program, whose reader goes away after so many
//	                         bytes, and which must exit with CODE
//	full CODE BYTES ARG…     the same with room for so many bytes
//	clone NAME DIR           a copy of testdata/repositories/NAME/repo
//	flip GLOB TEXT OFFSET    change one byte of each file with TEXT in its first
//	                         bytes; a negative offset counts from the end
//	rename DIR OLD NEW       write NEW, of the same length, for OLD in every file
//	                         below DIR, and a new checksum
//	reversed DIR             reverse the movement of a folder whose way back is open, or that holds, and work for it
//	count N PATTERN…         standard output has so many lines
//
// A folder with a file named lossy is one whose shard 0 has lost a document from what it shows, as long
// as the next process has it open, or until it is rebuilt.
//
// In ARG, $R is testdata/repositories, and ./NAME lies in the script's folder.
func TestScripts(t *testing.T) {
	repositories, err := filepath.Abs("../../testdata/repositories")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE") != "",
		Setup: func(env *testscript.Env) error {
			env.Setenv("R", repositories)
			env.Setenv("TZ", "UTC")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"reshelve": func(ts *testscript.TestScript, _ bool, args []string) { run(ts, 0, args, ts.Stdout()) },
			"exits": func(ts *testscript.TestScript, _ bool, args []string) {
				run(ts, number(ts, args[0]), args[1:], ts.Stdout())
			},
			"stopped": stopped,
			"broken":  broken,
			"hungup": func(ts *testscript.TestScript, _ bool, args []string) {
				run(ts, number(ts, args[0]), args[2:], &breaking{ts.Stdout(), number(ts, args[1]), syscall.EPIPE})
			},
			"full": func(ts *testscript.TestScript, _ bool, args []string) {
				run(ts, number(ts, args[0]), args[2:], &breaking{ts.Stdout(), number(ts, args[1]), syscall.ENOSPC})
			},
			"clone":    clone,
			"flip":     flip,
			"rename":   rename,
			"count":    count,
			"reversed": func(ts *testscript.TestScript, _ bool, args []string) { reversed(ts, ts.MkAbs(args[0])) },
		},
	})
}

// opened are the stores that scripts can read from.
var opened = control.New(control.Wiring{Blobs: map[string]blob.Opener{"file": folder.Open}, Folder: openFolder, Front: front, Face: face, Steer: gateway.OfferMovements})

// openFolder opens a data folder to move documents into.
func openFolder(ctx context.Context, dir string, o control.FolderOptions) (control.Folder, error) {
	engine, err := embedded.Open(ctx, dir, embedded.Options{Memory: o.Memory, Logger: o.Logger})
	if err != nil {
		return control.Folder{}, err
	}
	records, err := local.Open(ctx, dir)
	if err != nil {
		return control.Folder{}, errors.Join(err, engine.Close())
	}
	losing := &shardtest.Losing{Engine: engine}
	if err := os.Remove(filepath.Join(dir, "lossy")); err == nil { // a script has put it there
		losing.Lost.Store(true)
	}
	return control.Folder{Coord: records, Engine: losing}, nil
}

func front(control.FaceOptions) *http.Server { return gateway.Options{}.HTTP() }

func face(s *store.Store, _ control.FaceOptions, movements coord.Store) *http.Server {
	server := gateway.New(s, gateway.Options{}).HTTP()
	gateway.Offer(server, remote.Root, remote.NewHandler(movements))
	return server
}

// run runs the program in this process and compares its exit code.
func run(ts *testscript.TestScript, want int, args []string, stdout io.Writer) {
	runIn(context.Background(), ts, want, args, stdout)
}

func runIn(ctx context.Context, ts *testscript.TestScript, want int, args []string, stdout io.Writer) {
	for i, arg := range args {
		if strings.HasPrefix(arg, "./") {
			args[i] = ts.MkAbs(arg)
		}
	}
	var stderr bytes.Buffer
	code := cli.Run(ctx, opened, args, stdout, &stderr)
	io.Copy(ts.Stderr(), &stderr)
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// stopped interrupts the program when it has written so many lines.
func stopped(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	runIn(ctx, ts, 130, args[1:], &interrupting{ts.Stdout(), number(ts, args[0]), cancel})
}

// broken interrupts the program and its reader at once, as Ctrl-C does in a pipe.
func broken(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	runIn(ctx, ts, 130, args, &interrupting{&breaking{ts.Stdout(), 0, syscall.EPIPE}, 0, cancel})
}

// interrupting cancels after a number of lines.
type interrupting struct {
	io.Writer
	left   int
	cancel func()
}

func (w *interrupting) Write(p []byte) (int, error) {
	if w.left -= bytes.Count(p, []byte("\n")); w.left <= 0 {
		w.cancel()
	}
	return w.Writer.Write(p)
}

// breaking takes a number of bytes and then fails.
type breaking struct {
	io.Writer
	left int
	err  error
}

func (w *breaking) Write(p []byte) (int, error) {
	n, _ := w.Writer.Write(p[:min(len(p), w.left)])
	w.left -= n
	if n < len(p) {
		return n, &os.PathError{Op: "write", Path: "|1", Err: w.err}
	}
	return n, nil
}

func clone(ts *testscript.TestScript, _ bool, args []string) {
	from := filepath.Join(ts.Getenv("R"), args[0], "repo")
	ts.Check(os.CopyFS(ts.MkAbs(args[1]), os.DirFS(from)))
}

// flip changes one byte of each file that fits the pattern and begins with text.
func flip(ts *testscript.TestScript, _ bool, args []string) {
	files, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	flipped := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		ts.Check(err)
		if !strings.Contains(string(data[:min(len(data), 64)]), args[1]) {
			continue
		}
		offset := number(ts, args[2])
		if offset < 0 {
			offset += len(data)
		}
		data[offset] ^= 1
		ts.Check(os.WriteFile(file, data, 0o644))
		flipped++
	}
	if flipped == 0 {
		ts.Fatalf("no file fits")
	}
}

// rename renames what plain files tell of, in a way that nobody can notice.
func rename(ts *testscript.TestScript, _ bool, args []string) {
	if len(args[1]) != len(args[2]) {
		ts.Fatalf("the names differ in length")
	}
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(data, []byte(args[1])) {
			return err
		}
		data = bytes.ReplaceAll(data, []byte(args[1]), []byte(args[2]))
		if end := len(data) - 8; end > 8 && bytes.Equal(data[end-8:end], []byte{0xc0, 0x28, 0x93, 0xe8, 0, 0, 0, 0}) {
			binary.BigEndian.PutUint64(data[end:], uint64(crc32.ChecksumIEEE(data[:end])))
		}
		return os.WriteFile(path, data, 0o644)
	}))
}

func count(ts *testscript.TestScript, _ bool, args []string) {
	lines := strings.Count(ts.ReadFile("stdout"), "\n")
	if want := number(ts, args[0]); lines != want {
		ts.Fatalf("standard output has %d lines, want %d", lines, want)
	}
}

// reversed leads the movement of a folder back whose way back is open, or aborts the one that holds at its switch
// and has handed nothing off.
func reversed(ts *testscript.TestScript, at string) {
	all, err := opened.Movements(context.Background(), at)
	ts.Check(err)
	i := slices.IndexFunc(all, func(m movement.Record) bool { return m.State == movement.Switched || m.State == movement.Held })
	if i < 0 {
		ts.Fatalf("no movement is switched, or held")
	}
	id := all[i].ID
	verb, state := "reverse", movement.Reversed
	if all[i].State == movement.Held {
		verb, state = "abort", movement.Aborted
	}
	run(ts, 0, []string{"movement", verb, id, "--at", at}, ts.Stdout())
	run(ts, 0, []string{"worker", "--join", at, "--once"}, ts.Stdout())
	m, err := opened.Movement(context.Background(), at, id)
	ts.Check(err)
	if m.State != state {
		ts.Fatalf("movement %s is %s", id, m.State)
	}
}

func number(ts *testscript.TestScript, text string) int {
	n, err := strconv.Atoi(text)
	ts.Check(err)
	return n
}

func TestMain(m *testing.M) {
	os.Setenv("TZ", "UTC")
	os.Exit(m.Run())
}
