package aggregate

import (
	"bytes"
	"slices"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// textKeys are terms of texts. Ordinals are those of a view: a term gets a number of its
// own when it is first seen.
//
// Where there is one bucket around, and nothing below, docs are first counted by ordinal
// alone, and terms are looked at when all views have been seen: see tallies.
type textKeys struct {
	w      *termsWorker
	read   terms
	choice choice
	ids    map[string]uint32 // the number of each term
	texts  [][]byte          // by number
	arena  arena
	live   []bool // by number: terms that are told although no document was found

	// of the view, by ordinal, and behind them what stands for a missing value; 0: not yet
	// seen, 1: left out
	numbers paged  // number + 2
	buckets paged  // bucket + 2, in the bucket around with the number 0
	absent  uint32 // the place of what stands for a missing value
	scratch []byte

	tallies tallies
	seen    termCache[uint32]
}

func newTextKeys(w *termsWorker, c choice) *textKeys {
	k := &textKeys{w: w, read: terms{values: &w.values}, choice: c, ids: map[string]uint32{}}
	k.tallies.on = len(w.n.subs.nodes) == 0 && w.of.MinDocCount > 0 && w.n.alone()
	return k
}

// alone reports whether there is one bucket around.
func (n *node) alone() bool {
	for above := n.above; above != nil; above = above.above {
		if _, ok := above.worker.(singleBucket); !ok {
			return false
		}
	}
	return true
}

func (k *textKeys) begin(at search.Place) {
	n := k.read.begin(at)
	k.absent = uint32(n)
	lex, terms := k.read.lexicon(at)
	if k.tallies.on {
		k.tallies.begin(&k.read, lex, terms)
		return
	}
	k.seen.begin(lex, terms)
	k.numbers.reset(n + 1)
	k.buckets.reset(n + 1)
}

func (k *textKeys) collect(b batch) error {
	if spell := k.read.spelled(); spell != nil {
		return k.spelled(b, spell)
	}
	at, ords := k.read.read(b.docs)
	if k.tallies.on {
		k.tallies.count(ords)
		return nil
	}
	subs := k.w.n.subs
	for j, ord := range ords {
		i := at[j]
		if ord == absentTerm {
			ord = k.absent
		}
		bucket := k.bucket(b.around[i], ord)
		if bucket < 0 {
			continue
		}
		k.w.count.add(uint32(bucket), 1)
		if err := subs.add(&b, i, uint32(bucket)); err != nil {
			return err
		}
	}
	return nil
}

// bucket finds the bucket of an ordinal; negative: it is left out.
func (k *textKeys) bucket(around, ord uint32) int64 {
	var known *uint32
	if around == 0 {
		if known = k.buckets.at(ord); *known > 0 {
			return int64(*known) - 2
		}
	}
	n := k.number(ord)
	if n == 1 {
		if known != nil {
			*known = 1
		}
		return -1
	}
	bucket, _ := k.w.buckets.number(around, uint64(n-2))
	if known != nil {
		*known = bucket + 2
	}
	return int64(bucket)
}

// number finds the number of the term of an ordinal, +2; 1: it is left out.
func (k *textKeys) number(ord uint32) uint32 {
	known := k.numbers.at(ord)
	if *known > 0 {
		return *known
	}
	of, common := ord, (*uint32)(nil)
	if ord == k.absent {
		of = absentTerm
	} else if common = k.seen.value(ord); common != nil && *common > 0 {
		*known = *common
		return *known
	}
	k.scratch = k.read.text(k.scratch[:0], of)
	*known = 1
	if term, ok := k.read.own(k.scratch); ok && k.choice.term(term) {
		*known = k.intern(term) + 2
	}
	if common != nil {
		*common = *known
	}
	return *known
}

// own cuts off what the terms of a path below a flat_object begin with.
func (r *terms) own(term []byte) ([]byte, bool) {
	if r.here == nil || r.here.Prefix() == "" {
		return term, true
	}
	return bytes.CutPrefix(term, []byte(r.here.Prefix()))
}

func (k *textKeys) intern(term []byte) uint32 {
	id, ok := k.ids[string(term)]
	if !ok {
		id = uint32(len(k.texts))
		k.texts = append(k.texts, k.arena.keep(term))
		k.ids[string(term)] = id
	}
	return id
}

func (k *textKeys) spelled(b batch, spell func(doc uint32) []byte) error {
	for i, doc := range b.docs {
		term := spell(doc)
		if !k.choice.term(term) {
			continue
		}
		bucket, _ := k.w.buckets.number(b.around[i], uint64(k.intern(term)))
		k.w.count.add(bucket, 1)
		if err := k.w.n.subs.add(&b, int32(i), bucket); err != nil {
			return err
		}
	}
	return nil
}

// end finds the terms of the view that a document shown has, and what stands for a missing
// one: as on the server, where it is joined to the ordinals, it is told even if no document
// lacks a term.
func (k *textKeys) end() {
	if k.w.of.MinDocCount > 0 {
		return
	}
	if spell := k.read.spelled(); spell != nil {
		k.spellAll(spell)
		return
	}
	absent := k.read.missing && k.read.column != nil && k.w.of.Hint != "map"
	var ords []uint32
	for doc := range k.read.view.Docs() {
		if !k.read.view.Shows(uint32(doc)) {
			continue
		}
		if k.read.column != nil {
			ords = k.read.column.All(ords[:0], uint32(doc))
		}
		for _, ord := range ords {
			k.tell(ord)
		}
		absent = absent || k.read.missing && len(ords) == 0
	}
	if absent {
		k.tell(k.absent)
	}
}

// spellAll is end for terms that are in no column.
func (k *textKeys) spellAll(spell func(doc uint32) []byte) {
	for doc := range k.read.view.Docs() {
		if !k.read.view.Shows(uint32(doc)) {
			continue
		}
		if term := spell(uint32(doc)); k.choice.term(term) {
			k.reveal(k.intern(term))
		}
		if k.read.here.Type() != "_id" { // all have the same
			return
		}
	}
}

// tell lets the term of an ordinal be told although no document is found.
func (k *textKeys) tell(ord uint32) {
	if n := k.number(ord); n > 1 {
		k.reveal(n - 2)
	}
}

// reveal lets the term of a number be told although no document is found.
func (k *textKeys) reveal(id uint32) {
	k.live = grown(k.live, max(len(k.live), int(id)+1))
	k.live[id] = true
}

// done joins what was counted by ordinal.
func (k *textKeys) done() {
	if k.tallies.on {
		k.tallies.join(k)
	}
}

func (k *textKeys) unseen(around uint32) []uint32 {
	all := slices.Clone(k.w.buckets.within(around))
	there := k.w.buckets.len()
	for id, live := range k.live {
		if !live {
			continue
		}
		if bucket, made := k.w.buckets.number(around, uint64(id)); made || int(bucket) >= there {
			all = append(all, bucket)
		}
	}
	return all
}

func (k *textKeys) text(bucket uint32) []byte { return k.texts[k.w.buckets.keys[bucket]] }

func (k *textKeys) compare(a, b uint32) int { return bytes.Compare(k.text(a), k.text(b)) }

func (k *textKeys) appendKey(dst []byte, bucket uint32) []byte {
	return k.w.values.appendTerm(member(dst, "key"), k.text(bucket))
}

func (k *textKeys) typed() string { return "sterms" }

// appendTerm appends the JSON of a term.
func (v *values) appendTerm(dst, term []byte) []byte {
	if v.field != nil {
		return v.field.AppendTerm(dst, term)
	}
	if v.of.Type == "ip" {
		return appendAddress(dst, term)
	}
	return token.AppendString(dst, term)
}
