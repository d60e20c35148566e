package proof

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestStop tells a busy server to stop: what it has accepted it finishes, what comes
// later it refuses, and what it acknowledged is there afterwards.
func TestStop(t *testing.T) {
	dir := dataFolder(t)
	p, url := serve(t, dir)
	talk := talk(t)
	ask(t, talk, 200, "PUT", url+"/stopped", `{"settings":{"number_of_replicas":0}}`)

	slow := openSlowly(t, url, "PUT /stopped/_doc/slow HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"a\"")
	var acknowledged atomic.Int64
	var writing sync.WaitGroup
	first := make(chan struct{}, clients)
	for number := range clients {
		writing.Go(func() {
			for i := 0; ; i++ {
				answer, err := talk.Do(context.Background(), "PUT", fmt.Sprintf("%s/stopped/_doc/%d-%d", url, number, i), []byte(`{}`))
				if err != nil {
					return // refused, or the connection ended between two requests
				}
				if answer.Status != 201 {
					t.Errorf("a server that stops answers %s", answer)
					return
				}
				acknowledged.Add(1)
				if i == 20 {
					first <- struct{}{}
				}
			}
		})
	}
	for range clients {
		<-first
	}
	began := time.Now()
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	writing.Wait() // which they do because they are refused
	refusesAll(t, url)
	slow.finish(t, `: "ab"}`, 201)
	ended(t, p, 0)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the end took %s", took)
	}

	p, url = serve(t, dir)
	ask(t, talk, 200, "POST", url+"/stopped/_refresh", "")
	var count struct{ Count int64 }
	if err := json.Unmarshal(ask(t, talk, 200, "GET", url+"/stopped/_count", ""), &count); err != nil {
		t.Fatal(err)
	}
	least := acknowledged.Load() + 1 // each writer may have lost its last answer
	if count.Count < least || count.Count > least+clients {
		t.Errorf("after the stop: %d documents, %d were acknowledged", count.Count, least)
	}
	stop(t, p)
}

// TestStopOfSlowClients: a client that never ends its request does not hold the server.
func TestStopOfSlowClients(t *testing.T) {
	p, url := serve(t, dataFolder(t))
	openSlowly(t, url, "PUT /endless/_doc/1 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	openSlowly(t, url, "GET / HT")
	openSlowly(t, url, "")
	stop(t, p)
}

// slowly is a request that is being sent.
type slowly struct{ conn net.Conn }

func openSlowly(t *testing.T, url, beginning string) slowly {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, beginning); err != nil {
		t.Fatal(err)
	}
	return slowly{conn}
}

func (s slowly) finish(t *testing.T, rest string, status int) {
	t.Helper()
	if _, err := io.WriteString(s.conn, rest); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(s.conn), nil)
	if err != nil {
		t.Fatalf("a request that was accepted got no answer: %v", err)
	}
	defer response.Body.Close()
	if body, _ := io.ReadAll(response.Body); response.StatusCode != status {
		t.Fatalf("a request that was accepted got %d %s", response.StatusCode, body)
	}
}

// refusesAll waits until nobody listens any more.
func refusesAll(t *testing.T, url string) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			return
		}
		conn.Close()
	}
	t.Fatal("a server that was told to stop goes on listening")
}
