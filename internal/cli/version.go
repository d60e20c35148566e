package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// build tells which build this is; its JSON is the answer of version.
type build struct {
	Version  string `json:"version"`            // of the module; (devel) when built from a checkout
	Revision string `json:"revision,omitempty"` // commit it was built from
	Modified bool   `json:"modified"`           // the checkout had changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (p *program) version() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Tell which version this is",
		Example: "  reshelve version --output json",
		Args:    cobra.NoArgs,
		RunE: p.verb(func(context.Context, []string) error {
			b := thisBuild()
			return p.answer(b, func(w io.Writer) { printBuild(w, b) })
		}),
	}
}

func thisBuild() build {
	b := build{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func printBuild(w io.Writer, b build) {
	fmt.Fprintf(w, "reshelve %s", b.Version)
	if b.Revision != "" {
		fmt.Fprintf(w, " %.12s", b.Revision)
	}
	if b.Modified {
		fmt.Fprint(w, " with changes")
	}
	fmt.Fprintf(w, " (%s %s)\n", b.Go, b.Platform)
}
