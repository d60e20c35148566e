package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

func TestAnErrorTellsPlaceCauseAndNextAction(t *testing.T) {
	err := fault.New(fault.Corrupt, "footer checksum %08x, computed %08x", 1, 2)
	err = fault.At(err, "file _0.fdt", "offset 77")
	err = fault.WithNext(err, "restore the file from another copy")
	err = fault.At(err, "segment _0")
	err = fault.WithNext(err, "this outer advice knows less and is dropped")

	if got, want := err.Error(), "segment _0: file _0.fdt: offset 77: footer checksum 00000001, computed 00000002"; got != want {
		t.Errorf("text:\n got %s\nwant %s", got, want)
	}
	if got := fault.Next(err); got != "restore the file from another copy" {
		t.Errorf("next action: %q", got)
	}
	if !fault.Is(err, fault.Corrupt) {
		t.Errorf("kind: %v", fault.KindOf(err))
	}
}

// TestANextActionIsReworded, wherever in the chain it is; where there is none, none is made.
func TestANextActionIsReworded(t *testing.T) {
	full := func(next string) string { return next + " NAME" }
	inner := fault.WithNext(fault.New(fault.Refused, "no"), "drop")
	for _, err := range []error{inner, fmt.Errorf("while: %w", inner), errors.Join(inner, io.EOF)} {
		got := fault.Reword(err, full)
		if fault.Next(got) != "drop NAME" || got.Error() != err.Error() || !fault.Is(got, fault.Refused) || fault.Next(err) != "drop" {
			t.Errorf("%v: %v → %s", err, got, fault.Next(got))
		}
	}
	if got := fault.Next(fault.Reword(io.EOF, full)); got != "" || fault.Reword(nil, full) != nil {
		t.Errorf("nothing became %q", got)
	}
}

func TestTheKindSurvivesWrapping(t *testing.T) {
	refused := fault.New(fault.Refused, "cannot read: %w", io.ErrUnexpectedEOF)
	for _, tc := range []struct {
		name string
		err  error
		want fault.Kind
	}{
		{"plain", refused, fault.Refused},
		{"wrapped by fmt", fmt.Errorf("while opening: %w", refused), fault.Refused},
		{"placed after fmt", fault.At(fmt.Errorf("while opening: %w", refused), "shard 0"), fault.Refused},
		{"reclassified", fault.Wrap(fault.Corrupt, refused), fault.Corrupt},
		{"nobody's", io.EOF, fault.Bug},
		{"cancelled", fmt.Errorf("reading: %w", context.Canceled), fault.Interrupted},
		{"too late", context.DeadlineExceeded, fault.Unavailable},
		{"placed cancel", fault.At(context.Canceled, "shard 0"), fault.Interrupted},
	} {
		if got := fault.KindOf(tc.err); got != tc.want {
			t.Errorf("%s: kind %v, want %v", tc.name, got, tc.want)
		}
	}
	if !errors.Is(refused, io.ErrUnexpectedEOF) {
		t.Error("the cause is lost")
	}
	if fault.At(nil, "x") != nil || fault.Wrap(fault.Bug, nil) != nil || fault.WithNext(nil, "x") != nil {
		t.Error("no error became one")
	}
}

func TestTheTableIsCompleteAndStable(t *testing.T) {
	exits := map[int]bool{}
	for i, m := range fault.Kinds {
		if int(m.Kind) != i {
			t.Errorf("row %d is kind %d", i, m.Kind)
		}
		exits[m.Exit] = true
	}
	for _, code := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 130} {
		if !exits[code] {
			t.Errorf("no kind exits with %d", code)
		}
	}
	if fault.Kind(999).ExitCode() != 1 {
		t.Error("an unknown kind is not a bug")
	}
}
