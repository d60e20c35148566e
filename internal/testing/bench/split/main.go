package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/testing/bench/peers"
)

func main() { peers.Main(run) }

func run(ctx context.Context) error {
	documents := flag.String("documents", "200000,2000000", "sizes of the index, between commas")
	seconds := flag.Int("seconds", 8, "how long clients are measured before, and after in each of three rounds")
	rate := flag.Int("rate", 2000, "writes a second")
	warm := flag.Int("warm", 25_000, "documents of a round that each server loads before, of which there are as many as it takes until they agree")
	flag.Parse()
	var sizes []int
	for _, size := range strings.Split(*documents, ",") {
		n, err := strconv.Atoi(size)
		if err != nil {
			return err
		}
		sizes = append(sizes, n)
	}
	watch, err := peers.Watch()
	if err != nil {
		return err
	}
	defer watch.End()
	return peers.InFolder(ctx, "", func(dir, binary string) error {
		var columns []*figures
		for _, n := range sizes {
			b := bench{peer: peers.Reshelve(binary, filepath.Join(dir, strconv.Itoa(n))), documents: n, long: time.Duration(*seconds) * time.Second, rate: *rate, watch: watch, warm: *warm}
			if err := os.MkdirAll(b.peer.Dir, 0o755); err != nil {
				return err
			}
			if err := b.measure(ctx); err != nil {
				return err
			}
			if err := os.RemoveAll(b.peer.Dir); err != nil {
				return err
			}
			columns = append(columns, &b.figures)
		}
		t, err := measureTheirs(ctx, filepath.Join(dir, "opensearch"), sizes[0], watch, *warm)
		if err != nil {
			return err
		}
		watch.End()
		fmt.Print(table(columns, t, watch), watch)
		return nil
	})
}

// bench is one size.
type bench struct {
	peer      *peers.Peer
	documents int
	long      time.Duration
	rate      int
	watch     *peers.Run
	warm      int
	figures
}

const (
	index  = peers.Index
	shaped = "fresh" // the index of the shape that a split has made

	firstOf = 2 * time.Second // of a split, told apart
)

func (b *bench) measure(ctx context.Context) error {
	p := b.peer
	b.figures.documents = b.documents
	peers.Progress("%d documents: loading", b.documents)
	if _, err := p.Start(ctx, peers.Request("GET", "/", "", nil), nil); err != nil {
		return err
	}
	defer p.Stop()
	if err := b.watch.WarmUp(ctx, p, b.warm); err != nil {
		return err
	}
	if err := b.loaded(ctx, index); err != nil {
		return err
	}
	b.diskBefore = p.Disk()
	if err := b.whileClientsWork(ctx); err != nil {
		return err
	}
	if err := p.Settle(ctx, 2*time.Minute); err != nil {
		return err
	}
	b.diskAfter = p.Disk()
	if err := b.withoutSplit(ctx); err != nil {
		return err
	}
	peers.Progress("%d documents: copying into an index of the same shape", b.documents)
	if err := create(p, shaped, 2); err != nil {
		return err
	}
	began := time.Now()
	if err := copied(p, index, shaped); err != nil {
		return err
	}
	b.copied = time.Since(began)
	w := writer{url: p.URL, index: shaped, rate: b.rate, most: b.wrote}
	if err := w.write(ctx); err != nil {
		return err
	}
	if err := p.Settle(ctx, 5*time.Minute); err != nil {
		return err
	}
	for name, told := range map[string]*segments{index: &b.splitSegments, shaped: &b.freshSegments} {
		var err error
		if *told, err = segmentsOf(p, name); err != nil {
			return err
		}
	}
	for range 3 {
		for name, taken := range map[string]*[]peers.Taken{index: &b.split, shaped: &b.fresh} {
			t, err := search(p, name, peers.For(b.long))
			if err != nil {
				return err
			}
			*taken = append(*taken, t)
		}
	}
	var err error
	b.written, err = b.atRest()
	return err
}

// loaded makes an index of one shard, with all documents.
func (b *bench) loaded(ctx context.Context, name string) error {
	if err := create(b.peer, name, 1); err != nil {
		return err
	}
	if _, err := b.peer.Load(name, 0, b.documents, 2); err != nil {
		return err
	}
	return b.peer.Settle(ctx, 5*time.Minute)
}

