package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table is rows of cells, printed in aligned columns with two spaces between.
type table struct {
	right map[int]bool // columns of numbers, aligned to the right
	rows  [][]string
}

// newTable begins a table with its headings; those that begin with '>' are of
// columns of numbers.
func newTable(headings ...string) *table {
	t := &table{right: map[int]bool{}}
	for i, h := range headings {
		if strings.HasPrefix(h, ">") {
			headings[i], t.right[i] = h[1:], true
		}
	}
	t.row(headings...)
	return t
}

// row adds one row. Cells come from files: none can leave its line.
func (t *table) row(cells ...string) {
	for i, c := range cells {
		cells[i] = oneLine(c)
	}
	t.rows = append(t.rows, cells)
}

func (t *table) print(w io.Writer) {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if t.right[i] {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
			line.WriteString("  ")
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}
