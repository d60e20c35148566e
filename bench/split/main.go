package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/reshelve/reshelve/bench/peers"
)

func main() { peers.Main(run) }

func run(ctx context.Context) error {
	documents := flag.String("documents", "200000,2000000", "sizes of the index, between commas")
	seconds := flag.Int("seconds", 8, "how long clients are measured before and after")
	rate := flag.Int("rate", 2000, "writes a second")
	flag.Parse()
	return peers.InFolder(ctx, "", func(dir, binary string) error {
		fmt.Println("| documents | to answering | pause p50 / p99 / max | waited | search p50 / p99 before → during → after | writes/s before → during | verified | disk before → after | written until the hand-off |")
		fmt.Println("|---|---|---|---|---|---|---|---|---|")
		first := 0
		for _, size := range strings.Split(*documents, ",") {
			n, err := strconv.Atoi(size)
			if err != nil {
				return err
			}
			if first == 0 {
				first = n
			}
			b := bench{peer: peers.Reshelve(binary, filepath.Join(dir, size)), documents: n, long: time.Duration(*seconds) * time.Second, rate: *rate}
			if err := os.MkdirAll(b.peer.Dir, 0o755); err != nil {
				return err
			}
			if err := b.measure(ctx); err != nil {
				return err
			}
			_ = os.RemoveAll(b.peer.Dir)
		}
		return theirs(ctx, filepath.Join(dir, "opensearch"), first)
	})
}

// bench is one size.
type bench struct {
	peer      *peers.Peer
	documents int
	long      time.Duration
	rate      int

	wrote atomic.Int64
	fail  atomic.Pointer[error]
}

const index = peers.Index

func (b *bench) measure(ctx context.Context) error {
	p := b.peer
	if _, err := p.Start(ctx, peers.Request("GET", "/", "", nil), nil); err != nil {
		return err
	}
	defer p.Stop()
	if err := create(p); err != nil {
		return err
	}
	if _, err := p.Load(index, 0, b.documents, 2); err != nil {
		return err
	}
	if err := p.Settle(ctx, 2*time.Minute); err != nil {
		return err
	}
	disk := p.Disk()
	clients, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan struct{})
	go func() { defer close(done); b.write(clients) }()
	before, wroteBefore, err := b.search(b.long)
	if err != nil {
		return err
	}
	split, err := b.split(0)
	if err != nil {
		return err
	}
	during, wroteDuring, err := b.search(2 * time.Second)
	if err != nil {
		return err
	}
	m, err := b.ended(split)
	if err != nil {
		return err
	}
	after, _, err := b.search(b.long)
	stop()
	<-done
	if failed := b.fail.Load(); failed != nil {
		return *failed
	}
	if err != nil {
		return err
	}
	if err := p.Settle(ctx, 2*time.Minute); err != nil {
		return err
	}
	written, err := b.atRest()
	if err != nil {
		return err
	}
	pause := m.Pauses[0]
	fmt.Printf("| %d | %s | %s / %s / %s | %d | %s / %s → %s / %s → %s / %s | %.0f → %.0f | %.0f documents/s | %.0f → %.0f MiB | %.2f MiB |\n", b.documents,
		peers.Short(m.answering), peers.Short(pause.P50), peers.Short(pause.P99), peers.Short(pause.Max), pause.Waited,
		peers.Short(before.P50), peers.Short(before.P99), peers.Short(during.P50), peers.Short(during.P99), peers.Short(after.P50), peers.Short(after.P99),
		wroteBefore, wroteDuring, float64(m.compared)/m.verify.Seconds(), peers.MiB(disk), peers.MiB(p.Disk()), peers.MiB(written))
	return nil
}

// create makes the index with one shard.
func create(p *peers.Peer) error {
	c, err := peers.Dial(p.URL)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Must("PUT", "/"+index, `{"settings":{"number_of_shards":1,"number_of_replicas":0,"index.number_of_routing_shards":2}}`)
}

// write sends small bulk requests at the rate that was asked for.
func (b *bench) write(ctx context.Context) {
	const perRequest = 20
	err := func() error {
		c, err := peers.Dial(b.peer.URL)
		if err != nil {
			return err
		}
		defer c.Close()
		tick := time.NewTicker(time.Second * perRequest / time.Duration(b.rate))
		defer tick.Stop()
		for n := 0; ctx.Err() == nil; n++ {
			<-tick.C
			var body strings.Builder
			for i := range perRequest {
				fmt.Fprintf(&body, "{\"index\":{\"_id\":\"w%d\"}}\n{\"title\":\"written %d\",\"body\":%q}\n", n*perRequest+i, n, strings.Repeat("word ", 40))
			}
			status, answer, err := c.Do(peers.Request("POST", "/"+index+"/_bulk", "application/x-ndjson", []byte(body.String())))
			if err != nil {
				return err
			}
			if status != 200 || !strings.Contains(string(answer), `"errors":false`) {
				return fmt.Errorf("a bulk request: %d %.300s", status, answer)
			}
			b.wrote.Add(perRequest)
		}
		return nil
	}()
	if err != nil {
		b.fail.Store(&err)
	}
}