// whileClientsWork splits the shard.
func (b *bench) whileClientsWork(ctx context.Context) error {
	peers.Progress("%d documents: clients work, and the shard is split", b.documents)
	wrote, err := b.besideWriter(ctx, index, b.splitNow)
	b.wrote = wrote
	return err
}

// besideWriter does something while a client writes to an index, and tells how much that wrote.
func (b *bench) besideWriter(ctx context.Context, name string, do func(w *writer, stop func()) error) (wrote int, err error) {
	clients, stop := context.WithCancel(ctx)
	defer stop()
	w := writer{url: b.peer.URL, index: name, rate: b.rate}
	ended := make(chan error, 1)
	go func() { ended <- w.write(clients) }()
	err = do(&w, stop)
	stop()
	if failed := <-ended; failed != nil {
		return 0, failed
	}
	return int(w.wrote.Load()), err
}

// splitNow stops the clients when they were measured for long enough. What the order takes is in
// the first two seconds.
func (b *bench) splitNow(w *writer, stop func()) (err error) {
	if b.before, err = w.beside(b.peer, peers.For(b.long)); err != nil {
		return err
	}
	peak, most := b.peer.Peak(), b.mostOnDisk()
	var id string
	ordered := make(chan error, 1)
	go func() {
		var err error
		id, err = begin(b.peer, 0)
		ordered <- err
	}()
	b.first, err = w.beside(b.peer, peers.For(firstOf))
	if failed := <-ordered; err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	if b.then, err = w.beside(b.peer, b.goesOn(id)); err != nil {
		return err
	}
	stop()
	b.moved, err = ended(b.peer, id)
	b.memory, b.diskMost = peak(), most()
	return err
}

// withoutSplit does for an index that is not split what clients did to the one that was, for as
// long: it grows as fast, and searches look into as many documents.
func (b *bench) withoutSplit(ctx context.Context) error {
	const unsplit = "unsplit"
	peers.Progress("%d documents: clients work, and nothing is split", b.documents)
	if err := b.loaded(ctx, unsplit); err != nil {
		return err
	}
	_, err := b.besideWriter(ctx, unsplit, func(w *writer, _ func()) error {
		for i, long := range [...]time.Duration{b.before.long, b.first.long, b.then.long} {
			done, err := w.beside(b.peer, peers.For(long))
			if err != nil {
				return err
			}
			b.unsplit[i] = done.searches
		}
		return nil
	})
	if err != nil {
		return err
	}
	return remove(b.peer, unsplit)
}

// goesOn says yes until a movement has finished, and for a minute at most.
func (b *bench) goesOn(id string) (more func() bool) {
	soon, asked, on := peers.For(time.Minute), time.Now(), true
	return func() bool {
		if time.Since(asked) > 100*time.Millisecond {
			var m told
			err := b.peer.Movement(id, &m)
			asked, on = time.Now(), err == nil && m.State != "finished"
		}
		return on && soon()
	}
}

// mostOnDisk watches the folder until it is told to stop.
func (b *bench) mostOnDisk() (stop func() int64) {
	quit, most := make(chan struct{}), make(chan int64)
	go func() {
		seen := int64(0)
		for {
			seen = max(seen, b.peer.Disk())
			select {
			case <-quit:
				most <- seen
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	}()
	return func() int64 { close(quit); return <-most }
}

// atRest splits again while nobody is at work, and counts what is written until the targets
// answer; what is written after that, to shed, does not count.
func (b *bench) atRest() (int64, error) {
	before, err := b.peer.Written()
	if err != nil {
		return 0, err
	}
	id, err := begin(b.peer, 1)
	if err != nil {
		return 0, err
	}
	for {
		after, err := b.peer.Written()
		if err != nil {
			return 0, err
		}
		var m told
		if err := b.peer.Movement(id, &m); err != nil {
			return 0, err
		}
		if !m.phase("switch").Ended.IsZero() {
			_, err := ended(b.peer, id)
			return after - before, err
		}
		time.Sleep(2 * time.Millisecond)
	}
}
