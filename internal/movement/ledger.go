package movement

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/movement/work"
)

// Entry is one thing that a movement makes or changes: an index, a template, a setting, a
// reference. It is a record of its own, under [LedgerKey], written before the thing is
// made:
//
//	(none) ─Intend─▶ intended ─make it─▶ made ─Undo, or HandOver─▶ (none)
//
// Between the record and the making a worker may die, so an intended thing may be there or
// not: who undoes it, or makes it again, looks.
type Entry struct {
	Kind string `json:"kind"` // "index", "template", "settings" …; the lane's
	Name string `json:"name"`
	Made bool   `json:"made,omitempty"`
	// Identity tells the thing that was made from another that somebody makes later under
	// its name; "" where the kind has none, and until it was made.
	Identity string `json:"identity,omitempty"`
	// Keep tells that the thing is what the movement is for: finish hands it over. Without
	// it, finish undoes it as abort does.
	Keep bool `json:"keep,omitempty"`
	// Before is what stood there; nil when nothing did. It is what undoing restores.
	Before json.RawMessage `json:"before,omitempty"`
	At     time.Time       `json:"at"` // of the intention, by the coordination store
	By     string          `json:"by,omitempty"`
}

// LedgerPrefix is the prefix of the keys of a movement's ledger.
func LedgerPrefix(id string) string { return work.Prefix(id) + "ledger/" }

// LedgerKey is the key of the entry for a thing.
func LedgerKey(id, kind, name string) string {
	return LedgerPrefix(id) + work.Safe(kind) + "/" + work.Safe(name)
}

// Proves reports whether the entry proves that the movement has made a thing: the request that made it was
// answered, and the thing had that identity then.
func (e *Entry) Proves(identity string) bool {
	return e.Made && e.Identity == identity && identity != ""
}

// Ours reports whether the thing that is there now is the movement's: it is the one that the entry proves, or,
// when the request was sent and its answer is not known, it bears the movement's mark. That it is empty proves
// nothing: somebody else may have made it, and write to it a moment later.
func (e *Entry) Ours(identity string, marked bool) bool {
	return e.Proves(identity) || !e.Made && marked
}

// Deed is what is done with an entry's thing when a movement ends.
type Deed string

// The deeds.
const (
	Remove   Deed = "remove"   // nothing stood there: take it away
	Restore  Deed = "restore"  // put Before there again
	HandOver Deed = "handover" // it stays, and is the operator's from now on
)

// Deed is what becomes of the thing: abort and reverse undo everything, and finish undoes
// what is not to be kept.
func (e *Entry) Deed(finish bool) Deed {
	switch {
	case finish && e.Keep:
		return HandOver
	case e.Before != nil:
		return Restore
	}
	return Remove
}

// Closing sorts entries into the order in which a movement's end goes through them: the
// newest first, because what was made later may stand on what was made earlier. Entries of
// one moment go by kind and name, backwards.
func Closing(entries []Entry) []Entry {
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, func(a, b Entry) int {
		return cmp.Or(b.At.Compare(a.At), strings.Compare(b.Kind, a.Kind), strings.Compare(b.Name, a.Name))
	})
	return sorted
}

// String is the entry in one line.
//
//	made index books keep · intended settings books/refresh before={"refresh_interval":"1s"}
func (e Entry) String() string {
	words := []string{"intended", quote(e.Kind), quote(e.Name)}
	if e.Made {
		words[0] = "made"
	}
	if e.Keep {
		words = append(words, "keep")
	}
	if e.Before != nil {
		words = append(words, "before="+quote(string(e.Before)))
	}
	return strings.Join(words, " ")
}
