package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// templateFlags are those that choose templates.
func templateFlags(flags *pflag.FlagSet, req *control.TemplateRequest) {
	flags.StringArrayVar(&req.Composable, "templates", nil, "only composable templates whose name matches this `PATTERN`; may be repeated")
	flags.StringArrayVar(&req.Components, "component-templates", nil, "only component templates whose name matches this `PATTERN`; may be repeated")
	flags.StringArrayVar(&req.Legacy, "legacy-templates", nil, "only legacy templates whose name matches this `PATTERN`; may be repeated")
	flags.BoolVar(&req.None, "no-templates", false, "make no templates")
}

// planned prints the plan of what is about to start, for people.
func (p *program) planned(preview *control.Preview) {
	if p.output == "text" && !p.quiet {
		printPreview(p.stdout, preview)
	}
}

// metadataFlags are those that say how indices are made.
func metadataFlags(cmd *cobra.Command, req *control.MigrateRequest) {
	flags := cmd.Flags()
	templateFlags(flags, &req.Templates)
	flags.Var((*mappingTypes)(&req.Metadata.Types), "types", "what becomes of an index of several mapping types: `split|merge|refuse`: one index for each, NAME-TYPE; one with the fields of all, where one document of each id stays (the plan counts the ids that they have in common); or the plan is refused (default refuse)")
	complete(cmd, "types", "split", "merge", "refuse")
	flags.Var((*dataStreams)(&req.Metadata.Streams), "data-streams", "what becomes of data streams: `as-indices|append`: each backing index an index of its own name; or data streams, to which documents are appended without routing and versions (default as-indices)")
	complete(cmd, "data-streams", "as-indices", "append")
	flags.IntVar(&req.Metadata.Shards, "shards", 0, "how many shards each index has that is made; 0: as many as it had")
	flags.BoolVar(&req.Metadata.ReduceReplicas, "reduce-replicas", false, "indices that are made have no replicas until they are filled")
	flags.BoolVar(&req.Metadata.ReduceRefresh, "reduce-refresh", false, "indices that are made are not refreshed until they are filled")
	flags.Var((*settings)(&req.Metadata.Set), "set", "a setting of indices that are created, in the place of the snapshot's: `INDEX:SETTING=VALUE`; INDEX is a name on the target, or a pattern; null removes it; may be repeated, and the last one that fits counts")
	flags.Var((*mappings)(&req.Metadata.Mappings), "mapping", "the mapping of indices that are created, in the place of the snapshot's, read from a file of JSON or YAML: `INDEX=FILE`; INDEX as for --set; may be repeated")
	flags.BoolVar(&req.Metadata.NoAliases, "no-aliases", false, "make no aliases")
}

// mappingTypes is the value of --types.
type mappingTypes string

func (m *mappingTypes) String() string { return string(*m) }

// Type is what pflag calls it.
func (m *mappingTypes) Type() string { return "split|merge|refuse" }

// Set takes one of the words.
func (m *mappingTypes) Set(text string) error {
	switch text {
	case "split", "merge":
		*m = mappingTypes(text)
	case "refuse":
		*m = ""
	default:
		return fmt.Errorf("%q is none of split, merge and refuse", text)
	}
	return nil
}

// dataStreams is the value of --data-streams.
type dataStreams string

func (d *dataStreams) String() string { return string(*d) }

// Type is what pflag calls it.
func (d *dataStreams) Type() string { return "as-indices|append" }

// Set takes one of the words.
func (d *dataStreams) Set(text string) error {
	switch text {
	case "append":
		*d = dataStreams(text)
	case "as-indices":
		*d = ""
	default:
		return fmt.Errorf("%q is none of as-indices and append", text)
	}
	return nil
}

