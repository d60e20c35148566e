package cli

import (
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/control"
)

func TestFilesWithoutAChecksumAreCounted(t *testing.T) {
	for unchecked, want := range map[int]string{
		0: "",
		1: "1 file has no checksum: Lucene before 4.8 wrote none\n",
		3: "3 files have no checksum: Lucene before 4.8 wrote none\n",
	} {
		var page strings.Builder
		printVerification(&page, &control.Verification{Complete: true, Files: 7, Unchecked: unchecked})
		if _, got, _ := strings.Cut(strings.TrimSuffix(page.String(), "everything is as it should be\n"), "\n"); got != want {
			t.Errorf("%d files: %q, want %q", unchecked, got, want)
		}
	}
}

func TestAVerificationPromisesOnlyWhatItSaw(t *testing.T) {
	one := []control.Problem{{Kind: "damaged"}}
	for _, c := range []struct {
		v    control.Verification
		want string
	}{
		{control.Verification{Complete: true}, "everything is as it should be\n"},
		{control.Verification{Complete: true, Absent: one}, "what is there is as it should be\n"},
		{control.Verification{Complete: true, Problems: one}, ""},
		{control.Verification{Files: 3}, "not finished: 3 files checked, no damage found so far\n"},
		{control.Verification{Files: 1, Absent: one}, "not finished: 1 file checked, no damage found so far\n"},
		{control.Verification{Files: 1, Problems: one}, "not finished: 1 file checked, 1 problem found so far\n"},
	} {
		if got := conclusion(&c.v); got != c.want {
			t.Errorf("%+v: %q, want %q", c.v, got, c.want)
		}
	}
}
