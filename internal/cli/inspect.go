package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/spf13/cobra"
)

// mostDetailed is up to how many indices inspect prints settings, aliases and
// mappings for people who did not choose some by --index.
const mostDetailed = 10

func (p *program) inspect() *cobra.Command {
	var sel control.Selection
	cmd := &cobra.Command{
		Use:   "inspect REPO [SNAPSHOT] [flags]",
		Short: "Tell what a snapshot holds: indices, shards, segments, mappings, settings",
		Long: `Tell what a snapshot holds, in whatever state it is, without reading a document.

Documents and deleted ones are counted as the servers list them: by Lucene
document, nested ones included. A shard that is damaged or not supported is
named as such, and the exit code says so.`,
		Example: `  reshelve snapshot inspect /backups/repository
  reshelve snapshot inspect /backups/repository nightly-7 --index 'logs-*' --output json | jq '.indices[].mappings'`,
	}
	selectionFlags(cmd, &sel)
	return p.targeted(cmd, &sel, func(ctx context.Context) error {
		req := control.InspectRequest{Repository: sel.Repository, Snapshot: sel.Snapshot, Indices: sel.Indices}
		found, err := p.control.Inspect(ctx, req)
		if found == nil {
			return err
		}
		detailed := len(sel.Indices) > 0 || len(found.Indices) <= mostDetailed
		err = p.answerWith(err, found, func(w io.Writer) { printInspection(w, found, detailed) })
		p.tellProblems(found.Problems, err)
		return err
	})
}

func printInspection(w io.Writer, found *control.Inspection, detailed bool) {
	printSnapshot(w, found.Snapshot, len(found.Snapshots))
	if len(found.Indices) > 0 {
		fmt.Fprintln(w)
		printIndices(w, found.Indices)
		fmt.Fprintln(w)
		printShards(w, found.Indices)
	}
	if detailed {
		for _, x := range found.Indices {
			printDetails(w, x)
		}
	} else {
		fmt.Fprintln(w, "\nsettings, aliases and mappings: choose indices with --index")
	}
	if found.Global != nil {
		printGlobal(w, found.Global)
	}
}

func printSnapshot(w io.Writer, s control.Snapshot, all int) {
	fmt.Fprintf(w, "snapshot %s, one of %d in the repository\n", oneLine(s.Name), all)
	t := &table{}
	t.row("  uuid", s.UUID)
	t.row("  state", s.State)
	if s.Reason != "" {
		t.row("  reason", s.Reason)
	}
	t.row("  server", orDash(s.Version))
	t.row("  started", timeText(s.Start))
	t.row("  took", tookText(s))
	t.row("  shards", shardsText(s.Shards)+" successful")
	if len(s.DataStreams) > 0 {
		t.row("  data streams", strings.Join(s.DataStreams, ", "))
	}
	t.print(w)
}

func printIndices(w io.Writer, indices []control.Index) {
	t := newTable("INDEX", ">DOCUMENTS", ">DELETED", ">BYTES", ">SHARDS", "CREATED", "LUCENE", "CODEC", "STORED FIELDS")
	for _, x := range indices {
		if x.Problem != nil {
			t.row(x.Name, "-", "-", "-", "-", x.Problem.Message)
			continue
		}
		t.row(x.Name, count(x.Documents), count(x.Deleted), bytesText(x.Bytes), count(int64(len(x.Shards))),
			orDash(x.Created), orDash(strings.Join(x.Lucene, " ")), orDash(strings.Join(x.Codecs, " ")), orDash(strings.Join(x.StoredFields, " ")))
	}
	t.print(w)
	for _, x := range indices {
		if x.Nested {
			fmt.Fprintf(w, "%s has nested fields: documents counts their Lucene documents too\n", oneLine(x.Name))
		}
	}
}

func printShards(w io.Writer, indices []control.Index) {
	t := newTable("SHARD", "STATE", ">DOCUMENTS", ">DELETED", ">BYTES", ">FILES", ">SEGMENTS", "PATH")
	for _, x := range indices {
		for _, sh := range x.Shards {
			name := fmt.Sprintf("%s/%d", x.Name, sh.Number)
			if sh.Problem != nil {
				t.row(name, sh.State, "-", "-", "-", "-", "-", sh.Problem.Message)
				continue
			}
			t.row(name, sh.State, count(sh.Documents), count(sh.Deleted), bytesText(sh.Bytes), count(int64(sh.Files)), count(int64(len(sh.Segments))), sh.Path)
		}
	}
	t.print(w)
}

// printDetails prints what an index was made with.
func printDetails(w io.Writer, x control.Index) {
	if x.Problem != nil {
		return
	}
	state := "open"
	if !x.Open {
		state = "closed"
	}
	fmt.Fprintf(w, "\nindex %s, %s, in indices/%s\n", oneLine(x.Name), state, oneLine(x.ID))
	for _, name := range slices.Sorted(maps.Keys(x.Settings)) {
		fmt.Fprintf(w, "  %s = %s\n", oneLine(name), oneLine(x.Settings[name]))
	}
	printJSON(w, "aliases", x.Aliases)
	printJSON(w, "mappings", x.Mappings)
}

func printGlobal(w io.Writer, g *control.Global) {
	var parts strings.Builder
	printJSON(&parts, "data streams", g.DataStreams)
	printJSON(&parts, "data stream aliases", g.DataStreamAliases)
	printJSON(&parts, "templates", g.Templates)
	printJSON(&parts, "composable templates", g.ComposableTemplates)
	printJSON(&parts, "component templates", g.ComponentTemplates)
	printJSON(&parts, "settings", g.Settings)
	printJSON(&parts, "ingest", g.Ingest)
	if parts.Len() > 0 {
		fmt.Fprintf(w, "\nglobal state\n%s", parts.String())
	}
}

// printJSON prints a JSON object member by member, one a line; nothing when it
// is empty.
func printJSON(w io.Writer, title string, data json.RawMessage) {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil || len(members) == 0 {
		return
	}
	fmt.Fprintf(w, "  %s\n", title)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		fmt.Fprintf(w, "    %s %s\n", oneLine(name), oneLine(string(members[name])))
	}
}