func printPreview(w io.Writer, preview *control.Preview) {
	plan := preview.Plan
	what := "snapshot " + plan.Snapshot
	if plan.Take != nil && plan.Snapshot == "" {
		what = fmt.Sprintf("a snapshot that %s takes first, into %s", plan.Take.Cluster, plan.Repository)
	}
	fmt.Fprintf(w, "%s, of server %s, into %s\n", oneLine(what), oneLine(plan.Version), oneLine(plan.Target))
	t := newTable("INDEX", "TARGET", ">SHARDS", ">DOCUMENTS", ">SOURCE BYTES", ">FILE BYTES", "ON THE TARGET")
	changes := false
	for i, index := range plan.Indices {
		changes = changes || index.Since != nil
		there := "is created"
		if preview.Indices[i].There {
			there = fmt.Sprintf("is there, holds %s", counted(preview.Indices[i].Holds, "document"))
		}
		if index.Since != nil {
			there += ": changes since snapshot " + index.Since.Snapshot
		}
		if preview.Indices[i].Stream != "" {
			there = "is appended to the data stream"
		}
		target := index.Target
		if several := preview.Indices[i].Targets; len(several) > 0 {
			target = strings.Join(several, ", ")
		}
		t.row(index.Source, target, fmt.Sprint(index.Shards), count(index.Documents), sourceBytes(preview, index.Bytes), bytesText(index.Stored), there)
	}
	t.print(w)
	for _, gone := range plan.Gone {
		fmt.Fprintf(w, "%s: the snapshot does not hold it any more; what the target has of it stays\n", oneLine(gone))
	}
	if len(preview.Private) > 0 {
		fmt.Fprintf(w, "left out, because only --index with a dot in front names them: %s\n", oneLine(strings.Join(preview.Private, ", ")))
	}
	printTemplates(w, preview)
	for _, index := range preview.Indices {
		printChanges(w, index.Index, index.Changes)
		printApplied(w, &index)
	}
	for _, template := range preview.Templates {
		printChanges(w, string(template.Kind)+" "+template.Name, template.Changes)
	}
	for _, unknown := range preview.Unknown {
		fmt.Fprintf(w, "not known before the snapshot is taken: %s\n", oneLine(unknown))
	}
	if len(preview.Checks) == 0 { // the snapshot is to be taken: what it holds is checked then
		printCheck(w, &control.Check{Name: "indices", Passed: len(preview.Problems) == 0, Problems: preview.Problems})
		return
	}
	printCost(w, &preview.Cost, changes)
	for _, check := range preview.Checks {
		printCheck(w, &check)
	}
}

// sourceBytes is how large the sources of documents are, as far as a plan says.
func sourceBytes(preview *control.Preview, n int64) string {
	if plan := preview.Plan; plan.Take != nil && plan.Snapshot == "" {
		return "not known"
	}
	return bytesText(n)
}

// printCost prints what the copy takes. Where only changes are copied, the figures are of all documents, which is the most.
func printCost(w io.Writer, c *control.Cost, changes bool) {
	about := "about "
	if c.Exact {
		about = ""
	}
	if changes {
		about = "the changes, at most " + about
	}
	fmt.Fprintf(w, "to copy: %s%s with %s of sources, in %s and about %s\n", about, counted(c.Documents, "document"), bytesText(c.SourceBytes),
		counted(int64(c.Items), "item"), counted(c.Requests, "request"))
	switch {
	case c.Seconds > 0:
		fmt.Fprintf(w, "about %s, at the %s/s of sources of movement %s\n", spanText(time.Duration(c.Seconds*float64(time.Second))), bytesText(int64(c.Rate)), c.Like)
	case changes:
		fmt.Fprintln(w, "the time left is shown while it runs: the number of changes is not known yet")
	default:
		fmt.Fprintln(w, "the time left is shown while it runs: no earlier movement has measured a rate")
	}
}

func printCheck(w io.Writer, c *control.Check) {
	found := ""
	if c.Found != "" {
		found = ": " + oneLine(c.Found)
	}
	if c.Passed {
		fmt.Fprintf(w, "passed  %s%s\n", c.Name, found)
	}
	for _, warning := range c.Warnings {
		fmt.Fprintf(w, "warned  %s: %s\n  → %s\n", c.Name, oneLine(warning.Message), oneLine(orDash(warning.Next)))
	}
	for _, problem := range c.Problems {
		fmt.Fprintf(w, "FAILED  %s: %s\n  → %s\n", c.Name, oneLine(problem.Message), oneLine(orDash(problem.Next)))
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

// printChanges prints each change once: an index that becomes several may have it several times.
func printChanges(w io.Writer, of string, changes []control.Change) {
	told := map[control.Change]bool{}
	for _, c := range changes {
		if told[c] {
			continue
		}
		told[c] = true
		loses := ""
		if c.Loses {
			loses = " (meaning is lost)"
		}
		fmt.Fprintf(w, "%s: %s: %s [%s]%s\n", oneLine(of), oneLine(c.Where), oneLine(c.What), c.Rule, loses)
	}
}

// printCollapsed tells what merging mapping types has left out. Where a transformation drops documents too, nothing tells them apart.
func printCollapsed(w io.Writer, p *control.Copying) {
	for _, i := range p.Indices {
		if n := i.Copied.Dropped; n > 0 && len(p.Steps) == 0 {
			fmt.Fprintf(w, "%s: %s given way to another one of the same id\n", oneLine(i.Source), have(n, "document"))
		}
	}
}
