package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/reshelve/reshelve/internal/control"
)

// printApplied prints which templates of the target apply to the indices that are created, and what they add.
func printApplied(w io.Writer, index *control.PreviewIndex) {
	for _, a := range index.Applied {
		for _, t := range a.Templates {
			rank := "priority"
			if t.Kind == "legacy-template" {
				rank = "order"
			}
			parts := ""
			if len(t.Components) > 0 {
				parts = ", of " + strings.Join(t.Components, ", ")
			}
			fmt.Fprintf(w, "%s: %s %s applies, %s %d%s\n", oneLine(a.Index), t.Kind, oneLine(t.Name), rank, t.Priority, oneLine(parts))
		}
		for _, add := range a.Adds {
			when := ""
			if index.Stream == "" && (strings.HasPrefix(add.Where, "aliases.") || add.Where == "settings.index.final_pipeline") {
				when = " (from the switch on)"
			}
			fmt.Fprintf(w, "%s: %s: %s [template %s]%s\n", oneLine(a.Index), oneLine(add.Where), oneLine(add.What), oneLine(add.Template), when)
		}
	}
}
