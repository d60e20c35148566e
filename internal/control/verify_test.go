package control

import (
	"context"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/folder"
)

func TestOnlyAVerificationThatEndedIsComplete(t *testing.T) {
	ctl := New(Wiring{Blobs: map[string]blob.Opener{"file": folder.Open}})
	sel := Selection{Repository: "../../testdata/repositories/opensearch-2.11.0-zstd/repo"}
	done, err := ctl.Verify(t.Context(), sel, nil)
	if err != nil || !done.Complete {
		t.Fatalf("%+v, %v", done, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	part, err := ctl.Verify(ctx, sel, func(Verification, float64) { cancel() })
	if !fault.Is(err, fault.Interrupted) || part == nil || part.Complete || part.Files == 0 || part.Files >= done.Files || len(part.Problems) > 0 {
		t.Errorf("interrupted: %+v of %+v, %v", part, done, err)
	}
}
