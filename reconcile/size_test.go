package reconcile_test

import (
	"encoding/binary"
	"testing"

	"github.com/reshelve/reshelve/reconcile"
)

// TestTheLengthOfTheBinaryForm: what is written down fits into one request of clusters that
// take no more than 10 MiB, in base64, in every pass.
func TestTheLengthOfTheBinaryForm(t *testing.T) {
	const documents = 400_000
	r := reconcile.NewRun("books", 1<<40, reconcile.Bounds{Documents: 250_000, Looks: 1, Examples: 10})
	var longest int
	for len(r.Sides()) > 0 {
		for _, side := range r.Sides() {
			p := r.Part(side)
			for n := range uint64(documents) {
				e := reconcile.Entry{Version: 1 << 40, Shard: int(n % 50), Number: int64(n * 5000), ID: []byte("books/0/12345678")}
				e.Key = (n + 1) * 0x9e3779b97f4a7c15
				binary.BigEndian.PutUint64(e.Content[:], e.Key^uint64(side)) // all differs
				if side == reconcile.Expected && p.Wants(e.Key) {
					p.Add(e)
				}
			}
			if err := r.Take(p); err != nil {
				t.Fatal(err)
			}
			data, err := r.AppendBinary(nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("pass %d side %d: %d bytes", r.Pass(), side, len(data))
			longest = max(longest, len(data))
			r.Whole(side)
		}
	}
	if r.Report.Counts[reconcile.Missing] < 249_000 {
		t.Errorf("%s", r.Report)
	}
	if longest > 7<<20 {
		t.Errorf("it is %d bytes long", longest)
	}
}
