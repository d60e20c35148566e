package gateway_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/gateway/gatewaytest"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
)

// TestASplitByHTTP: shards are split and merged by orders, one at a time, and the index has all
// of its documents at every step, those that are written meanwhile too.
func TestASplitByHTTP(t *testing.T) {
	s := serveOnDisk(t)
	s.ask("PUT", "/books", `{"settings":{"number_of_shards":2}}`)
	written := 0
	write := func(n int) {
		for range n {
			if status, _, m := s.ask("PUT", fmt.Sprintf("/books/_doc/%d?refresh=true", written), `{"title":"x"}`); status != http.StatusCreated {
				t.Fatalf("%d %v", status, m)
			}
			written++
		}
	}
	counts := func() {
		t.Helper()
		if _, _, m := s.ask("GET", "/books/_count", ""); m["count"] != float64(written) {
			t.Errorf("of %d documents %v are counted", written, m)
		}
	}
	shards := func() (all []map[string]any, p map[string]any) {
		t.Helper()
		_, _, p = s.ask("GET", "/_reshelve/placement/books", "")
		docs, next := 0.0, "0000000000000000"
		for _, one := range p["shards"].([]any) {
			shard := one.(map[string]any)
			if from, to := shard["from"].(string), shard["to"].(string); from > to || len(to) != 16 || from != next {
				t.Errorf("after a range that ends before %s comes %s to %s", next, from, to)
			} else {
				next = after(to)
			}
			docs += shard["docs"].(float64)
			all = append(all, shard)
		}
		if docs != float64(written) || all[len(all)-1]["to"] != "ffffffffffffffff" {
			t.Errorf("of %d documents %v are in %v", written, docs, all)
		}
		return all, p
	}
	write(40)
	if status, _, plan := s.ask("POST", "/_reshelve/movements/preview", `{"kind":"split","index":"books","shard":0,"into":3}`); status != http.StatusOK ||
		plan["plan"].(map[string]any)["after"] != 4.0 || plan["plan"].(map[string]any)["pause"].(map[string]any)["basis"] != "probes" || len(plan["refusals"].([]any)) != 0 {
		t.Errorf("%d %v", status, plan)
	}
	if all, p := shards(); len(all) != 2 || p["version"] != 1.0 || p["movement"] != nil || all[0]["state"] != "OPEN" || all[0]["node"] != "local" {
		t.Errorf("%v", p)
	}

	status, header, m := s.ask("POST", "/_reshelve/movements", `{"kind":"split","index":"books","shard":0,"into":3,"keepWayBack":true,"why":"too large","askedBy":"ann"}`)
	at, id := header.Get("Location"), m["id"]
	if status != http.StatusAccepted || at != fmt.Sprint("/_reshelve/movements/", id) || m["kind"] != "split" {
		t.Fatalf("%d %q %v", status, at, m)
	}
	status, _, p := s.ask("POST", "/_reshelve/movements", `{"kind":"merge","index":"books","shards":[0,1]}`)
	if status != http.StatusConflict || !strings.Contains(p["detail"].(string), id.(string)) || !strings.Contains(p["next"].(string), "GET /_reshelve/movements/ID") {
		t.Errorf("a second one: %d %v", status, p)
	}
	write(10)
	m = s.wait(at, "switched")
	told := m["reshaping"].(map[string]any)
	if m["by"] != "ann" || m["why"] != "too large" || told["compared"].(map[string]any)["documents"] == 0.0 {
		t.Errorf("%v", m)
	}
	if all, p := shards(); len(all) != 4 || p["movement"] != id || all[0]["state"] != "SOURCE" || all[1]["state"] != "SPLIT" || all[3]["state"] != "OPEN" {
		t.Errorf("%v", p)
	}
	counts()
	write(10)
	if status, _, p := s.ask("POST", at+"/abort", ""); status != http.StatusConflict || !strings.HasPrefix(fmt.Sprint(p["next"]), fmt.Sprint("reshelve movement reverse ", id, " --at ")) {
		t.Errorf("%d %v", status, p)
	}
	if status, _, p := s.ask("POST", at+"/repair", ""); status != http.StatusBadRequest || p["kind"] != "refused" {
		t.Errorf("%d %v", status, p)
	}
	if status, _, p := s.ask("POST", at+"/throttle", `{"documentsPerSecond":5}`); status != http.StatusBadRequest || p["next"] == nil {
		t.Errorf("%d %v", status, p)
	}
	if status, _, m := s.ask("POST", at+"/throttle", `{"bytesPerSecond":500}`); status != http.StatusOK || m["rate"].(map[string]any)["bytesPerSecond"] != 500.0 {
		t.Errorf("%d %v", status, m)
	}
	if _, _, m := s.ask("POST", at+"/throttle", `{"bytesPerSecond":0.25}`); m["rate"].(map[string]any)["bytesPerSecond"] != 1.0 {
		t.Errorf("a quarter of a byte in a second: %v", m["rate"])
	}
	if _, _, m := s.ask("POST", at+"/throttle", `{"bytesPerSecond":1e300}`); m["rate"].(map[string]any)["bytesPerSecond"] != float64(1<<63-1) {
		t.Errorf("1e300: %v", m["rate"])
	}
	s.ask("POST", at+"/reverse", `{"why":"it was not"}`)
	s.wait(at, "reversed")
	counts()
	if all, p := shards(); len(all) != 2 || p["movement"] != nil || all[0]["state"] != "OPEN" {
		t.Errorf("%v", p)
	}

	_, header, m = s.ask("POST", "/_reshelve/movements", `{"kind":"split","index":"books","by":2,"limits":{"bytesPerSecond":0.5}}`)
	if m["rate"].(map[string]any)["bytesPerSecond"] != 1.0 {
		t.Errorf("half of a byte in a second: %v", m["rate"])
	}
	s.ask("POST", header.Get("Location")+"/throttle", `{"bytesPerSecond":0}`)
	s.wait(header.Get("Location"), "finished")
	all, _ := shards()
	counts()
	merge := fmt.Sprintf(`{"kind":"merge","index":"books","shards":[%v,%v]}`, all[0]["shard"], all[1]["shard"])
	_, header, _ = s.ask("POST", "/_reshelve/movements", merge)
	s.wait(header.Get("Location"), "finished")
	counts()
	if all, _ := shards(); len(all) != 3 {
		t.Errorf("%v", all)
	}
	for _, path := range []string{"/books/_settings", "/books", "/books/_settings/index.number_of_shards"} {
		if _, _, told := s.ask("GET", path, ""); !strings.Contains(fmt.Sprint(told), "number_of_shards:3 ") && !strings.Contains(fmt.Sprint(told), "number_of_shards:3]") {
			t.Errorf("%s says that there are other than 3 shards: %v", path, told)
		}
	}
	_, _, text := s.ask("GET", "/_reshelve/metrics", "")
	if want := `reshelve_movements{kind="split",state="finished"} 1`; !strings.Contains(text["text"].(string), want) {
		t.Errorf("the metrics lack %s", want)
	}
}

