package gateway

import (
	"net/http"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/store"
)

// rowsPage is from how many bytes on a page of rows is whole, where none are asked for.
const rowsPage = 1 << 20

// rows answers with a page of rows of a point in time; see document.Row.
func (c *call) rows() error {
	keep, err := c.duration("keep_alive", 0)
	if err != nil {
		return err
	}
	if most := c.s.store.SearchRules().KeepPoint; keep > most {
		return tooLong(c.text("keep_alive", ""), "point_in_time.max_keep_alive", most)
	}
	slice, err := c.integer("slice", 32, 0)
	if err != nil {
		return err
	}
	slices, err := c.integer("slices", 32, 1)
	if err != nil {
		return err
	}
	enough, err := c.integer("bytes", 32, rowsPage)
	if err != nil {
		return err
	}
	of := store.RowsOf{Where: store.Where{Point: c.text("pit", ""), Keep: keep}, Part: int(slice), Parts: int(slices), After: c.text("after", "")}
	err = c.s.store.Rows(c.ctx(), of, func(row *document.Row) (more bool, err error) {
		before := len(c.out)
		c.out = row.Append(c.out)
		return len(c.out) < int(enough), c.holdAnswer(int64(len(c.out) - before))
	})
	if err != nil {
		return err
	}
	c.out = document.EndRows(c.out)
	return c.deliver(http.StatusOK, "application/octet-stream")
}
