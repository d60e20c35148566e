package proof

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestManyBulks sends more bulks at once than there is room for: those beyond the
// limit are told to come again, the others are applied.
func TestManyBulks(t *testing.T) {
	b := besiege(t)
	var body bytes.Buffer
	for i := range 400 {
		fmt.Fprintf(&body, "{\"index\":{\"_id\":\"%d\"}}\n{\"pad\":%q}\n", i, strings.Repeat("pad ", 2500))
	}
	var taken, refused atomic.Int64
	var sending sync.WaitGroup
	for range 40 {
		sending.Go(func() {
			for range 3 {
				answer, err := b.talk.Do(t.Context(), "POST", b.url+"/held/_bulk?filter_path=errors", body.Bytes())
				switch {
				case err != nil:
					t.Error(err)
				case answer.Status == 200 && string(answer.Body) == `{"errors":false}`:
					taken.Add(1)
				case answer.Status == 429 && answer.Header.Get("Retry-After") != "" && bytes.Contains(answer.Body, []byte("rejected_execution_exception")):
					refused.Add(1)
				default:
					t.Errorf("a bulk among many: %.300s", answer)
				}
			}
		})
	}
	sending.Wait()
	t.Logf("%d bulks of %d KB were taken, %d were told to come again; at most %d MB", taken.Load(), body.Len()>>10, refused.Load(), b.peak()>>20)
	if taken.Load() == 0 || refused.Load() == 0 {
		t.Error("all were treated alike")
	}
	b.stands()
	stop(t, b.process)
}

// TestManyReaders reads large documents all at once: answers, too, take no more
// memory than there is.
func TestManyReaders(t *testing.T) {
	b := besiege(t)
	for i := range 40 {
		ask(t, b.talk, 201, "PUT", fmt.Sprintf("%s/held/_doc/big%d", b.url, i), `{"pad":"`+strings.Repeat("pad ", 1<<18)+`"}`)
	}
	ask(t, b.talk, 200, "POST", b.url+"/held/_refresh", "")
	var reading sync.WaitGroup
	for i := range 30 {
		reading.Go(func() {
			for _, c := range []struct{ path, body string }{
				{"/held/_search", `{"size":40}`},
				{"/held/_mget", `{"ids":[` + strings.TrimSuffix(strings.Repeat(`"big1",`, 40), ",") + `]}`},
				{fmt.Sprintf("/held/_update/big%d?_source=true", i), `{"doc":{"more":1}}`},
			} {
				answer, err := b.talk.Do(t.Context(), "POST", b.url+c.path, []byte(c.body))
				never := answer.Status == 413 && !strings.Contains(c.path, "_update") // 40 MB do not fit into 16
				if err != nil || answer.Status != 200 && answer.Status != 429 && !never {
					t.Errorf("%s: %.300s %v", c.path, answer, err)
				}
			}
		})
	}
	reading.Wait()
	t.Logf("at most %d MB", b.peak()>>20)
	b.stands()
	stop(t, b.process)
}

// TestSlowClients opens thousands of connections that say nothing, or little by
// little: others are served meanwhile, and what takes too long is ended.
func TestSlowClients(t *testing.T) {
	b := besiege(t, "--timeout", "2s")
	var conns []net.Conn
	for i := range 3000 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		switch i % 3 {
		case 1:
			_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHo")
		case 2:
			_, _ = io.WriteString(conn, "PUT /held/_doc/slow HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{")
		}
		conns = append(conns, conn)
	}
	b.stands()
	for i, conn := range conns {
		if i%3 != 2 {
			continue // the time for headers is not set by a flag
		}
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.ReadAll(conn); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Fatalf("a request that took too long to arrive is still open: %v", err)
		}
	}
	t.Logf("at most %d MB", b.peak()>>20)
	b.stands()
	stop(t, b.process)
}