// serveOnDisk is on the engine whose shards share segments by reference, as a split expects.
func serveOnDisk(t *testing.T) served {
	t.Helper()
	engine, err := embedded.Open(t.Context(), t.TempDir(), embedded.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return served{t, gatewaytest.Serve(t, engine)}
}

// after is the order key behind one.
func after(key string) string {
	var n uint64
	_, _ = fmt.Sscanf(key, "%x", &n)
	return fmt.Sprintf("%016x", n+1)
}

// TestWhatIsNotSplit: an index that is closed is not, and what would copy one into another names
// the verbs that are.
func TestWhatIsNotSplit(t *testing.T) {
	s := serveOnDisk(t)
	s.ask("PUT", "/books", `{}`)
	s.ask("POST", "/books/_close", "")
	status, _, p := s.ask("POST", "/_reshelve/movements", `{"kind":"split","index":"books","by":2}`)
	if status != http.StatusBadRequest || p["kind"] != "refused" || !strings.Contains(p["next"].(string), "_open") {
		t.Errorf("%d %v", status, p)
	}
	for _, verb := range []string{"_split", "_shrink", "_clone"} {
		status, _, answer := s.ask("POST", "/books/"+verb+"/others", "")
		told, _ := answer["error"].(map[string]any)
		if status != http.StatusBadRequest || told["type"] != "illegal_argument_exception" || !strings.Contains(told["reason"].(string), "reshelve split") {
			t.Errorf("%s: %d %v", verb, status, answer)
		}
	}
	if _, _, all := s.ask("GET", "/_reshelve/movements", ""); len(all["movements"].([]any)) != 0 {
		t.Errorf("%v", all)
	}
	// Of an empty index nothing is weighed, and it is split all the same.
	s.ask("POST", "/books/_open", "")
	_, header, _ := s.ask("POST", "/_reshelve/movements", `{"kind":"split","index":"books","by":3}`)
	began := time.Now()
	s.wait(header.Get("Location"), "finished")
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}
