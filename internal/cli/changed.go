package cli

import (
	"fmt"
	"io"

	"github.com/reshelve/reshelve/internal/control"
)

// printChanged prints what a delta has met, index by index.
func printChanged(w io.Writer, m *control.Movement) {
	for _, i := range m.Progress.Indices {
		c := i.Changed
		if i.Since == nil || c == nil {
			continue
		}
		fmt.Fprintf(w, "%s: since snapshot %s: skipped %s with %s and %s; %s compared, %s unchanged, %s sent, %s deleted\n", oneLine(i.Source), oneLine(i.Since.Snapshot),
			counted(int64(c.SegmentsSkipped), "segment")+fmt.Sprintf(" of %d", c.Segments), counted(c.DocumentsSkipped, "document"), bytesText(c.BytesSkipped),
			count(c.Compared), count(c.Unchanged), count(i.Copied.Read), count(c.Deleted))
		if c.Kept > 0 {
			fmt.Fprintf(w, "%s: %s been deleted in the source, and changed on the target by others: they stay\n", oneLine(i.Source), have(c.Kept, "document"))
		}
		for _, o := range c.Others {
			fmt.Fprintf(w, "%s: document %q: %s\n", oneLine(i.Source), o.ID, othersText(o.What))
		}
	}
}

// othersText says what another client has done to a document of the target, and what became of it; what is a
// migrate.Other's.
func othersText(what string) string {
	switch what {
	case "changed_by_others":
		return "another client has changed it on the target; it stays as it is"
	case "deleted_by_others":
		return "another client has deleted it on the target; it stays deleted"
	case "not_compared":
		return "it differs, and whether another client has changed it is not known; it stays as it is until a repair compares it"
	case "perhaps_replaced":
		return "the movement created it again, and the answer was lost: if another client had created it at that moment, it was replaced"
	case "replaced":
		return "another client created it on the target at the moment in which the movement created it again; it was replaced"
	}
	return "another client has written it on the target (" + oneLine(what) + ")"
}
