package segment

// Builder collects documents for one segment. Not safe for concurrent use.
//
// What is written to its fields belongs to the doc that the next EndChild or EndRoot
// completes; children are completed before their root.
type Builder struct{}

// NewBuilder is an empty one.
func NewBuilder() *Builder { panic("segment: not built yet") }

// Field is the field of that name, made where there is none. One name has one Spec:
// with another it is fault.Bug.
func (b *Builder) Field(name string, spec Spec) (*FieldBuilder, error) {
	panic("segment: not built yet")
}

// EndChild completes a nested child. Path is the nested field that it is an object of;
// it can be asked for as the term path of the field "_nested_path".
func (b *Builder) EndChild(path string) { panic("segment: not built yet") }

// EndRoot completes a document, with the children since the last one. The id is indexed
// as the term of the field "_id".
func (b *Builder) EndRoot(id Identity) { panic("segment: not built yet") }

// Abandon forgets what was written, and the children that were completed, since the last
// EndRoot.
func (b *Builder) Abandon() { panic("segment: not built yet") }

// Docs is how many docs were completed, children too.
func (b *Builder) Docs() int { panic("segment: not built yet") }

// Bytes is about how much memory the builder takes.
func (b *Builder) Bytes() int { panic("segment: not built yet") }

// Build is the file of all that was completed, and empties the builder. A builder with
// no docs gives a segment with none.
func (b *Builder) Build() ([]byte, error) { panic("segment: not built yet") }

// FieldBuilder takes the values of one field of the current doc.
type FieldBuilder struct{}

// Term puts a term without place: once for each occurrence. With a column of ordinals
// it is a value of the doc.
func (f *FieldBuilder) Term(term []byte) { panic("segment: not built yet") }

// Token puts a term at a position. Positions of a doc do not fall.
func (f *FieldBuilder) Token(term []byte, position uint32) { panic("segment: not built yet") }

// Length says how many positions count for the length of the doc.
func (f *FieldBuilder) Length(n uint32) { panic("segment: not built yet") }

// Number puts a number: a value of the column and a point, whichever the field has.
func (f *FieldBuilder) Number(n int64) { panic("segment: not built yet") }

// Exists says that the doc has the field. All of the above say it too.
func (f *FieldBuilder) Exists() { panic("segment: not built yet") }
