package cli

import (
	"strings"
	"testing"

	"github.com/reshelve/reshelve/control"
)

func TestFilesWithoutAChecksumAreCounted(t *testing.T) {
	for unchecked, want := range map[int]string{
		0: "",
		1: "1 file has no checksum: Lucene before 4.8 wrote none\n",
		3: "3 files have no checksum: Lucene before 4.8 wrote none\n",
	} {
		var page strings.Builder
		printVerification(&page, &control.Verification{Files: 7, Unchecked: unchecked})
		if _, got, _ := strings.Cut(strings.TrimSuffix(page.String(), "everything is as it should be\n"), "\n"); got != want {
			t.Errorf("%d files: %q, want %q", unchecked, got, want)
		}
	}
}
