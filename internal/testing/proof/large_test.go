package proof

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// largeMemory is what a server is told to stay below. Files that are mapped, the program among
// them, are not counted: they are the system's cache. LargePeak is what one request after the other,
// and several of the largest at a time, never take: what garbage is left is collected late.
const (
	largeMemory = 256 << 20
	largePeak   = largeMemory * 7 / 4
)

// TestLargeRequestsWithinMemory: with the default memory, what is large is done in bounded memory, or is
// refused with the limit.
func TestLargeRequestsWithinMemory(t *testing.T) {
	p, err := Start(binary(t), "serve", "--data", dataFolder(t), "--listen", "127.0.0.1:0", "--memory", fmt.Sprint(largeMemory))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	url, talk := serving(t, p), NewTalk(5*time.Minute)
	t.Cleanup(talk.Close)
	ask(t, talk, 200, "PUT", url+"/large", `{"settings":{"number_of_replicas":0}}`)
	words := manyWords(17 << 20)
	document := func(n int) string { return `{"a":"` + words[:n] + `"}` }
	var deletes, documents, updates strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&deletes, "{\"delete\":{\"_id\":\"%d\"}}\n", i)
	}
	for i := range 60 {
		fmt.Fprintf(&documents, "{\"index\":{\"_id\":\"m%d\"}}\n%s\n", i, document(1<<20))
	}
	for i := range 120 {
		fmt.Fprintf(&updates, "{\"update\":{\"_id\":\"m%d\"}}\n{\"doc\":{\"b\":%d}}\n", i%60, i)
	}
	for _, c := range []struct {
		name, method, path, body string
		times                    int // at a time
		statuses                 []int
		says                     string
	}{
		{"one term of 90 MB", "PUT", "/large/_doc/1", `{"a":"` + strings.Repeat("a", 90_000_000) + `"}`, 1, []int{413}, "67108864"},
		{"words of 90 MB", "PUT", "/large/_doc/1", `{"a":"` + strings.Repeat(words, 6)[:90_000_000] + `"}`, 1, []int{413}, "--max-in-flight"},
		{"words of 17 MiB", "PUT", "/large/_doc/1", document(17 << 20), 1, []int{413}, "16777216"},
		{"words of nearly 16 MiB", "PUT", "/large/_doc/1?refresh=true", document(16<<20 - 100), 1, []int{201}, "created"},
		{"an update that makes it larger", "POST", "/large/_update/1", `{"doc":{"b":"` + words[:1000] + `"}}`, 1, []int{413}, "--max-item"},
		{"a term of nearly 16 MiB", "PUT", "/large/_doc/2?refresh=true", `{"a":"` + strings.Repeat("a", 16<<20-100) + `"}`, 1, []int{201}, "created"},
		{"8 documents of 10 MB at a time", "POST", "/large/_doc", document(10_000_000), 8, []int{201, 429}, ""},
		{"60 documents of 1 MB in one request", "POST", "/large/_bulk", documents.String(), 1, []int{200}, `"errors":false`},
		{"updates of them that show them", "POST", "/large/_bulk?_source=true", updates.String(), 1, []int{200}, `"status":413`},
		{"updates of them", "POST", "/large/_bulk", updates.String(), 1, []int{200}, `"errors":false`},
		{"300,000 deletes", "POST", "/large/_bulk", deletes.String(), 1, []int{200}, `"errors":false`},
		{"documents in one answer", "POST", "/large/_search?size=100", `{}`, 4, []int{200, 413, 429}, ""},
	} {
		most, measured := anonymous(p)
		began := time.Now()
		var all sync.WaitGroup
		for range c.times {
			all.Go(func() {
				answer, err := talk.Do(t.Context(), c.method, url+c.path, []byte(c.body))
				if err != nil || !slices.Contains(c.statuses, answer.Status) || !strings.Contains(string(answer.Body), c.says) {
					t.Errorf("%s: %v %d %.300s, want one of %d and %s", c.name, err, answer.Status, answer.Body, c.statuses, c.says)
				}
			})
		}
		all.Wait()
		took := time.Since(began).Round(time.Millisecond)
		time.Sleep(time.Second) // a refresh
		measured()
		t.Logf("%s: %s, at most %d MiB", c.name, took, *most>>20)
		if *most > largePeak {
			t.Errorf("%s: the server took %d MiB, with --memory of %d MiB", c.name, *most>>20, largeMemory>>20)
		}
	}
	stop(t, p)
}

