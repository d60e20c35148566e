package fields

import "github.com/reshelve/reshelve/internal/index/mapping"

// held keeps the values of a document with nested fields until the doc that they belong
// to is completed: values of a document may come before and after those of its children,
// which are completed first.
type held struct {
	on    bool
	bytes []byte  // of all values
	open  []level // the document, and the nested objects that are open in it
	depth int     // how many of open count; the others keep their memory
}

// level is a doc that is not completed.
type level struct {
	path   string // of the nested field; "": the document
	values []heldValue
}

// heldValue is a value of a doc.
type heldValue struct {
	to         *column
	value      mapping.Value // but for its bytes
	start, end int
}

// begin is for each document; on: it may have nested objects.
func (h *held) begin(on bool) {
	h.on = on
	h.bytes, h.depth = h.bytes[:0], 0
	if on {
		h.push("")
	}
}

func (h *held) push(path string) {
	if h.depth == len(h.open) {
		h.open = append(h.open, level{})
	}
	l := &h.open[h.depth]
	l.path, l.values = path, l.values[:0]
	h.depth++
}

// value keeps a value for the doc that its field belongs to: a copy (copy_to) may leave
// the object that it was read in.
func (h *held) value(to *column, v *mapping.Value) {
	i := h.depth - 1
	for i > 0 && h.open[i].path != to.around {
		i--
	}
	start := len(h.bytes)
	h.bytes = append(h.bytes, v.Bytes...)
	l := &h.open[i]
	l.values = append(l.values, heldValue{to: to, value: *v, start: start, end: len(h.bytes)})
}

// Begin is for mapping.Document.
func (w *Writer) Begin(nested *mapping.Field) { w.held.push(nested.Path()) }

// End is for mapping.Document: it completes a child. What is included in the parent or
// in the document is included with all that the child includes itself.
func (w *Writer) End(nested *mapping.Field) {
	h := &w.held
	h.depth--
	child := &h.open[h.depth]
	w.write(child.values)
	w.close()
	w.to.EndChild(child.path)
	parent := &h.open[h.depth-1]
	if nested.IncludedInParent() {
		parent.values = append(parent.values, child.values...)
	}
	if root := &h.open[0]; nested.IncludedInRoot() && (root != parent || !nested.IncludedInParent()) {
		root.values = append(root.values, child.values...)
	}
}

// write writes the values of one doc.
func (w *Writer) write(values []heldValue) {
	for i := range values {
		v := &values[i]
		v.value.Bytes = w.held.bytes[v.start:v.end]
		v.to.put(v.to, &v.value)
	}
}
