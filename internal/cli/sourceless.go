package cli

import (
	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/document"
)

// mostNamed is how many documents without source are named one by one.
const mostNamed = 20

// firstSourceless names the first documents that have no source; the summary of each
// index counts all.
type firstSourceless struct {
	note  func(format string, args ...any)
	named int
}

func (s *firstSourceless) name(doc *document.Document) {
	s.named++
	switch {
	case s.named <= mostNamed:
		id, _ := appendJSON(nil, doc.ID)
		s.note("%s: document %s has no _source", doc.Position, id)
	case s.named == mostNamed+1:
		s.note("more documents without _source are only counted from here on")
	}
}

// sourcelessNotes sum up for each index what had no source, or has a better one
// beside it.
func (r *catRun) sourcelessNotes(t control.Totals) {
	for _, s := range t.Sourceless {
		if s.Documents > 0 {
			r.note("%s: %s no _source", s.Index, have(s.Documents, "document"))
		}
		if s.Recoverable > 0 {
			r.note("%s: beside the disabled or filtered _source of %s the complete original is stored; --use-recovery-source prints it", s.Index, counted(s.Recoverable, "document"))
		}
	}
}

// have is "1 thing has" or "n things have".
func have(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing + " has"
	}
	return counted(n, thing) + " have"
}
