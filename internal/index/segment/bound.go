package segment

// Bound looks at the block in which doc, or the first after it, is, without decoding it
// or moving: the block's last doc, and its impacts. They are valid until the next call.
// Behind the last block the last doc is End.
func (p *PostingsIterator) Bound(doc Doc) (last Doc, impacts []Impact) {
	if !p.long {
		return p.boundShort(doc)
	}
	if p.bound > 0 && p.last(p.bound-1) >= doc {
		p.bound, p.has = 0, false
	}
	last = p.last(p.bound)
	if last < doc {
		next := p.seek(p.bound+1, doc)
		if next == p.blocks {
			return End, nil
		}
		p.bound, p.has = next, false
		last = p.last(next)
	}
	if !p.has {
		p.readImpacts(p.part(p.bound, 3), p.part(p.bound+1, 3))
		p.has = true
	}
	return last, p.impacts
}

// boundShort is Bound of a short list, which is one block. It is decoded, since it says
// nothing of itself.
func (p *PostingsIterator) boundShort(doc Doc) (Doc, []Impact) {
	if p.block < 0 {
		p.load(0)
	}
	if p.n == 0 || p.docs[p.n-1] < doc {
		return End, nil
	}
	if !p.has {
		p.impacts, p.has = p.impacts[:0], true
		lengths := p.field.Lengths()
		for i, doc := range p.docs[:p.n] {
			pair := Impact{Frequency: 1, Length: 1}
			if p.field.spec.Postings >= Frequencies {
				pair.Frequency = p.freqs[i]
			}
			if lengths != nil {
				pair.Length = lengths[doc]
			}
			p.impacts = addImpact(p.impacts, pair)
		}
	}
	return p.docs[p.n-1], p.impacts
}

// Impacts are those of the whole list. They are valid until the next call of Bound or of
// Impacts.
func (p *PostingsIterator) Impacts() []Impact {
	if !p.long {
		_, impacts := p.boundShort(0)
		return impacts
	}
	p.readImpacts(p.part(p.blocks, 3), p.entry.size-rowSize*uint64(p.blocks+1))
	p.has = false
	return p.impacts
}

// readImpacts reads those in a part of the list.
func (p *PostingsIterator) readImpacts(from, end uint64) {
	if from > end || end > p.entry.size {
		panic(damaged("the impacts of a list are not in order"))
	}
	p.impacts = readImpacts(p.impacts[:0], p.field.postings.bytes(p.entry.at+from, end-from))
}

// Block gives the docs behind the current one in its block, or those of the next block
// when there are none, with their frequencies (nil without them), and goes to the last of
// them; empty behind the last. Before the first step it is the first block. The slices are
// valid until the next step.
func (p *PostingsIterator) Block() (docs []Doc, frequencies []uint32) {
	docs = p.Rest()
	return docs, p.Frequencies()
}

// Rest is Block without frequencies, which are not decoded before Frequencies is called.
func (p *PostingsIterator) Rest() []Doc {
	if p.i+1 >= p.n && !p.load(p.block+1) {
		p.rest = 0
		return nil
	}
	p.rest = p.i + 1
	p.i = p.n - 1
	p.doc = p.docs[p.i]
	return p.docs[p.rest:p.n]
}

// Frequencies are those of the docs that Rest gave last; nil without them. They are valid
// until the next step.
func (p *PostingsIterator) Frequencies() []uint32 {
	if p.with < Frequencies || p.n == 0 {
		return nil
	}
	p.frequencies()
	return p.freqs[p.rest:p.n]
}
