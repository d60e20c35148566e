package proof

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The bounds of a server under attack: what it is told to stay below, what it never
// takes, and the address space beyond which the system refuses it memory.
const (
	hostileMemory  = "64MiB"
	hostilePeak    = 320 << 20
	hostileAddress = 6 << 30
)

// besieged is a server under attack.
type besieged struct {
	t       *testing.T
	process *Process
	url     string
	talk    *Talk
	probes  int
}

func besiege(t *testing.T, words ...string) *besieged {
	t.Helper()
	limited := []string{"bash", "-c", fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, hostileAddress>>10), binary(t),
		"serve", "--data", dataFolder(t), "--listen", "127.0.0.1:0", "--memory", hostileMemory, "--max-body", "8MiB", "--max-item", "8MiB", "--max-in-flight", "16MiB"}
	p, err := Start(append(limited, words...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	b := &besieged{t: t, process: p, url: serving(t, p), talk: NewTalk(2 * time.Minute)}
	t.Cleanup(b.talk.Close)
	ask(t, b.talk, 200, "PUT", b.url+"/held", `{"settings":{"number_of_replicas":0}}`)
	return b
}

// stands holds the server to going on: it answers others soon, and its memory is
// bounded.
func (b *besieged) stands() {
	b.t.Helper()
	select {
	case <-b.process.Exited():
		b.t.Fatalf("the server ended with %d: %.3000s", b.process.ExitCode(), b.process.Stderr())
	default:
	}
	ctx, cancel := context.WithTimeout(b.t.Context(), 10*time.Second)
	defer cancel()
	b.probes++
	id := fmt.Sprintf("probe%d", b.probes)
	answer, err := b.talk.Do(ctx, "PUT", b.url+"/held/_doc/"+id, []byte(`{"probe":true}`))
	if err != nil || answer.Status != 201 {
		b.t.Fatalf("a write of another client: %s %v", answer, err)
	}
	if answer, err := b.talk.Do(ctx, "GET", b.url+"/held/_doc/"+id, nil); err != nil || answer.Status != 200 {
		b.t.Fatalf("a read of another client: %s %v", answer, err)
	}
	if peak := b.peak(); peak > hostilePeak {
		b.t.Errorf("the server took %d MB of memory", peak>>20)
	}
}

// peak is the most memory that the server has had so far, in bytes, since the last peak.
func (b *besieged) peak() int64 { b.t.Helper(); return peak(b.t, b.process) }

// sends sends a request; its answer must have one of the statuses, and be short.
func (b *besieged) sends(method, path, body string, statuses ...int) Answer {
	b.t.Helper()
	var content []byte
	if body != "" {
		content = []byte(body)
	}
	answer, err := b.talk.Do(b.t.Context(), method, b.url+path, content)
	if err != nil {
		b.t.Fatalf("%s %.100s: %v", method, path, err)
	}
	for _, status := range statuses {
		if answer.Status == status {
			return answer
		}
	}
	b.t.Errorf("%s %.100s %.100s: %d %.500s, not %d", method, path, body, answer.Status, answer.Body, statuses)
	return answer
}

// TestHostileRequests sends what a server must survive: each is refused or answered,
// the memory is bounded, and others are served.
func TestHostileRequests(t *testing.T) {
	b := besiege(t)
	for _, attack := range attacks {
		t.Run(attack.name, func(t *testing.T) {
			b.t = t
			began := time.Now()
			attack.do(b)
			took, peak := time.Since(began).Round(time.Millisecond), b.peak()
			t.Logf("%s, at most %d MB", took, peak>>20)
			if peak > hostilePeak {
				t.Errorf("the server took %d MB of memory", peak>>20)
			}
			b.stands()
		})
		if t.Failed() {
			select {
			case <-b.process.Exited():
				t.Fatalf("it ended: %.2000s", b.process.Stderr())
			default:
			}
		}
	}
	b.t = t
	stop(t, b.process)
}

var attacks = []struct {
	name string
	do   func(*besieged)
}{
	{"deep objects", func(b *besieged) {
		deep := strings.Repeat(`{"a":`, 1<<20) + "1" + strings.Repeat("}", 1<<20)
		for _, path := range []string{"/held/_doc/1", "/held/_mapping", "/held/_settings", "/made"} {
			b.sends("PUT", path, deep, 400)
		}
		for _, path := range []string{"/held/_search", "/held/_count", "/held/_update/1", "/_mget", "/_aliases", "/held/_rollover"} {
			b.sends("POST", path, deep, 400, 404)
		}
		b.sends("POST", "/held/_bulk", deep+"\n"+deep[:8]+"\n", 400)
		b.sends("POST", "/held/_bulk", `{"index":{"_id":"deep"}}`+"\n"+deep+"\n", 200)
	}},
	{"deep arrays", func(b *besieged) {
		deep := `{"a":` + strings.Repeat("[", 3<<20) + strings.Repeat("]", 3<<20) + "}"
		b.sends("PUT", "/held/_doc/1", deep, 400)
		b.sends("POST", "/held/_search", deep, 400)
		b.sends("PUT", "/held/_doc/1", strings.Repeat("[", 7<<20), 400)
	}},
	{"many fields", func(b *besieged) {
		var fields strings.Builder
		for i := range 400_000 {
			fmt.Fprintf(&fields, `"f%d":1,`, i)
		}
		b.sends("PUT", "/held/_doc/1", "{"+fields.String()+`"last":1}`, 400)
		b.sends("PUT", "/held/_mapping", `{"properties":{`+strings.ReplaceAll(fields.String()[:2<<20], ":1,", `:{"type":"long"},`)+`"last":{"type":"long"}}}`, 400)
	}},
	{"dots", func(b *besieged) {
		b.sends("PUT", "/held/_doc/1", `{"`+strings.Repeat("a.", 3<<20)+`a":1}`, 400)
		b.sends("PUT", "/held/_doc/1", `{"`+strings.Repeat(".", 3<<20)+`":1}`, 400)
		b.sends("PUT", "/held/_mapping", `{"properties":{"`+strings.Repeat("a.", 1<<20)+`a":{"type":"long"}}}`, 400)
		b.sends("GET", "/held/_doc/1?_source="+strings.Repeat("a.", 20000), "", 404, 400)
	}},
	{"many duplicate keys", func(b *besieged) {
		b.sends("PUT", "/held/_doc/1", `{`+strings.Repeat(`"a":1,`, 1<<20)+`"a":1}`, 400)
	}},
	{"great numbers", func(b *besieged) {
		b.sends("PUT", "/held/_mapping", `{"properties":{"long":{"type":"long"},"double":{"type":"double"},"byte":{"type":"byte"},"date":{"type":"date"},"unsigned":{"type":"unsigned_long"}}}`, 200)
		for _, field := range []string{"long", "double", "byte", "date", "unsigned"} {
			for _, number := range []string{"1e1000000000", "1e-1000000000", "-1e999999999", strings.Repeat("9", 5<<20), "0." + strings.Repeat("0", 5<<20) + "1", `"1e1000000000"`, `"` + strings.Repeat("9", 5<<20) + `"`} {
				b.sends("PUT", "/held/_doc/number", `{"`+field+`":`+number+`}`, 200, 201, 400)
			}
		}
	}},
	{"gzip bombs", func(b *besieged) {
		var bomb bytes.Buffer
		zip := gzip.NewWriter(&bomb)
		chunk := bytes.Repeat([]byte(" "), 1<<20)
		for range 1 << 10 {
			_, _ = zip.Write(chunk)
		}
		_ = zip.Close()
		for _, path := range []string{"/held/_doc/1", "/_bulk", "/held/_search", "/_mget"} {
			b.encoded(path, "gzip", bomb.Bytes(), 413)
		}
		b.encoded("/held/_doc/1", "gzip", []byte("no gzip"), 400)
		b.encoded("/held/_doc/1", "gzip", bomb.Bytes()[:1000], 400)
	}},
	{"a length that is not true", func(b *besieged) {
		conn := openSlowly(b.t, b.url, "PUT /held/_doc/1 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{")
		conn.finish(b.t, "", 413)
		conn = openSlowly(b.t, b.url, "PUT /held/_doc/1 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999999999999999999999\r\n\r\n{")
		conn.finish(b.t, "", 400)
	}},
	{"a body without end", func(b *besieged) {
		b.endless("PUT /held/_doc/1 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n", "10000\r\n"+strings.Repeat(" ", 0x10000)+"\r\n", 413)
	}},
	{"headers without end", func(b *besieged) {
		b.endless("GET / HTTP/1.1\r\nHost: localhost\r\n", "X-A: "+strings.Repeat("a", 4000)+"\r\n", 431)
	}},
	{"a request line without end", func(b *besieged) { b.endless("GET /held/_doc/", strings.Repeat("a", 4096), 431) }},
	{"many parameters", func(b *besieged) {
		b.sends("GET", "/held/_doc/probe1?"+strings.Repeat("a&", 25_000), "", 400)
		b.sends("GET", "/held/_doc/probe1?filter_path="+strings.Repeat("**.", 15_000)+"x", "", 200, 400)
		b.sends("GET", "/held/_doc/probe1?filter_path="+strings.Repeat("*a", 20_000), "", 200, 400)
		b.sends("GET", "/held/_doc/probe1?_source="+strings.Repeat("*a*,", 12_000), "", 200, 400)
		b.sends("GET", "/"+strings.Repeat("*a", 20_000)+"/_search", "", 200, 400, 404)
		b.sends("GET", "/"+strings.Repeat("h*,", 15_000)+"/_count", "", 200, 400, 404)
	}},
	{"ids", func(b *besieged) {
		b.sends("PUT", "/held/_doc/"+strings.Repeat("x", 513), `{}`, 400)
		b.sends("POST", "/held/_bulk", `{"index":{"_id":"`+strings.Repeat("x", 6<<20)+`"}}`+"\n{}\n", 400)
		b.sends("POST", "/held/_mget", `{"ids":["`+strings.Repeat("x", 6<<20)+`"]}`, 200, 400)
		b.sends("POST", "/held/_search", `{"query":{"ids":{"values":["`+strings.Repeat("x", 6<<20)+`"]}}}`, 200, 400)
		b.sends("PUT", "/held/_doc/1?routing="+strings.Repeat("r", 50_000), `{}`, 200, 201, 400)
		b.sends("PUT", "/"+strings.Repeat("i", 50_000)+"/_doc/1", `{}`, 400)
	}},
	{"bytes that are no UTF-8", func(b *besieged) {
		b.sends("PUT", "/held/_doc/%ff%fe", `{}`, 201, 400)
		b.sends("PUT", "/held/_doc/%c3%28?routing=%ff", `{}`, 201, 400)
		b.sends("PUT", "/%ff/_doc/1", `{}`, 201) // a name of one replacement character, as in OpenSearch
		b.sends("DELETE", "/%ff", "", 200)
		b.sends("PUT", "/held/_doc/1", "{\"a\":\"\xff\"}", 400)
		b.sends("PUT", "/held/_doc/1", "{\"\xff\":1}", 400)
		b.sends("POST", "/held/_bulk", "{\"index\":{\"_id\":\"\xff\"}}\n{}\n", 200, 400)
		b.sends("POST", "/held/_search", "{\"query\":{\"ids\":{\"values\":[\"\xc3\"]}}}", 400)
		b.sends("GET", "/held/_doc/1?_source=%ff", "", 200, 400, 404)
	}},
	{"many small items", func(b *besieged) {
		b.sends("POST", "/held/_bulk", strings.Repeat("\n", 7<<20), 400)
		b.sends("POST", "/held/_bulk", strings.Repeat("{\"delete\":{}}\n", 500_000), 400, 413)
		b.sends("POST", "/held/_bulk", strings.Repeat("{\"index\":{\"_id\":\"1\"}}\n{\n", 300_000), 413)
		b.sends("POST", "/held/_bulk", strings.Repeat("{\"delete\":{\"_id\":\"1\"}}\n", 300_000), 413)
	}},
	{"a line without end", func(b *besieged) {
		b.sends("POST", "/held/_bulk", `{"index":{"_id":"1"}}`+"\n"+strings.Repeat("x", 7<<20), 400)
		b.sends("POST", "/held/_bulk", strings.Repeat("x", 7<<20)+"\n", 400)
	}},
	{"many ids in a get and in a search", func(b *besieged) {
		b.sends("PUT", "/held/_doc/big", `{"big":"`+strings.Repeat("big ", 1<<18)+`"}`, 200, 201)
		b.sends("POST", "/held/_mget", `{"ids":[`+strings.Repeat(`"1",`, 1<<20)+`"1"]}`, 200, 400, 413, 429)
		b.sends("POST", "/held/_mget", `{"ids":[`+strings.Repeat(`"big",`, 2000)+`"big"]}`, 200, 400, 413, 429)
		b.sends("POST", "/held/_search", `{"query":{"ids":{"values":[`+strings.Repeat(`"big",`, 1<<19)+`"big"]}}}`, 200, 400)
	}},
	{"many aliases and actions", func(b *besieged) {
		var actions strings.Builder
		for i := range 50_000 {
			fmt.Fprintf(&actions, `{"add":{"index":"held","alias":"held%d"}},`, i)
		}
		b.sends("POST", "/_aliases", `{"actions":[`+actions.String()+`{"remove":{"index":"held","alias":"held*"}}]}`, 200, 400, 429)
	}},
	{"many indices", func(b *besieged) {
		b.sends("DELETE", "/held/_alias/held*", "", 200, 404) // a change of names takes time by their number
		b.sends("PUT", "/_cluster/settings", `{"transient":{"cluster.max_shards_per_node":"60"}}`, 200)
		var lines strings.Builder
		for i := range 3000 {
			fmt.Fprintf(&lines, "{\"index\":{\"_index\":\"made%d\",\"_id\":\"1\"}}\n{\"field%d\":1}\n", i, i)
		}
		answer := b.sends("POST", "/_bulk", lines.String(), 200)
		if !bytes.Contains(answer.Body, []byte("maximum shards open")) {
			b.t.Error("3000 indices were made by one request")
		}
		b.sends("DELETE", "/made*", "", 200)
		b.sends("PUT", "/_cluster/settings", `{"transient":{"cluster.max_shards_per_node":null}}`, 200)
	}},
	{"other formats", func(b *besieged) {
		laughs := "a: &a [x,x,x,x,x,x,x,x,x]\n"
		for c := 'b'; c <= 'j'; c++ {
			laughs += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ","))
		}
		for _, kind := range []string{"application/yaml", "application/cbor", "application/smile"} {
			for _, body := range []string{laughs, "\xbf" + strings.Repeat("\x9f", 1<<20), ":)\n\x00" + strings.Repeat("\xf8", 1<<20), strings.Repeat("[", 1<<20), "\x9b\x7f\xff\xff\xff\xff\xff\xff\xff", strings.Repeat("- ", 1<<20), strings.Repeat("? ", 1<<20)} {
				answer, err := b.talk.Send(b.t.Context(), "PUT", b.url+"/held/_doc/format", kind, []byte(body))
				if err != nil || answer.Status != 400 && answer.Status != 406 {
					b.t.Errorf("%s %.20q: %.300s %v", kind, body, answer, err)
				}
			}
		}
	}},
}

