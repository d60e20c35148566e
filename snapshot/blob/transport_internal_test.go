package blob

import (
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func TestAStalledConnectionFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		conn := &watchedConn{near}
		defer conn.Close()
		p := make([]byte, 10)

		go func() { // slow, but alive
			for range 3 {
				time.Sleep(stallAfter - time.Second)
				far.Write([]byte("x"))
			}
		}()
		for range 3 {
			if n, err := conn.Read(p); n != 1 || err != nil {
				t.Fatalf("a slow connection: %d, %v", n, err)
			}
		}
		begin := time.Now()
		_, err := conn.Read(p)
		if took := time.Since(begin); !os.IsTimeout(err) || took != stallAfter {
			t.Errorf("a dead connection: %v after %v", err, took)
		}
	})
}
