package cli_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/reshelve/reshelve/internal/cli"
)

func TestAnInterruptBeforeTheFirstLineIsNoFailure(t *testing.T) {
	const repository = "../../testdata/repositories/opensearch-2.11.0-zstd/repo"
	for _, verb := range []string{"ls", "inspect", "cat", "verify", "estimate"} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var stdout, stderr bytes.Buffer
		code := cli.Run(ctx, opened, []string{"snapshot", verb, repository}, &stdout, &stderr)
		if code != 130 || stderr.String() != "interrupted\n" || verb == "cat" && stdout.Len() > 0 {
			t.Errorf("%s: exit code %d, %q, %q", verb, code, stdout.String(), stderr.String())
		}
		if bytes.Contains(stdout.Bytes(), []byte("as it should be")) {
			t.Errorf("%s promises %q", verb, stdout.String())
		}
	}
}

func TestAMessageStaysOnItsLine(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := cli.Run(t.Context(), opened, []string{"snapshot", "ls", "no\nsuch\x1b[31mfolder"}, &stdout, &stderr)
	if code != 3 || bytes.ContainsAny(stderr.Bytes(), "\x1b") || bytes.Count(stderr.Bytes(), []byte("\n")) > 2 {
		t.Errorf("exit code %d, %q", code, stderr.String())
	}
}
