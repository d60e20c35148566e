package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// TestMain makes of this binary the program itself when it is told to tell its durable steps:
// main() with stores that stop at one of them; or main() with an engine whose work behind the scenes
// never rests, since its segments get little memory. Package proof asks for that.
func TestMain(m *testing.M) {
	if told := os.Getenv("RESHELVE_STEPS"); told != "" {
		var s steps
		if err := s.open([]byte(told)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		wiring.Folder = s.folder
		main()
	}
	if share, err := strconv.ParseInt(os.Getenv("RESHELVE_SHARE"), 10, 64); err == nil {
		wiring.Folder = func(ctx context.Context, dir string, o control.FolderOptions) (control.Folder, error) {
			return openFolderWith(ctx, dir, embedded.Options{Memory: o.Memory, Logger: o.Logger, Share: share})
		}
		main()
	}
	os.Exit(m.Run())
}

// steps are the durable steps that a movement can take: each change of a record, each deed of
// the engine, and within those each file of a segment that is made, synced or removed. What the
// engine puts into its log lies between two of them.
type steps struct {
	Log  string // a file that gets the name of each step before it is done, those behind the file Log.armed
	Disk string // the mount point of the data folder, for full
	At   []disturbance

	log    *os.File
	inside atomic.Int32 // deeds of the engine that are being done

	mu    sync.Mutex
	armed bool
	met   map[string]int
}

// disturbance is what happens at the nth step of a name.
type disturbance struct {
	Step string
	Nth  int
	Do   string // "before", "after": the process is killed; "full": the disk is; "wait": until the file Log.go is there
}

func (s *steps) open(told []byte) (err error) {
	s.met = map[string]int{}
	if err = json.Unmarshal(told, s); err == nil {
		s.log, err = os.OpenFile(s.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	}
	return err
}

// step does one step, or not.
func (s *steps) step(name string, do func()) {
	nth, armed := s.nth(name)
	s.disturb(name, nth, "wait")
	if !armed {
		do()
		return
	}
	s.disturb(name, nth, "before", "full")
	do()
	s.disturb(name, nth, "after")
}

// nth is the how manyth of its name a step is, since the file Log.armed is there or, before that,
// since the start.
func (s *steps) nth(name string) (nth int, armed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := os.Stat(s.Log + ".armed"); err == nil && !s.armed {
		s.armed, s.met = true, map[string]int{}
	}
	if s.met[name]++; s.armed {
		fmt.Fprintln(s.log, name)
	}
	return s.met[name], s.armed
}

func (s *steps) disturb(name string, nth int, which ...string) {
	for _, d := range s.At {
		for _, do := range which {
			if d.Step != name || d.Nth != nth || d.Do != do {
				continue
			}
			switch fmt.Fprintln(s.log, "!"+do); do {
			case "full":
				s.eat()
			case "wait":
				for there := os.ErrNotExist; there != nil; time.Sleep(2 * time.Millisecond) {
					_, there = os.Stat(s.Log + ".go")
				}
			default:
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
	}
}

// eat fills the disk to the last byte.
func (s *steps) eat() {
	file, err := os.Create(filepath.Join(s.Disk, "eaten"))
	for chunk := make([]byte, 1<<20); err == nil && len(chunk) > 0; {
		if _, full := file.Write(chunk); full != nil {
			chunk = chunk[:len(chunk)/2]
		}
	}
	fmt.Fprintln(s.log, "!eaten", err)
}

// folder is openFolder with steps.
func (s *steps) folder(ctx context.Context, dir string, o control.FolderOptions) (control.Folder, error) {
	opened, err := openFolderWith(ctx, dir, embedded.Options{Memory: o.Memory, Logger: o.Logger, FS: &stepFS{vfs.Default, s}})
	opened.Coord, opened.Engine = &stepCoord{opened.Coord, s}, &stepEngine{opened.Engine, s}
	return opened, err
}

// stepCoord tells each change of a record.
type stepCoord struct {
	coord.Store
	*steps
}

func (c *stepCoord) Create(ctx context.Context, key string, value []byte) (revision int64, err error) {
	c.change("create", key, value, func() { revision, err = c.Store.Create(ctx, key, value) })
	return revision, err
}

func (c *stepCoord) Swap(ctx context.Context, key string, at int64, value []byte) (revision int64, err error) {
	c.change("swap", key, value, func() { revision, err = c.Store.Swap(ctx, key, at, value) })
	return revision, err
}

func (c *stepCoord) Delete(ctx context.Context, key string, at int64) (err error) {
	c.change("delete", key, nil, func() { err = c.Store.Delete(ctx, key, at) })
	return err
}

var ids = regexp.MustCompile(`\d{8}-\d{6}-[a-z0-9]{6}`)

// change is a step if it is one of a movement: it is named by the key, without the movement's id,
// and by why a placement is changed.
func (c *stepCoord) change(what, key string, value []byte, do func()) {
	p, err := placement.Decode(value)
	switch {
	case strings.HasPrefix(key, "placement/") && err == nil:
		key += " " + cmp.Or(p.Last.Why, "begun")
	case !strings.HasPrefix(key, "movement") && !strings.HasPrefix(key, "closing/"):
		do()
		return
	}
	c.step(what+" "+ids.ReplaceAllString(key, "ID"), do)
}

// stepEngine tells what a movement has an engine do.
type stepEngine struct {
	shard.Engine
	*steps
}

// deed is a step within which files are told.
func (e *steps) deed(name string, do func()) {
	e.step(name, func() {
		e.inside.Add(1)
		defer e.inside.Add(-1)
		do()
	})
}

func (e *stepEngine) Open(ctx context.Context, id shard.ID, p shard.Placements, o shard.Settings) (opened shard.Shard, err error) {
	e.deed(fmt.Sprintf("open shard %d", id.Number), func() { opened, err = e.Engine.Open(ctx, id, p, o) })
	if err != nil {
		return nil, err
	}
	return &stepShard{opened, e.steps}, nil
}

func (e *stepEngine) Stage(ctx context.Context, index uint32, from []uint32, to []shard.Incarnation) (staged *shard.Staged, err error) {
	e.deed("stage", func() { staged, err = e.Engine.Stage(ctx, index, from, to) })
	return staged, err
}

func (e *stepEngine) Unstage(ctx context.Context, index uint32, p shard.Placements) (err error) {
	e.deed("unstage", func() { err = e.Engine.Unstage(ctx, index, p) })
	return err
}

func (e *stepEngine) Forget(ctx context.Context, id shard.ID) (err error) {
	e.deed(fmt.Sprintf("forget shard %d", id.Number), func() { err = e.Engine.Forget(ctx, id) })
	return err
}

type stepShard struct {
	shard.Shard
	*steps
}

func (s *stepShard) Shed(ctx context.Context, pace func(context.Context, int) error) (read, left int64, err error) {
	s.deed(fmt.Sprintf("shed of shard %d", s.ID().Number), func() { read, left, err = s.Shard.Shed(ctx, pace) })
	return read, left, err
}

// stepFS tells the files of segments.
type stepFS struct {
	vfs.FS
	*steps
}

func (f *stepFS) file(name, what string, do func()) {
	if f.inside.Load() == 0 || !strings.HasSuffix(name, ".seg") && filepath.Base(filepath.Dir(name)) != "segments" {
		do()
		return
	}
	f.step(what, do)
}

func (f *stepFS) Create(name string, c vfs.DiskWriteCategory) (file vfs.File, err error) {
	f.file(name, "make a segment", func() { file, err = f.FS.Create(name, c) })
	if err != nil {
		return nil, err
	}
	return &stepFile{file, f, name, "sync a segment"}, nil
}

func (f *stepFS) OpenDir(name string) (vfs.File, error) {
	file, err := f.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &stepFile{file, f, name, "sync the folder of segments"}, nil
}

func (f *stepFS) Remove(name string) (err error) {
	f.file(name, "remove a segment", func() { err = f.FS.Remove(name) })
	return err
}

type stepFile struct {
	vfs.File
	fs         *stepFS
	name, what string
}

func (f *stepFile) Sync() (err error) {
	f.fs.file(f.name, f.what, func() { err = f.File.Sync() })
	return err
}
