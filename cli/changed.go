package cli

import (
	"fmt"
	"io"

	"github.com/reshelve/reshelve/control"
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
			fmt.Fprintf(w, "%s: document %q: %s\n", oneLine(i.Source), o.ID, othersText[o.What])
		}
	}
}

// othersText is what another client has done to a document of the target, and what became of it.
var othersText = map[string]string{
	"changed_by_others": "another client has changed it on the target; it stays as it is",
	"deleted_by_others": "another client has deleted it on the target; it stays deleted",
	"perhaps_replaced":  "the movement created it again, and the answer was lost: if another client had created it at that moment, it was replaced",
	"replaced":          "another client created it on the target at the moment in which the movement created it again; it was replaced",
}
