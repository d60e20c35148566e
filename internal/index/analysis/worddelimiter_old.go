package analysis

import (
	"cmp"
	"slices"
)

// oldDelimiter is the filter word_delimiter: the parts of a term are one position each,
// and what is joined stands at the position of a part. Terms that are all delimiters leave
// no hole, unless they are the first.
type oldDelimiter struct{ *wordDelimiter }

func newWordDelimiter(p *part) filter {
	f := readWordDelimiter(p)
	f.adjust = true
	return oldDelimiter{f}
}

// delimiting is where oldDelimiter is: steps are between positions.
type delimiting struct {
	owed  int  // the step that the next token makes
	first bool // nothing was put yet
	spoke bool // the term, or its run of one type, has a token
	whole bool // the term itself was put, and nothing after it
}

// step is that of the next token; joined ones share the position of a part.
func (d *delimiting) step(joined bool) int {
	owed := max(1, d.owed)
	switch {
	case d.spoke && joined:
		d.owed = 0
		return 0
	case !d.spoke && d.whole:
		d.spoke, d.whole = true, false
		return 0
	}
	d.spoke, d.owed = true, 0
	return owed
}

// stepped is a token to be, with its step.
type stepped struct {
	placed
	step  int
	token Token
}

func (f oldDelimiter) filter(s *stream) {
	out := s.spare[:0]
	tail := s.tail()
	position, read := -1, -1
	d := delimiting{first: true}
	put := func(t Token, step int) {
		position += step
		t.Position = position
		out = append(out, t)
		d.first = false
	}
	for i := range s.tokens {
		t := s.tokens[i]
		step := t.Position - read
		read = t.Position
		d.owed += step
		pieces, untouched := f.apart(&t)
		switch {
		case untouched:
			put(t, d.owed)
			d.owed = 0
			continue
		case len(pieces) == 0 && !f.keep:
			if step == 1 && !d.first {
				d.owed--
			}
			continue
		}
		d.spoke, d.whole = false, f.keep
		if f.keep {
			put(t, d.owed)
			d.owed = 0
		}
		if len(pieces) == 1 {
			part := t
			part.Length = 1
			part.Term = t.Term[pieces[0].start:pieces[0].end]
			if f.place(s, &part, &t, placed{start: pieces[0].start, end: pieces[0].end}); !s.spells(&t) {
				if into := pieces[0].start; units(t.Term[:into]) <= units(s.original[t.Start:t.End]) {
					part.Start = s.inside(&t, into)
				}
			}
			put(part, d.step(false))
			continue
		}
		parts := f.steps(&d, t.Term, pieces)
		for i := range parts {
			token := t
			token.Term, token.Length = parts[i].term, 1
			f.place(s, &token, &t, parts[i].placed)
			parts[i].token = token
		}
		slices.SortStableFunc(parts, func(a, b stepped) int { return cmp.Or(a.token.Start-b.token.Start, b.step-a.step) })
		for _, part := range parts {
			if d.first && part.step == 0 {
				part.step = 1
			}
			put(part.token, part.step)
		}
	}
	s.tokens, s.spare = append(s.tokens[:0], out...), out[:0]
	s.next = position + 1 + tail
}

// steps are the tokens of several pieces.
func (f oldDelimiter) steps(d *delimiting, term []byte, pieces []piece) []stepped {
	var all []stepped
	var run, every join
	lastCount := 0
	put := func(j *join) {
		all = append(all, stepped{placed: placed{start: j.start, end: j.end, term: j.text}, step: d.step(true)})
		d.owed = 0
	}
	flush := func() {
		if lastCount = run.count; run.count != 1 || !f.generates(run.typ) {
			put(&run)
		}
		run = join{}
	}
	for _, p := range pieces {
		if run.count > 0 && run.typ&p.typ == 0 {
			flush()
			d.spoke = false
		}
		if f.joinWords && p.typ&delimAlpha != 0 || f.joinNumbers && p.typ&delimDigit != 0 {
			run.add(term, p)
		}
		if f.joinAll {
			every.add(term, p)
		}
		if f.generates(p.typ) {
			all = append(all, stepped{placed: placed{start: p.start, end: p.end, term: term[p.start:p.end]}, step: d.step(false)})
		}
	}
	if run.count > 0 {
		flush()
	}
	if every.count > lastCount {
		put(&every)
	}
	return all
}

// add appends a piece.
func (j *join) add(term []byte, p piece) {
	if j.count == 0 {
		j.typ, j.start = p.typ, p.start
	}
	j.text, j.end = append(j.text, term[p.start:p.end]...), p.end
	j.count++
}
