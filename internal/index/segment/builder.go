package segment

import (
	"github.com/reshelve/reshelve/internal/fault"
)

// Builder collects documents for one segment. Not safe for concurrent use.
//
// What is written to its fields belongs to the doc that the next EndChild or EndRoot
// completes; children are completed before their root.
type Builder struct {
	fields map[string]*FieldBuilder
	ids    *FieldBuilder
	arena  arena // of all chains

	doc      Doc // the current one
	first    Doc // of those that the next root completes
	wrote    bool
	touched  []*FieldBuilder // by the current doc
	roots    []uint64
	keys     []uint64
	seqNos   []int64
	dropped  []uint64 // docs that were abandoned
	abandons int
	size     int // of what else is held, in bytes
	err      error
}

// NewBuilder is an empty one.
func NewBuilder() *Builder {
	b := &Builder{fields: map[string]*FieldBuilder{}}
	b.ids, _ = b.Field(fieldID, specID)
	return b
}

// Field is the field of that name, made where there is none. One name has one Spec:
// with another it is fault.Bug. It may be used until the builder is dropped, after Build
// too. A field to which nothing is written is not in the segment.
func (b *Builder) Field(name string, spec Spec) (*FieldBuilder, error) {
	f := b.fields[name]
	if f == nil {
		f = &FieldBuilder{b: b, name: name, spec: spec}
		b.fields[name] = f
	}
	if f.spec != spec {
		if f.seen != 0 || name == fieldID {
			return nil, fault.New(fault.Bug, "the field %q is built as %+v and as %+v", name, f.spec, spec)
		}
		f.spec = spec
	}
	return f, nil
}

// EndChild completes a nested child. Path is the nested field that it is an object of;
// it can be asked for as the term path of the field "_nested_path".
func (b *Builder) EndChild(path string) {
	f, err := b.Field(fieldPath, specPath)
	if err != nil {
		b.fail(err)
		return
	}
	f.Term([]byte(path))
	b.next()
}

// EndRoot completes a document, with the children since the last one. The id is indexed
// as the term of the field "_id".
func (b *Builder) EndRoot(id Identity) {
	b.ids.Term([]byte(id.ID))
	setBit(&b.roots, b.doc)
	b.next()
	for ; b.first < b.doc; b.first++ {
		b.keys = append(b.keys, uint64(id.Key))
		b.seqNos = append(b.seqNos, id.SeqNo)
	}
	b.wrote = false
}

// next goes to the next doc.
func (b *Builder) next() {
	for _, f := range b.touched {
		f.flush()
	}
	b.touched = b.touched[:0]
	if b.doc == maxDocs {
		b.fail(fault.New(fault.Limit, "a segment has at most %d docs", maxDocs))
		return
	}
	b.doc++
	b.wrote = true
	b.size += 17
}

// Abandon forgets what was written, and the children that were completed, since the last
// EndRoot.
//
// It stays in the builder until Build, which leaves it out: that is not often done.
func (b *Builder) Abandon() {
	if !b.wrote {
		return
	}
	b.ids.Term(nil) // a document has an id
	setBit(&b.roots, b.doc)
	b.next()
	for ; b.first < b.doc; b.first++ {
		setBit(&b.dropped, b.first)
		b.keys, b.seqNos = append(b.keys, 0), append(b.seqNos, 0)
		b.abandons++
	}
	b.wrote = false
}

// Docs is how many docs were completed, children too.
func (b *Builder) Docs() int { return int(b.doc) - b.abandons }

// Bytes is about how much memory the builder takes.
func (b *Builder) Bytes() int { return b.size + b.arena.bytes() }

func (b *Builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// setBit sets a bit in a set that grows.
func setBit(words *[]uint64, doc Doc) {
	i := int(doc >> 6)
	for len(*words) <= i {
		*words = append(*words, 0)
	}
	(*words)[i] |= 1 << (doc & 63)
}

// setOf is a set for n docs made of words, which may be too few.
func setOf(words []uint64, n Doc) *Bits {
	set := NewBits(int(n))
	copy(set.words, words)
	return set
}

// FieldBuilder takes the values of one field of the current doc.
type FieldBuilder struct {
	b    *Builder
	name string
	spec Spec

	seen     Doc // the last doc that has it, plus 1
	existing []uint64

	terms    termTable
	pending  []occurrence // of the current doc, not yet in the table
	text     []byte       // of those with long terms
	termDocs int64        // docs that have a term
	termDoc  Doc          // the last of them, plus 1

	ordinals []uint32 // numbers of terms, in the order of ordinalDocs, each once
	ordDocs  []Doc
	numbers  []point
	lengths  []byte
}

// touch says that the current doc has the field.
func (f *FieldBuilder) touch() {
	if b := f.b; f.seen != b.doc+1 {
		f.seen = b.doc + 1
		b.wrote = true
		b.touched = append(b.touched, f)
		before := len(f.existing)
		setBit(&f.existing, b.doc)
		b.size += 8 * (len(f.existing) - before)
	}
}

// Length says how many positions count for the length of the doc. The last call counts.
func (f *FieldBuilder) Length(n uint32) {
	f.touch()
	if !f.spec.Lengths {
		return
	}
	doc := int(f.b.doc)
	if grown := doc + 1 - len(f.lengths); grown > 0 {
		f.b.size += grown
		for len(f.lengths) <= doc {
			f.lengths = append(f.lengths, 0)
		}
	}
	f.lengths[doc] = LengthByte(n)
}

// Number puts a number: a value of the column and a point, whichever the field has.
func (f *FieldBuilder) Number(n int64) {
	f.touch()
	if f.spec.Column == Numbers || f.spec.Points {
		f.numbers = append(f.numbers, point{n, f.b.doc})
		f.b.size += 16
	}
}

// Exists says that the doc has the field. All of the above say it too.
func (f *FieldBuilder) Exists() { f.touch() }

// reset forgets all values, and keeps the memory.
func (f *FieldBuilder) reset() {
	f.seen, f.termDoc, f.termDocs = 0, 0, 0
	f.existing, f.lengths, f.numbers = f.existing[:0], f.lengths[:0], f.numbers[:0]
	f.ordinals, f.ordDocs = f.ordinals[:0], f.ordDocs[:0]
	f.terms.reset()
}
