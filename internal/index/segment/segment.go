package segment

import (
	"encoding/binary"
	"hash/crc32"
	"iter"
	"sort"
	"sync/atomic"

	"github.com/reshelve/reshelve/internal/store/routing"
)

// The fields that every segment with documents has.
const (
	fieldID   = "_id"          // the ids, with a column
	fieldPath = "_nested_path" // of nested children
)

var (
	specID   = Spec{Postings: Docs, Column: Ordinals}
	specPath = Spec{Postings: Docs}
)

// Segment reads a file. Immutable, safe for concurrent use; so is all that it gives but
// iterators. What it gives is valid as long as the bytes that it was opened with are.
//
// A damaged page makes its methods, and those of what it gives, panic with *Damaged:
// call them within [Guard].
type Segment struct {
	number uint64
	src    *source
	*contents
	byName map[string]*Field
	ids    *Field // nil: there are no docs
}

// Open reads the table of contents. The error is *Damaged, or of fault.Refused for a
// version that is not known. Data may be a mapped file: it is read when it is needed.
func Open(data []byte) (*Segment, error) {
	f, err := readFooter(data)
	if err != nil {
		return nil, err
	}
	var s *Segment
	err = Guard(func() error {
		s = open(data, f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func open(data []byte, f footer) *Segment {
	tail := data[f.body : f.body+f.tail]
	pages := (f.body + pageSize - 1) / pageSize
	if crc32.Checksum(tail, castagnoli) != f.sum {
		panic(damaged("the checksum of the table of contents differs"))
	}
	if 4*pages > f.tail {
		panic(damaged("the checksums of %d pages are missing", pages))
	}
	src := newSource(data, f.body, tail[:4*pages])
	d := decoder{src: src, b: tail[4*pages:]}
	s := &Segment{number: opened.Add(1), src: src, contents: d.contents(), byName: map[string]*Field{}}
	for _, field := range s.fields {
		s.byName[field.name] = field
	}
	s.ids = s.byName[fieldID]
	if s.docs > 0 && (s.ids == nil || s.ids.spec != specID) {
		panic(damaged("documents have no ids"))
	}
	return s
}

// opened is how many segments were opened.
var opened atomic.Uint64

// Number is another one for each segment that the process opens.
func (s *Segment) Number() uint64 { return s.number }

// Bytes is the length of the file.
func (s *Segment) Bytes() int { return len(s.src.data) }

// Docs is how many docs there are, children too.
func (s *Segment) Docs() int { return int(s.docs) }

// Roots is how many of them are documents.
func (s *Segment) Roots() int { return int(s.roots) }

// IsRoot reports whether a doc is a document, not a nested child.
func (s *Segment) IsRoot(doc Doc) bool {
	b := s.rootSet.bits()
	return b == nil || b.Has(doc)
}

// RootSet are the docs that are documents; nil: all of them. It belongs to the segment and
// must not be changed.
func (s *Segment) RootSet() *Bits { return s.rootSet.bits() }

// Root is the document of a doc: itself, or the first root after it.
func (s *Segment) Root(doc Doc) Doc {
	b := s.rootSet.bits()
	if b == nil {
		return doc
	}
	root := b.Next(doc)
	if root == End {
		panic(damaged("doc %d is of no document", doc))
	}
	return root
}

// FirstChild is the first doc that has the same root: the root itself where it has no
// children.
func (s *Segment) FirstChild(root Doc) Doc {
	b := s.rootSet.bits()
	if b == nil {
		return root
	}
	return b.after(root)
}

// Key is the order key of a doc's root.
func (s *Segment) Key(doc Doc) routing.Key {
	return routing.Key(s.src.u64(s.keys + 8*uint64(doc)))
}

// Keys are the order keys of all docs, as Key gives them one by one. They belong to the
// segment and must not be changed.
func (s *Segment) Keys() []uint64 { return wordsOfBytes(s.src.bytes(s.keys, 8*uint64(s.docs))) }

// SeqNo is the sequence number of a doc's root.
func (s *Segment) SeqNo(doc Doc) int64 { return s.seqNos.get(uint64(doc)) }

// ID is the id of a doc's root.
func (s *Segment) ID(doc Doc) string {
	ord, ok := s.ids.Ordinals().First(s.Root(doc))
	if !ok {
		panic(damaged("doc %d has no id", doc))
	}
	var buf [64]byte
	return string(s.ids.Term(buf[:0], ord))
}

// Ascending reports whether sequence numbers ascend with the docs.
func (s *Segment) Ascending() bool { return s.ascending }

// FindSeqNo is the root with a sequence number, when the numbers are Ascending.
func (s *Segment) FindSeqNo(n int64) (Doc, bool) {
	if !s.ascending || s.docs == 0 {
		return 0, false
	}
	behind := sort.Search(int(s.docs), func(i int) bool { return s.SeqNo(Doc(i)) > n })
	if behind == 0 || s.SeqNo(Doc(behind-1)) != n {
		return 0, false
	}
	return Doc(behind - 1), true
}

// FindID yields the roots with an id, whatever their keys.
func (s *Segment) FindID(id string) iter.Seq[Doc] {
	return func(yield func(Doc) bool) {
		if s.ids == nil {
			return
		}
		e, ok := s.ids.Lookup([]byte(id))
		if !ok {
			return
		}
		p := s.ids.Postings(e, Docs, nil)
		for doc := p.Next(); doc != End; doc = p.Next() {
			if !yield(doc) {
				return
			}
		}
	}
}

// OutOf is the set of docs whose keys are not in a range.
func (s *Segment) OutOf(within routing.Range) *Bits {
	out := NewBits(int(s.docs))
	keys := s.src.bytes(s.keys, 8*uint64(s.docs))
	for i := range out.words {
		word := uint64(0)
		n := min(64, len(keys)/8)
		for k := range n {
			if !within.Contains(routing.Key(binary.LittleEndian.Uint64(keys[8*k:]))) {
				word |= 1 << k
			}
		}
		out.words[i], keys = word, keys[8*n:]
	}
	return out
}

// Field is nil when there is none of that name.
func (s *Segment) Field(name string) *Field { return s.byName[name] }

// Fields are all fields, by name.
func (s *Segment) Fields() iter.Seq[*Field] {
	return func(yield func(*Field) bool) {
		for _, f := range s.fields {
			if !yield(f) {
				return
			}
		}
	}
}
