package highlight

// automaton finds where a sentence, or a word, ends: by a table of states and of kinds of
// characters.
type automaton struct {
	kind func(rune) int
	// steps are the next states, as letters from 'a', of each state by kind. stopLast and
	// stopMark end the way.
	steps []string
	// does is what it means to come to a state, by state: whether here is an end, as far as
	// is known, or a mark.
	does string
}

const (
	stopLast = '-' // the end is the last one that was met
	stopMark = '!' // the end is the mark

	isEnd  = '='
	isMark = '?'
)

// next is the first boundary behind a place that is one.
func (a *automaton) next(units []uint16, from int) int {
	state, last, mark := 0, from, from
	for at := from; at < len(units); {
		r, n := characterAt(units, at)
		switch step := a.steps[state][a.kind(r)]; step {
		case stopLast:
			return last
		case stopMark:
			return mark
		default:
			state = int(step - 'a')
		}
		at += n
		switch a.does[state] {
		case isEnd:
			last = at
		case isMark:
			mark = at
		}
	}
	if mark == len(units) {
		return mark
	}
	return last
}

// all are the boundaries of a text, its ends included.
func (a *automaton) all(units []uint16) boundaries {
	list := boundaries{0}
	for at := 0; at < len(units); {
		at = max(a.next(units, at), at+1)
		list = append(list, at)
	}
	return list
}

// boundaries are ascending places. The first is 0, and the last the end of the text.
type boundaries []int

// before is the last one before a place; the first one if there is none.
func (b boundaries) before(at int) int {
	low, high := 0, len(b) // b[:low] are before at, b[high:] are not
	for low < high {
		if middle := (low + high) / 2; b[middle] < at {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return b[max(low-1, 0)]
}

// after is the first one behind a place; ok is false when there is none.
func (b boundaries) after(at int) (next int, ok bool) {
	low, high := 0, len(b)
	for low < high {
		if middle := (low + high) / 2; b[middle] <= at {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == len(b) {
		return 0, false
	}
	return b[low], true
}
