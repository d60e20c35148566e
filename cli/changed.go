package cli

import (
	"fmt"
	"io"

	"github.com/reshelve/reshelve/control"
)

// printChanged tells what a delta has met, index by index.
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
			fmt.Fprintf(w, "%s: %s been deleted in the source, and changed on the target by others: left as they are\n", oneLine(i.Source), have(c.Kept, "document"))
		}
		for _, o := range c.Others {
			fmt.Fprintf(w, "%s: document %q: %s\n", oneLine(i.Source), o.ID, othersText[o.What])
		}
	}
}

// othersText is what others have done to a document of the target, and what became of it.
var othersText = map[string]string{
	"changed_by_others": "changed on the target by others, left as it is",
	"deleted_by_others": "deleted on the target by others, left so",
	"perhaps_replaced":  "brought again, and the answer was lost that would have told whether others had created it in that moment, and it was replaced",
	"replaced":          "created on the target by others in the moment in which it was brought again, and replaced",
}
