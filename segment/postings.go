package segment

// PostingsIterator steps through the docs of a term, masked ones too. It begins before
// the first: call Next or Advance. Not safe for concurrent use.
type PostingsIterator struct{}

// Doc is the current one; End behind the last.
func (p *PostingsIterator) Doc() Doc { panic("segment: not built yet") }

// Next goes to the next doc and gives it.
func (p *PostingsIterator) Next() Doc { panic("segment: not built yet") }

// Advance goes to the first doc that is not before to, which is behind the current one,
// and gives it. It skips whole blocks.
func (p *PostingsIterator) Advance(to Doc) Doc { panic("segment: not built yet") }

// Frequency is how often the term is in the current doc; 1 without frequencies.
func (p *PostingsIterator) Frequency() uint32 { panic("segment: not built yet") }

// Positions appends where the term is in the current doc, ascending.
func (p *PostingsIterator) Positions(dst []uint32) []uint32 { panic("segment: not built yet") }

// Left is how many docs there are from the current one on, at most.
func (p *PostingsIterator) Left() int { panic("segment: not built yet") }

// Impact is a pair of a frequency and a rounded length; no doc of a block scores more
// than the best of the block's impacts.
type Impact struct {
	Frequency uint32
	Length    byte
}

// Bound looks at the block in which doc, or the first after it, is, without decoding it
// or moving: the block's last doc, and its impacts. They are valid until the next call.
// Behind the last block the last doc is End.
func (p *PostingsIterator) Bound(doc Doc) (last Doc, impacts []Impact) {
	panic("segment: not built yet")
}

// Block gives what is left of the current block with its frequencies (nil without
// them), and goes to its last doc; empty behind the last. Before the first step it is the
// first block. The slices are valid until the next step.
func (p *PostingsIterator) Block() (docs []Doc, frequencies []uint32) {
	panic("segment: not built yet")
}
