package snapshot_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/reshelve/reshelve/snapshot/blob/memory"
)

// TestDamageOfPlainMetadataIsNeverSilent damages the metadata of the repository whose documents are read by the version
// in them: the files of 1.x have no checksum, so each bit is flipped, and each run of up to longestRun bytes is dropped
// and duplicated. Each damage is refused, or the documents are the right ones.
func TestDamageOfPlainMetadataIsNeverSilent(t *testing.T) {
	const longestRun = 64 // as in TestDamageIsNeverSilent
	runs := longestRun
	if testing.Short() {
		runs = 4
	}
	v := newVictim(t, repository{"elasticsearch-1.7.6-unquoted", "../testdata/repositories/elasticsearch-1.7.6-unquoted"})
	refused, unharmed := 0, 0
	try := func(key, what string, data []byte) {
		blobs := maps.Clone(memory.Bucket(v.blobs))
		blobs[key] = data
		got := read(t.Context(), blobs)
		if err := v.judge(got); err != nil {
			t.Errorf("%s: %s: %v", key, what, err)
		}
		if got.err != nil {
			refused++
		} else {
			unharmed++
		}
	}
	for _, key := range []string{"index", "snapshot-only", "indices/names/snapshot-only"} {
		old := v.blobs[key]
		for at := range old {
			for bit := range 8 {
				data := slices.Clone(old)
				data[at] ^= 1 << bit
				try(key, fmt.Sprintf("flip bit %d of byte %d", bit, at), data)
			}
			for end := at + 1; end <= min(at+runs, len(old)); end++ {
				try(key, fmt.Sprintf("drop [%d, %d)", at, end), slices.Concat(old[:at], old[end:]))
				try(key, fmt.Sprintf("duplicate [%d, %d)", at, end), slices.Concat(old[:end], old[at:end], old[end:]))
			}
		}
	}
	t.Logf("reading refused %d, and gave the right documents in %d", refused, unharmed)
}
