package proof

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// smallDisk mounts a file system of some MB in memory.
func smallDisk(t *testing.T, megabytes int) string {
	t.Helper()
	dir := dataFolder(t)
	if err := syscall.Mount("proof", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", megabytes)); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("a small disk cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			_ = exec.Command("cp", "-a", dir, dir+"-disk").Run()
			t.Logf("the disk's files are kept: %s", dir+"-disk")
		}
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// eat fills a disk to the last byte, as another program may; the function that it
// returns gives the space back.
func eat(t *testing.T, dir string) (give func()) {
	t.Helper()
	file, err := os.CreateTemp(dir, "eaten")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for chunk := make([]byte, 1<<20); len(chunk) > 0; {
		_, err := file.Write(chunk)
		if errors.Is(err, syscall.ENOSPC) {
			chunk = chunk[:len(chunk)/2]
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		if err := os.Remove(file.Name()); err != nil {
			t.Error(err)
		}
	}
}

// free is how many bytes are free on a disk.
func free(t *testing.T, disk string) int64 {
	t.Helper()
	var usage syscall.Statfs_t
	if err := syscall.Statfs(disk, &usage); err != nil {
		t.Fatal(err)
	}
	return int64(usage.Bavail) * usage.Bsize
}

// shelf is an index of documents of which each acknowledged one is remembered.
type shelf struct {
	t    *testing.T
	talk *Talk
	url  string

	mu    sync.Mutex
	acked map[string]string
	maybe map[string]string // no answer
	next  int
	told  sync.Once // of a wrong form of refusals
	full  bool      // the disk became full under writes, and is: nobody knows of maybe yet
}

func newShelf(t *testing.T) *shelf {
	return &shelf{t: t, talk: talk(t), acked: map[string]string{}, maybe: map[string]string{}}
}

// put writes one document of some KB; an error means that no answer came.
func (s *shelf) put(kilobytes int) (Answer, error) {
	s.mu.Lock()
	s.next++
	id := fmt.Sprintf("d%d", s.next)
	s.mu.Unlock()
	source := fmt.Sprintf(`{"id":%q,"filled":"%x"}`, id, noise(kilobytes<<9))
	answer, err := s.talk.Do(context.Background(), "PUT", s.url+"/shelf/_doc/"+id, []byte(source))
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil, unknowable(answer):
		s.maybe[id] = source
	case answer.Status == 201:
		s.acked[id] = source
	}
	return answer, err
}

// unknowable tells whether an answer says that nobody knows what became of a write: the
// disk was full in the midst of it.
func unknowable(answer Answer) bool {
	return answer.Status == 503 && bytes.Contains(answer.Body, []byte("it is unknown whether"))
}

// noise are bytes that no disk makes fewer.
func noise(n int) []byte {
	bytes := make([]byte, n)
	for i := range bytes {
		bytes[i] = byte(rand.Uint32())
	}
	return bytes
}

// fill writes until a write is refused, and holds the refusal to its form.
func (s *shelf) fill(kilobytes int) {
	s.t.Helper()
	for range 1 << 20 {
		answer, err := s.put(kilobytes)
		if err != nil {
			s.t.Fatal(err)
		}
		if answer.Status != 201 {
			s.blocked(answer)
			return
		}
	}
	s.t.Fatal("the disk is never full")
}

// blocked holds an answer to what a full disk is told with.
func (s *shelf) blocked(answer Answer) {
	s.t.Helper()
	var told struct {
		Error  struct{ Type, Reason string }
		Status int
	}
	err := json.Unmarshal(answer.Body, &told)
	if err != nil || answer.Status != 429 || told.Error.Type != "cluster_block_exception" || !strings.Contains(told.Error.Reason, "disk") {
		s.told.Do(func() { s.t.Errorf("a full disk is told as %s", answer) })
	}
	if answer.Header.Get("Retry-After") == "" {
		s.told.Do(func() { s.t.Error("a full disk is told without Retry-After") })
	}
}

// holds reads everything that was acknowledged.
func (s *shelf) holds() {
	s.t.Helper()
	for id, source := range s.maybe { // all of it or nothing
		answer, err := s.talk.Do(s.t.Context(), "GET", s.url+"/shelf/_source/"+id, nil)
		if err == nil && s.full && answer.Status == 503 && bytes.Contains(answer.Body, []byte("not synced")) {
			continue
		}
		if err != nil || answer.Status != 404 && string(answer.Body) != source {
			s.t.Fatalf("%s was written in part: %.200s %v", id, answer, err)
		}
	}
	for id, source := range s.acked {
		answer, err := s.talk.Do(s.t.Context(), "GET", s.url+"/shelf/_source/"+id, nil)
		if err != nil || answer.Status != 200 || string(answer.Body) != source {
			s.t.Fatalf("%s was acknowledged, and a get tells %.200s %v", id, answer, err)
		}
	}
}

// finds searches, which takes a refresh: on a full disk, too, unless a write was cut off
// by it. Nobody is shown what may be gone, and so nothing behind it.
func (s *shelf) finds() {
	s.t.Helper()
	refreshed, err := s.talk.Do(s.t.Context(), "POST", s.url+"/shelf/_refresh", nil)
	if err == nil && s.full && refreshed.Status == 503 && bytes.Contains(refreshed.Body, []byte("not synced")) {
		return
	}
	if err != nil || refreshed.Status != 200 {
		s.t.Fatalf("a refresh: %s %v", refreshed, err)
	}
	var told found
	body := ask(s.t, s.talk, 200, "POST", s.url+"/shelf/_search", `{"size":0,"track_total_hits":true}`)
	if err := json.Unmarshal(body, &told); err != nil {
		s.t.Fatal(err)
	}
	if n := told.Hits.Total.Value; n < len(s.acked) || n > len(s.acked)+len(s.maybe) {
		s.t.Errorf("%d documents are found, %d were acknowledged, %d got no answer", n, len(s.acked), len(s.maybe))
	}
}

// recovers waits until writes are taken again.
func (s *shelf) recovers() {
	s.t.Helper()
	var answer Answer
	for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var err error
		if answer, err = s.put(1); err != nil {
			s.t.Fatal(err)
		}
		if answer.Status == 201 {
			s.full = false
			return
		}
		if !unknowable(answer) {
			s.blocked(answer)
		}
	}
	s.t.Fatalf("there is space, and writes are still refused: %s", answer)
}