// anonymous looks, until done is called, how much memory of its own a process has at most.
func anonymous(p *Process) (most *int64, done func()) {
	most = new(int64)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
				if _, rest, found := strings.Cut(string(text), "RssAnon:"); found {
					kilobytes, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
					*most = max(*most, kilobytes<<10)
				}
			}
		}
	}()
	return most, func() { close(stop); <-stopped }
}

// manyWords is a text of n bytes with many different words.
func manyWords(n int) string {
	var text strings.Builder
	dice := rand.New(rand.NewPCG(1, 2))
	for text.Len() < n {
		fmt.Fprintf(&text, "w%d ", dice.IntN(200_000))
	}
	return text.String()[:n]
}

// TestASplitWithinMemory: a split, and a merge, of more documents than would fit the memory stay within what
// large requests do, however many shards there are made.
func TestASplitWithinMemory(t *testing.T) {
	const (
		memory    = 64 << 20
		documents = 400_000
		batch     = 10_000
		shards    = 8
	)
	p, err := Start(binary(t), "serve", "--data", dataFolder(t), "--listen", "127.0.0.1:0", "--memory", fmt.Sprint(memory))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	url, talk := serving(t, p), NewTalk(5*time.Minute)
	t.Cleanup(talk.Close)
	ask(t, talk, 200, "PUT", url+"/many", `{"settings":{"number_of_replicas":0}}`)
	dice := rand.New(rand.NewPCG(3, 4))
	load := func() {
		for from := 0; from < documents; from += batch {
			var bulk strings.Builder
			for i := range batch {
				fmt.Fprintf(&bulk, "{\"index\":{\"_id\":\"%d\"}}\n{\"t\":\"%x %x\",\"k\":\"%x\",\"n\":%d}\n", from+i, dice.Uint64(), dice.Uint64(), dice.Uint64(), i)
			}
			ask(t, talk, 200, "POST", url+"/many/_bulk?filter_path=errors", bulk.String())
		}
		ask(t, talk, 200, "POST", url+"/many/_refresh", "")
	}
	move := func(order string) func() {
		return func() {
			var m struct{ ID string }
			if err := json.Unmarshal(ask(t, talk, 202, "POST", url+"/_reshelve/movements", order), &m); err != nil {
				t.Fatal(err)
			}
			reaches(t, talk, url+"/_reshelve/movements/"+m.ID, "finished")
		}
	}
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"the load", load},
		{"the split", move(fmt.Sprintf(`{"kind":"split","index":"many","into":%d,"pauseBudget":"5s"}`, shards))},
		{"the merge", move(`{"kind":"merge","index":"many","shards":[0,1,2,3,4,5,6,7],"pauseBudget":"5s"}`)},
	} {
		most, measured := anonymous(p)
		step.do()
		measured()
		t.Logf("%s: at most %d MiB", step.name, *most>>20)
		if *most > memory*7/4 {
			t.Errorf("%s took %d MiB, with --memory of %d MiB", step.name, *most>>20, memory>>20)
		}
	}
	var count struct{ Count int }
	if err := json.Unmarshal(ask(t, talk, 200, "GET", url+"/many/_count", ""), &count); err != nil || count.Count != documents {
		t.Errorf("%d documents are counted: %v", count.Count, err)
	}
	stop(t, p)
}
