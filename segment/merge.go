package segment

import (
	"context"
	"io"
)

// Merge writes the segment of what the views show, in their order, and of their docs.
// A field that has different Specs gets what all have. It reads each input from front to
// back, and keeps in memory what grows with the terms of one field and with four bytes a
// doc. The error is ctx's when that ends.
func Merge(ctx context.Context, to io.Writer, views []View) error { panic("segment: not built yet") }

// Moved is the doc that a shown doc of the i-th of the views has become by Merge.
func Moved(views []View, i int, doc Doc) Doc { panic("segment: not built yet") }
