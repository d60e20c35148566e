package proof

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// ends runs the binary to its end, and gives its exit code and what it has printed.
func ends(t *testing.T, args ...string) (code int, out, wrong string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary(t), args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("reshelve %s: %v %v: %s", strings.Join(args, " "), err, ctx.Err(), stderr.Bytes())
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// endsWith runs the binary, which must end with the code, and gives its standard output.
func endsWith(t *testing.T, want int, args ...string) []byte {
	t.Helper()
	code, out, wrong := ends(t, args...)
	if code != want {
		t.Fatalf("reshelve %s: exit code %d, not %d\n%s%s", strings.Join(args, " "), code, want, wrong, out)
	}
	return []byte(out)
}

// runs runs the binary, which must succeed, and gives its standard output.
func runs(t *testing.T, args ...string) []byte {
	t.Helper()
	return endsWith(t, 0, args...)
}
