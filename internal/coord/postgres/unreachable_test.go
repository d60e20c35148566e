package postgres_test

import (
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/coord/postgres"
	"github.com/reshelve/reshelve/internal/fault"
)

// TestAServerThatIsNotThere: the driver tells each attempt in a line of its own, with tabs; here
// each reason stands once, in one line, with what to do.
func TestAServerThatIsNotThere(t *testing.T) {
	_, err := postgres.Open(t.Context(), "postgres://nobody@127.0.0.1:1/search", postgres.Options{})
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(fault.Next(err), "postgres://") {
		t.Fatalf("%v → %s", err, fault.Next(err))
	}
	if text := err.Error(); strings.ContainsAny(text, "\n\t") || strings.Count(text, "connection refused") != 1 {
		t.Errorf("%q", text)
	}
}