// search measures one client's searches for a while, and what the writer does meanwhile.
func (b *bench) search(long time.Duration) (taken peers.Taken, writes float64, err error) {
	began, wrote := time.Now(), b.wrote.Load()
	request := peers.Request("POST", "/"+index+"/_search", "application/json", []byte(`{"size":10,"query":{"match_all":{}}}`))
	taken, err = b.peer.Measure(1, long, func(int) []byte { return request }, func(_ int, answer []byte) error {
		if !strings.Contains(string(answer), `"timed_out":false`) {
			return fmt.Errorf("a search: %.300s", answer)
		}
		return nil
	})
	return taken, float64(b.wrote.Load()-wrote) / time.Since(began).Seconds(), err
}

// split begins one of a shard into two.
func (b *bench) split(shard int) (id string, err error) {
	body := fmt.Sprintf(`{"kind":"split","index":%q,"shard":%d,"into":2}`, index, shard)
	response, err := http.Post(b.peer.URL+"/_reshelve/movements", "application/json", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	var m struct{ ID string }
	err = decoded(response, http.StatusAccepted, &m)
	return m.ID, err
}

// decoded reads an answer about movements.
func decoded(response *http.Response, want int, into any) error {
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != want {
		return fmt.Errorf("%d %.500s", response.StatusCode, body)
	}
	return json.Unmarshal(body, into)
}

// movement is how far one is.
func (b *bench) movement(id string) (m told, err error) {
	response, err := http.Get(b.peer.URL + "/_reshelve/movements/" + id)
	if err != nil {
		return m, err
	}
	return m, decoded(response, http.StatusOK, &m)
}

// told is what is read of a movement.
type told struct {
	State   string
	Cause   string
	Started time.Time
	Phases  []struct {
		Name           string
		Started, Ended time.Time
	}
	Reshaping struct {
		Pauses []struct {
			Waited        int64
			P50, P99, Max time.Duration
		}
		Compared struct{ Documents int64 }
	}
}

// finished is a movement that has ended.
type finished struct {
	Pauses []struct {
		Waited        int64
		P50, P99, Max time.Duration
	}
	answering time.Duration
	verify    time.Duration
	compared  int64
}

// ended waits for a movement.
func (b *bench) ended(id string) (f finished, err error) {
	for {
		m, err := b.movement(id)
		if err != nil {
			return f, err
		}
		switch m.State {
		case "finished":
			f.Pauses, f.compared = m.Reshaping.Pauses, m.Reshaping.Compared.Documents
			for _, phase := range m.Phases {
				switch phase.Name {
				case "switch":
					f.answering = phase.Ended.Sub(m.Started)
				case "verify":
					f.verify = phase.Ended.Sub(phase.Started)
				}
			}
			if len(f.Pauses) == 0 {
				return f, fmt.Errorf("a movement tells no pause: %+v", m)
			}
			return f, nil
		case "held", "failed":
			return f, fmt.Errorf("movement %s is %s: %s", id, m.State, m.Cause)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// atRest splits again while nobody is at work, and counts what is written until the targets
// answer; what is written after that, to shed, does not count.
func (b *bench) atRest() (int64, error) {
	before, err := b.peer.Written()
	if err != nil {
		return 0, err
	}
	id, err := b.split(0)
	if err != nil {
		return 0, err
	}
	for {
		after, err := b.peer.Written()
		if err != nil {
			return 0, err
		}
		m, err := b.movement(id)
		if err != nil {
			return 0, err
		}
		for _, phase := range m.Phases {
			if phase.Name == "switch" && !phase.Ended.IsZero() {
				_, err := b.ended(id)
				return after - before, err
			}
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// theirs is what OpenSearch offers: writes are blocked, and a new index is made.
func theirs(ctx context.Context, dir string, documents int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	p := peers.OpenSearch("2.19.0", dir)
	if _, err := p.Start(ctx, peers.Request("GET", "/", "", nil), nil); err != nil {
		return err
	}
	defer p.Stop()
	if err := create(p); err != nil {
		return err
	}
	if _, err := p.Load(index, 0, documents, 2); err != nil {
		return err
	}
	c, err := peers.Dial(p.URL)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Must("POST", "/"+index+"/_refresh", ""); err != nil {
		return err
	}
	began := time.Now()
	if err := c.Must("PUT", "/"+index+"/_settings", `{"index.blocks.write":true}`); err != nil {
		return err
	}
	if err := c.Must("POST", "/"+index+"/_split/halves", `{"settings":{"index.number_of_shards":2,"index.number_of_replicas":0}}`); err != nil {
		return err
	}
	if err := c.Must("GET", "/_cluster/health/halves?wait_for_status=green&timeout=120s", ""); err != nil {
		return err
	}
	fmt.Printf("\nOpenSearch 2.19.0, %d documents: _split blocks writes for %s.\n", documents, peers.Short(time.Since(began)))
	return nil
}
