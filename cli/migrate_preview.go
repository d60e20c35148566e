package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/reshelve/reshelve/control"
	"github.com/spf13/pflag"
)

// templateFlags are those that choose templates.
func templateFlags(flags *pflag.FlagSet, req *control.TemplateRequest) {
	flags.StringArrayVar(&req.Composable, "templates", nil, "only composable templates whose name fits this `PATTERN`; may be repeated")
	flags.StringArrayVar(&req.Components, "component-templates", nil, "only component templates whose name fits this `PATTERN`; may be repeated")
	flags.StringArrayVar(&req.Legacy, "legacy-templates", nil, "only legacy templates whose name fits this `PATTERN`; may be repeated")
	flags.BoolVar(&req.None, "no-templates", false, "make no templates")
}

func printPreview(w io.Writer, preview *control.Preview) {
	plan := preview.Plan
	fmt.Fprintf(w, "snapshot %s, of server %s, into %s\n", oneLine(plan.Snapshot), oneLine(plan.Version), oneLine(plan.Target))
	t := newTable("INDEX", "TARGET", ">SHARDS", ">DOCUMENTS", ">BYTES", "ON THE TARGET")
	for i, index := range plan.Indices {
		there := "is created"
		if preview.Indices[i].There {
			there = fmt.Sprintf("is there, holds %s", counted(preview.Indices[i].Holds, "document"))
		}
		t.row(index.Source, index.Target, fmt.Sprint(index.Shards), count(index.Documents), bytesText(index.Bytes), there)
	}
	t.print(w)
	printTemplates(w, preview)
	for _, index := range preview.Indices {
		printChanges(w, index.Index, index.Changes)
	}
	for _, template := range preview.Templates {
		printChanges(w, string(template.Kind)+" "+template.Name, template.Changes)
	}
	for _, problem := range preview.Problems {
		fmt.Fprintf(w, "it cannot start: %s\n  → %s\n", oneLine(problem.Message), oneLine(problem.Next))
	}
}

func printTemplates(w io.Writer, preview *control.Preview) {
	if len(preview.Templates) > 0 {
		t := newTable("TEMPLATE", "KIND", "ON THE TARGET")
		for _, template := range preview.Templates {
			there := "is created"
			if template.There {
				there = "is there, and left as it is"
			}
			t.row(template.Name, string(template.Kind), there)
		}
		t.print(w)
	}
	if len(preview.Pipelines) > 0 {
		fmt.Fprintf(w, "ingest pipelines are not moved: %s\n", oneLine(strings.Join(preview.Pipelines, ", ")))
	}
}

func printChanges(w io.Writer, of string, changes []control.Change) {
	for _, c := range changes {
		loses := ""
		if c.Loses {
			loses = " (meaning is lost)"
		}
		fmt.Fprintf(w, "%s: %s: %s [%s]%s\n", oneLine(of), oneLine(c.Where), oneLine(c.What), c.Rule, loses)
	}
}
