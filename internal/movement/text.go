package movement

import (
	"encoding/json"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

// String is the event in one line that [ParseEvent] reads: its word, then key=value pairs,
// values quoted where they hold spaces, quotes or nothing. Its time is not part of it.
//
//	throttle by=ann rate={"documents":5000}
//	stuck verify by=w3 cause="12 documents differ" next="repair it" listed
func (e Event) String() string {
	words := []string{e.words()}
	if e.By != "" {
		words = append(words, "by="+quote(e.By))
	}
	return strings.Join(words, " ")
}

// words is the event without its time and without whose it is, as the journal keeps it.
func (e *Event) words() string {
	words := []string{string(e.Verb) + string(e.Happened)}
	add := func(key, value string) {
		if value != "" {
			words = append(words, key+"="+quote(value))
		}
	}
	if e.Phase != "" {
		words = append(words, e.Phase)
	}
	add("why", short(e.Why))
	add("rate", string(e.Rate))
	if e.Happened == PhaseDone {
		add("outcome", short(e.Cause))
	} else {
		add("cause", short(e.Cause))
	}
	add("next", short(e.Next))
	for word, is := range e.flags() {
		if *is {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// flags are the words that stand alone, in their order.
func (e *Event) flags() iter.Seq2[string, *bool] {
	return func(yield func(string, *bool) bool) {
		_ = yield("listed", &e.Listed) && yield("unswitched", &e.Unswitched) && yield("overwrite", &e.Overwrite) && yield("delete-extra", &e.DeleteExtra)
	}
}

// flag takes a word that stands alone; false when it is none.
func (e *Event) flag(word string) bool {
	for name, is := range e.flags() {
		if name == word {
			*is = true
			return true
		}
	}
	return false
}

func quote(s string) string {
	if q := strconv.Quote(s); s == "" || strings.ContainsAny(s, " \"\\") || q != `"`+s+`"` {
		return q
	}
	return s
}

// ParseEvent reads what [Event.String] prints; fault.Usage for anything else.
func ParseEvent(line string) (Event, error) {
	words, err := split(line)
	if err != nil || len(words) == 0 || !isWord(words[0]) {
		return Event{}, fault.New(fault.Usage, "%q is no event", line)
	}
	var e Event
	e.setWord(words[0])
	for _, word := range words[1:] {
		key, value, pair := strings.Cut(word, "=")
		switch {
		case e.flag(word):
		case !pair && e.Phase == "" && isWord(word):
			e.Phase = word
		case !pair || !e.set(key, value):
			return Event{}, fault.New(fault.Usage, "%q: what is %q?", line, word)
		}
	}
	return e, nil
}

// isWord reports whether s can stand without quotes: small letters, digits, and the - and /
// of phases and their attempts.
func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-/") == ""
}

func (e *Event) setWord(word string) {
	for _, v := range Verbs {
		if string(v) == word {
			e.Verb = v
			return
		}
	}
	e.Happened = Happening(word)
}

func (e *Event) set(key, value string) bool {
	switch key {
	case "by":
		e.By = value
	case "why":
		e.Why = value
	case "rate":
		e.Rate = json.RawMessage(value)
	case "cause", "outcome":
		e.Cause = value
	case "next":
		e.Next = value
	default:
		return false
	}
	return true
}

// split takes a line apart at its spaces; a value that begins with a quote ends with one.
func split(line string) (words []string, err error) {
	for line = strings.TrimLeft(line, " "); line != ""; line = strings.TrimLeft(line, " ") {
		end := strings.IndexByte(line, ' ')
		if end < 0 {
			end = len(line)
		}
		word := line[:end]
		if at := strings.Index(word, `="`); at >= 0 {
			quoted, err := strconv.QuotedPrefix(line[at+1:])
			if err != nil {
				return nil, err
			}
			value, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, err
			}
			word, end = line[:at+1]+value, at+1+len(quoted)
		}
		words, line = append(words, word), line[end:]
	}
	return words, nil
}

// String is the record in one line: its state, then its phases, then why it stopped. A
// phase that flips is marked with !, one that retires with ~, one that has begun with *.
//
//	held done=metadata,documents now=verify* then=flip!,cleanup~ cause="12 documents differ" next="repair it" listed
func (r Record) String() string {
	words := []string{string(r.State)}
	var done, then []string
	now := ""
	for i := range r.Phases {
		p := &r.Phases[i]
		switch {
		case !p.Ended.IsZero():
			done = append(done, p.String())
		case now == "":
			now = p.String()
		default:
			then = append(then, p.String())
		}
	}
	add := func(key, value string) {
		if value != "" {
			words = append(words, key+"="+value)
		}
	}
	add("done", strings.Join(done, ","))
	add("now", now)
	add("then", strings.Join(then, ","))
	if r.Settling {
		words = append(words, "settling")
	}
	if r.Cause != "" {
		add("cause", quote(r.Cause))
		add("next", quote(r.Next))
	}
	if r.Listed {
		words = append(words, "listed")
	}
	return strings.Join(words, " ")
}

// String is the phase's key and its marks.
func (p Phase) String() string {
	s := p.Key()
	if p.Flips {
		s += "!"
	}
	if p.Retires {
		s += "~"
	}
	if !p.Started.IsZero() && p.Ended.IsZero() {
		s += "*"
	}
	return s
}

// String is one line of the journal.
func (a Applied) String() string {
	by := a.By
	if by == "" {
		by = "-"
	}
	return a.At.UTC().Format(time.RFC3339) + " " + by + " " + a.Event + " → " + string(a.State)
}
