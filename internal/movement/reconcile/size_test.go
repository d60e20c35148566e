package reconcile_test

import (
	"encoding/binary"
	"testing"

	"github.com/reshelve/reshelve/internal/movement/reconcile"
)

// TestTheLengthOfTheBinaryForm: what is written down fits into one request of clusters that
// take no more than 10 MiB, in base64, in every pass.
func TestTheLengthOfTheBinaryForm(t *testing.T) {
	for _, found := range []bool{false, true} { // nothing; or all, and all differs
		longest, r := lengthOf(t, found)
		if c := r.Report.Counts; !found && c[reconcile.Missing] < 249_000 || found && c[reconcile.Different] < 124_000 {
			t.Errorf("%s", r.Report)
		}
		if longest > 7<<20 {
			t.Errorf("found %v: it is %d bytes long", found, longest)
		}
	}
}

func lengthOf(t *testing.T, found bool) (longest int, r *reconcile.Run) {
	t.Helper()
	const documents = 400_000
	r = reconcile.NewRun("books", 1<<40, reconcile.Bounds{Documents: 250_000, Looks: 1, Examples: 10})
	for len(r.Sides()) > 0 {
		for _, side := range r.Sides() {
			p := r.Part(side)
			for n := range uint64(documents) {
				e := reconcile.Entry{Version: 1 << 40, Shard: int(n % 50), Number: int64(n * 5000), ID: []byte("books/0/12345678")}
				e.Key = (n + 1) * 0x9e3779b97f4a7c15
				binary.BigEndian.PutUint64(e.Content[:], e.Key^uint64(side)) // all differs
				if (side == reconcile.Expected || found) && p.Wants(e.Key) {
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
	return longest, r
}
