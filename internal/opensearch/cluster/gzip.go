package cluster

import (
	"bytes"
	"sync"

	"github.com/klauspost/compress/gzip"
)

var packers = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level exists
	return w
}}

// pack compresses a body, fast rather than well: the network of a cluster is
// seldom what lacks.
func pack(body []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(body) / 4)
	w := packers.Get().(*gzip.Writer)
	w.Reset(&out)
	_, _ = w.Write(body) // into memory
	_ = w.Close()
	packers.Put(w)
	return out.Bytes()
}
