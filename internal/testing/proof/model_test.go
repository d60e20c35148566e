package proof

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// verb is what a client asks of one document.
type verb string

const (
	reading      verb = "get"    // a get, or a refresh and a search
	indexing     verb = "index"  // put, whatever is there
	creating     verb = "create" // put where nothing is
	deleting     verb = "delete"
	swapping     verb = "swap"       // put where the numbers are the stored ones
	swapDeleting verb = "swapDelete" // delete where they are
	raising      verb = "raise"      // put with an external version
	updating     verb = "update"     // set u, where something is
	upserting    verb = "upsert"     // set u, or put a document that has u alone
)

// request is one client's request to one document.
type request struct {
	verb        verb
	index, id   string
	value       value // to be written: u alone by updating and upserting
	seqNo, term int64 // of swapping and swapDeleting
	version     int64 // of raising
	begun       int64 // when it was sent
	ended       int64 // when it was answered, or could have no effect any more
}

// value is what the source of a document says: see text.
type value struct{ v, u string }

// numbers are a document's version, sequence number and primary term.
type numbers struct{ version, seqNo, term int64 }

// outcome is how a request ended.
type outcome string

const (
	unknown outcome = "unknown" // no answer: it may have been applied
	applied outcome = "applied" // or, of reading, found
	missing outcome = "missing" // there is no such document; a delete of none is applied all the same
	refused outcome = "refused" // 409
)

// seen is what a client learned from an answer.
type seen struct {
	outcome outcome
	present bool    // of a write that was applied: something was there before
	numbers numbers // after the write, or of what was read
	value   value   // that was read
	met     met     // what a refusal says is there
}

// met is what the reason of a conflict says of the stored document. Every field may
// be unknown.
type met struct {
	version     int64 // -1: not told
	seqNo, term int64 // -1: not told
	absent      bool  // told that there is none
}

// doc is what the truth may hold of a document.
type doc struct {
	known, deleted bool
	value          value
	numbers        numbers
	exact          bool  // the sequence number and term are these; else they are at least that
	died           int64 // when the request that deleted it was sent
}

// register is one document as requests change it. Minimum is the age, in nanoseconds,
// before which a tombstone is not forgotten.
func register(minimum int64) porcupine.Model {
	model := porcupine.NondeterministicModel{
		Partition: func(all []porcupine.Operation) (parts [][]porcupine.Operation) {
			of := map[string][]porcupine.Operation{}
			for _, o := range all {
				key := o.Input.(request).index + "/" + o.Input.(request).id
				of[key] = append(of[key], o)
			}
			for _, part := range of {
				parts = append(parts, part)
			}
			return parts
		},
		Init: func() []any { return []any{doc{numbers: numbers{0, -1, 0}}} },
		Step: func(state, input, output any) (after []any) {
			for _, d := range state.(doc).step(input.(request), output.(seen), minimum) {
				after = append(after, d)
			}
			return after
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) },
	}
	return model.ToModel()
}

// step lists what may be stored after a request that ended so, when what is stored
// before may be a tombstone that was forgotten meanwhile.
func (d doc) step(r request, s seen, minimum int64) []doc {
	after := d.follow(r, s)
	if d.deleted && r.ended-d.died >= minimum {
		forgotten := d
		forgotten.known, forgotten.deleted, forgotten.numbers.version, forgotten.exact = false, false, 0, false
		after = append(after, forgotten.follow(r, s)...)
	}
	return after
}

// follow lists what may be stored after a request that ended so; nothing when it
// cannot have ended so.
func (d doc) follow(r request, s seen) []doc {
	switch {
	case s.outcome == unknown:
		after := []doc{d}
		if d.takes(r) && r.verb != reading {
			after = append(after, d.after(r, numbers{d.nextVersion(r), d.numbers.seqNo + 1, d.numbers.term}, false))
		}
		return after
	case r.verb == reading:
		return d.read(s)
	case s.outcome == missing: // of an update; a delete of none is applied
		return only(d, !d.present() && r.verb == updating)
	case s.outcome == refused:
		return d.refuse(r, s)
	}
	fits := d.takes(r) && s.present == d.present() && s.numbers.version == d.nextVersion(r) && d.before(s.numbers)
	return only(d.after(r, s.numbers, true), fits)
}

func only(d doc, fits bool) []doc {
	if fits {
		return []doc{d}
	}
	return nil
}

func (d doc) present() bool { return d.known && !d.deleted }

// before tells whether numbers can be those of a write after this.
func (d doc) before(n numbers) bool {
	return n.seqNo > d.numbers.seqNo && n.term >= d.numbers.term
}

// is tells whether numbers may be those that are stored, and keeps them.
func (d *doc) is(n numbers) bool {
	if d.exact {
		return d.numbers == n
	}
	if n.version != d.numbers.version || n.seqNo < d.numbers.seqNo || n.term < d.numbers.term {
		return false
	}
	d.numbers, d.exact = n, true
	return true
}

func (d doc) read(s seen) []doc {
	if s.outcome == missing {
		return only(d, !d.present())
	}
	fits := d.present() && d.value == s.value && d.is(s.numbers)
	return only(d, fits)
}

// takes tells whether a request would be applied.
func (d doc) takes(r request) bool {
	switch r.verb {
	case creating:
		return !d.present()
	case swapping, swapDeleting:
		same := d.present() && d.numbers.seqNo == r.seqNo && d.numbers.term == r.term
		return same || d.present() && !d.exact && r.seqNo >= d.numbers.seqNo
	case raising:
		return !d.known || d.numbers.version < r.version
	case updating:
		return d.present()
	}
	return true
}

func (d doc) nextVersion(r request) int64 {
	switch {
	case r.verb == raising:
		return r.version
	case !d.known:
		return 1
	}
	return d.numbers.version + 1
}

// after is what a request leaves that was applied.
func (d doc) after(r request, n numbers, exact bool) doc {
	next := doc{known: true, value: r.value, numbers: n, exact: exact}
	switch r.verb {
	case deleting, swapDeleting:
		next.deleted, next.value, next.died = true, value{}, r.begun
	case updating, upserting:
		if d.present() {
			next.value.v = d.value.v
		}
	}
	return next
}

// refuse checks a conflict against what is stored.
func (d doc) refuse(r request, s seen) []doc {
	m := s.met
	if m.absent && d.present() || !m.absent && !d.known {
		return nil
	}
	if m.seqNo >= 0 && (!d.present() || !d.is(numbers{d.numbers.version, m.seqNo, m.term})) {
		return nil
	}
	if m.version >= 0 && d.numbers.version != m.version {
		return nil
	}
	switch r.verb {
	case creating:
		return only(d, d.present())
	case raising:
		return only(d, d.numbers.version >= r.version)
	case swapping, swapDeleting:
		return only(d, !d.present() || d.numbers.seqNo != r.seqNo || d.numbers.term != r.term)
	case updating, upserting: // another write came between its reading and its writing
		return only(d, true)
	}
	return nil
}
