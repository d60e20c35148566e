package cli

import (
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/spf13/cobra"
)

// TestAPlaceThatNobodyNamed: who has not written --at is told of it, where nothing answers.
func TestAPlaceThatNobodyNamed(t *testing.T) {
	silent := fault.WithNext(fault.New(fault.Unavailable, "nothing answers"), "start a store")
	for _, c := range []struct {
		args []string
		err  error
		next string
	}{
		{nil, silent, "name the place with --at, a URL or a folder: without it http://HERE is meant"},
		{[]string{"--at", "http://THERE"}, silent, "start a store"},
		{nil, fault.New(fault.NotFound, "no such movement"), ""},
	} {
		cmd := &cobra.Command{}
		cmd.Flags().String("at", "http://HERE", "")
		if err := cmd.ParseFlags(c.args); err != nil {
			t.Fatal(err)
		}
		err := atDefault(cmd, c.err)
		if fault.Next(err) != c.next || fault.KindOf(err) != fault.KindOf(c.err) || !strings.Contains(err.Error(), c.err.Error()) {
			t.Errorf("%v: %v → %s", c.args, err, fault.Next(err))
		}
	}
}