// encoded sends a body in an encoding.
func (b *besieged) encoded(path, encoding string, body []byte, status int) {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), "POST", b.url+path, bytes.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("Content-Encoding", encoding)
	request.Header.Set("Content-Type", map[bool]string{true: "application/x-ndjson", false: "application/json"}[path == "/_bulk"])
	response, err := b.talk.client.Do(request)
	if err != nil {
		b.t.Error(err)
		return
	}
	defer response.Body.Close()
	if told, _ := io.ReadAll(response.Body); response.StatusCode != status {
		b.t.Errorf("%s: %d %.300s, not %d", path, response.StatusCode, told, status)
	}
}

// endless sends a beginning and then the same for ever: the server ends it, with an
// answer where one arrives.
func (b *besieged) endless(beginning, more string, status int) {
	b.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	if err != nil {
		b.t.Fatal(err)
	}
	defer conn.Close()
	answered := make(chan int, 1)
	go func() {
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			answered <- 0
			return
		}
		response.Body.Close()
		answered <- response.StatusCode
	}()
	_ = conn.SetWriteDeadline(time.Now().Add(30 * time.Second))
	_, err = io.WriteString(conn, beginning)
	sent := len(beginning)
	for ; err == nil && sent < 1<<30; sent += len(more) {
		_, err = io.WriteString(conn, more)
	}
	if err == nil {
		b.t.Errorf("the server took %d bytes", sent)
	}
	conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	if got := <-answered; got != status && got != 0 { // a reset may overtake the answer
		b.t.Errorf("it answered %d, not %d", got, status)
	}
}
