package sim

import (
	"fmt"
	"slices"

	"github.com/reshelve/reshelve/internal/document"
)

// key is a document that one client writes, and everybody reads: all that was ever tried with
// it, in the order in which it was.
type key struct {
	id, routing string
	owner       int // the client
	tries       []try
	// low is the newest of tries that has surely been applied: later readers see that or a
	// later one. shown is the same for searches, which see what was refreshed.
	low, shown int
	flying     int // 1 while it is being written
}

// try is one write, and what is known of it.
type try struct {
	source string // "": the document is deleted by it
	known  outcome
	document.Versions
}

// outcome is what is known of a try.
type outcome uint8

const (
	open    outcome = iota // nobody has been told, and nobody may ever be
	applied                // it was acknowledged
	not                    // it was refused, or a read has shown that it was not applied
)

func newKey(n int, s *Script) *key {
	k := &key{id: fmt.Sprintf("k%d", n), owner: n % s.Clients, tries: []try{{known: applied}}}
	if n%5 == 4 {
		k.routing = fmt.Sprintf("r%d", n%10)
	}
	return k
}

// certain is the state of the document, if it is known.
func (k *key) certain() (try, bool) {
	for _, t := range k.tries[k.low+1:] {
		if t.known != not {
			return try{}, false
		}
	}
	return k.tries[k.low], true
}

// begin notes a try, and gives its number.
func (k *key) begin(source string) int {
	k.tries = append(k.tries, try{source: source})
	k.flying = 1
	return len(k.tries) - 1
}

// is notes what became of a try.
func (k *key) is(n int, known outcome, v document.Versions) {
	k.tries[n].known, k.tries[n].Versions, k.flying = known, v, 0
	if known == applied {
		k.low = max(k.low, n)
	}
}

// read notes what a reader saw who began when from was low and so many had been tried, of
// which those below settled had ended. It is false when nobody may see that.
func (k *key) read(source string, from, settled int) bool {
	n := k.seen(source, from)
	if n < 0 {
		return false
	}
	k.low = max(k.low, n)
	if slices.ContainsFunc(k.tries[settled:], func(t try) bool { return t.known != not && t.source == source }) {
		return true // perhaps it saw that one, which was on its way, and those before it were there for a while
	}
	for i := settled - 1; i > n && k.tries[i].source != source; i-- {
		if k.tries[i].known == open {
			k.tries[i].known = not
		}
	}
	return true
}

// seen is the oldest try that explains what was seen; -1: none does.
func (k *key) seen(source string, from int) int {
	for i := from; i < len(k.tries); i++ {
		if t := &k.tries[i]; t.known != not && t.source == source {
			return i
		}
	}
	return -1
}

// refreshed notes what searches will show from now on.
func (k *key) refreshed(n int) { k.shown = max(k.shown, n) }

// story tells all tries from one on.
func (k *key) story(from int) (text string) {
	for i := from; i < len(k.tries); i++ {
		t := &k.tries[i]
		text += fmt.Sprintf(" %d:%q %s", i, t.source, [...]string{"open", "applied", "not"}[t.known])
	}
	return text
}