// TestFullDisk fills the disk by writing: writes are refused while there is still
// space for the rest, everything else goes on, and deleting an index frees it.
func TestFullDisk(t *testing.T) {
	disk := smallDisk(t, 128)
	dir := filepath.Join(disk, "data")
	p, url := serve(t, dir, "--memory", "64MiB")
	s := newShelf(t)
	s.url = url
	ask(t, s.talk, 200, "PUT", url+"/shelf", `{"settings":{"number_of_replicas":0}}`)
	ask(t, s.talk, 200, "PUT", url+"/spare", `{"settings":{"number_of_replicas":0}}`)
	give := s.big("spare", 40)
	s.fill(16)
	s.holds()
	s.finds()
	for range 2 { // a start gives back what the log and the ballast took
		p = s.restarts(p, dir)
		s.holds()
		s.finds()
		s.fill(16)
	}
	p = s.restarts(p, dir)
	before := free(t, disk)
	give()
	s.recovers()
	for deadline := time.Now().Add(10 * time.Second); free(t, disk) < before+20<<20; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d KB were free, and %d are after an index of 40 MB was deleted", before>>10, free(t, disk)>>10)
		}
	}
	s.fill(16)
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	p, s.url = serve(t, dir, "--memory", "64MiB")
	s.holds()
	s.finds()
	s.fill(16) // what the start gave back
	s.holds()
	stop(t, p)
}

// big fills an index, and returns what deletes it.
func (s *shelf) big(index string, megabytes int) (remove func()) {
	s.t.Helper()
	for i := range megabytes {
		source := fmt.Sprintf(`{"x":"%x"}`, noise(1<<19))
		ask(s.t, s.talk, 201, "PUT", fmt.Sprintf("%s/%s/_doc/%d", s.url, index, i), source)
	}
	return s.deletes(index)
}

// restarts stops the server and starts it on the disk that is full.
func (s *shelf) restarts(p *Process, dir string) *Process {
	s.t.Helper()
	stop(s.t, p)
	p, s.url = serve(s.t, dir, "--memory", "64MiB")
	return p
}

// TestEatenDisk: another program takes all space at once, while clients write. The
// server goes on reading, survives a kill, and takes writes when the space is back,
// without being started again.
func TestEatenDisk(t *testing.T) {
	disk := smallDisk(t, 128)
	dir := filepath.Join(disk, "data")
	p, url := serve(t, dir, "--memory", "64MiB")
	s := newShelf(t)
	s.url = url
	ask(t, s.talk, 200, "PUT", url+"/shelf", `{"settings":{"number_of_replicas":0}}`)
	for range 3 {
		give := s.writeWhile(func() func() { return eat(t, disk) })
		s.holds()
		s.finds()
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
		p, s.url = serve(t, dir, "--memory", "64MiB") // the disk is full
		s.full = false                                // and what is on it is known
		s.holds()
		s.finds()
		give()
		s.recovers()
		give = s.writeWhile(func() func() { return eat(t, disk) })
		s.holds()
		give()
		s.recovers() // without a start
		s.holds()
		s.finds()
	}
	stop(t, p)
	if strings.Contains(p.Stderr(), "panic") || strings.Contains(p.Stderr(), "goroutine ") {
		t.Errorf("it said %s", p.Stderr())
	}
}

// writeWhile has clients write while do is done, until each has been refused.
func (s *shelf) writeWhile(do func() func()) func() {
	s.t.Helper()
	s.full = true
	var writing sync.WaitGroup
	underway := make(chan struct{}, clients)
	for range clients {
		writing.Go(func() {
			for i := range 1 << 16 {
				if i == 3 {
					underway <- struct{}{}
				}
				answer, err := s.put(4)
				if err != nil {
					s.t.Error(err)
					return
				}
				if answer.Status != 201 && !unknowable(answer) {
					s.blocked(answer)
					return
				}
			}
			s.t.Error("the disk is never full")
		})
	}
	for range clients {
		<-underway
	}
	give := do()
	writing.Wait()
	return give
}

// TestDeletingOnAnEatenDisk: a write has met the end of the disk, and not a byte is left, not of the ballast
// either. Deleting an index gives its space back nevertheless, and writes are taken again without a start; also of
// a server that is killed before it could remove the documents.
func TestDeletingOnAnEatenDisk(t *testing.T) {
	for name, kill := range map[string]struct{ before, after bool }{"goes on": {}, "killed": {after: true}, "started on it": {before: true}} {
		t.Run(name, func(t *testing.T) {
			disk := smallDisk(t, 160)
			dir := filepath.Join(disk, "data")
			p, url := serve(t, dir, "--memory", "64MiB")
			s := newShelf(t)
			s.url = url
			ask(t, s.talk, 200, "PUT", url+"/shelf", `{"settings":{"number_of_replicas":0}}`)
			give := s.words("spare", 24)
			p = s.restarts(p, dir) // what it is found by goes to files
			s.eatsAll(disk)
			killed := func() {
				if err := p.Kill(); err != nil {
					t.Fatal(err)
				}
				p, s.url = serve(t, dir, "--memory", "64MiB")
				s.full = false
			}
			if kill.before {
				killed()
			}
			before := free(t, disk)
			give()
			if kill.after {
				killed()
			}
			ask(t, s.talk, 404, "GET", s.url+"/spare/_count", "")
			s.holds()
			for deadline := time.Now().Add(10 * time.Second); free(t, disk) < before+24<<20; time.Sleep(50 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("%d KB were free, and %d are after an index of 24 MB, and what it is found by, was deleted", before>>10, free(t, disk)>>10)
				}
			}
			s.recovers()
			s.holds()
			s.finds()
			p = s.restarts(p, dir)
			s.holds()
			s.finds()
			stop(t, p)
		})
	}
}

// eatsAll eats the disk while clients write, and again until nothing gives space back any more.
func (s *shelf) eatsAll(disk string) {
	s.t.Helper()
	s.writeWhile(func() func() { return eat(s.t, disk) })
	for range 3 {
		time.Sleep(300 * time.Millisecond)
		eat(s.t, disk)
	}
}

// words fills an index with words of which each is another, and returns what deletes it.
func (s *shelf) words(index string, megabytes int) (remove func()) {
	s.t.Helper()
	for range megabytes {
		var body bytes.Buffer
		for range 16 {
			body.WriteString("{\"index\":{}}\n{\"x\":\"")
			for range 4 << 10 {
				fmt.Fprintf(&body, "%x ", noise(8))
			}
			body.WriteString("\"}\n")
		}
		ask(s.t, s.talk, 200, "POST", s.url+"/"+index+"/_bulk", body.String())
	}
	return s.deletes(index)
}

// deletes returns what deletes an index.
func (s *shelf) deletes(index string) func() {
	return func() { ask(s.t, s.talk, 200, "DELETE", s.url+"/"+index, "") }
}
