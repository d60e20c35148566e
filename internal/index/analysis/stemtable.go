package analysis

import (
	"embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Stemmers whose endings are tables: what an algorithm knows of a language stands in
// stems/LANGUAGE.txt, and the order of its steps in code.
//
//	step NAME [longest] [within R1] [least N] [only a b]
//	WHERE ending ending=other ^word=other … [| stem ^stem …] [|+ stem …] [|=instead stem …]
//
// WHERE is how many letters must stand before the ending, or the region (R1, R2, RV) that
// it must be in. An ending is removed, or replaced by other; ^ is for the whole word, and *
// for any. After |, the rule does not apply when what is before the ending is, or ends in,
// one of the stems; after |=, it then puts instead in the place of the ending.
//
// Rules are tried in their order, and the first that applies ends the step. In a step that
// is longest, the longest ending of the word (of a region, after within) decides alone,
// as in Snowball's among. Words that are shorter than least letters, or do not end in one
// of only, are left alone.

//go:embed stems/*.txt
var stemFiles embed.FS

// stemTable are the steps of one language. Immutable.
type stemTable map[string]*stemStep

type stemStep struct {
	longest bool
	within  int // the region that endings must lie in; noRegion: none
	least   int
	only    [][]rune
	rules   map[rune][]stemRule // by the last letter of the ending, in their order
}

type stemRule struct {
	ending, to []rune
	whole      bool // of the word
	least      int  // letters before the ending
	region     int  // where the ending must be
	stems      []stemCondition
	instead    []rune
	mode       byte // what the stems do: '|', '+' or '='
}

type stemCondition struct {
	stem  []rune
	whole bool
}

// The regions of words.
const (
	noRegion = iota
	region1
	region2
	regionV
)

var regionNames = map[string]int{"R1": region1, "R2": region2, "RV": regionV}

// regions are the places where the regions begin.
type regions [4]int

func loadStems(name string) stemTable {
	text, err := stemFiles.ReadFile("stems/" + name + ".txt")
	if err != nil {
		panic(err) // the files are part of the program
	}
	table := stemTable{}
	var step *stemStep
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.HasPrefix(line, "#"):
		case words[0] == "step":
			step = newStemStep(words[2:])
			table[words[1]] = step
		default:
			step.add(words)
		}
	}
	for _, step := range table {
		step.order()
	}
	return table
}

func newStemStep(options []string) *stemStep {
	s := &stemStep{rules: map[rune][]stemRule{}}
	for i := 0; i < len(options); i++ {
		switch options[i] {
		case "longest":
			s.longest = true
		case "within":
			i++
			s.within = regionNames[options[i]]
		case "least":
			i++
			s.least, _ = strconv.Atoi(options[i])
		case "only":
			for _, ending := range options[i+1:] {
				s.only = append(s.only, []rune(ending))
			}
			return s
		}
	}
	return s
}

// add reads a line of rules.
func (s *stemStep) add(words []string) {
	var base stemRule
	if base.region = regionNames[words[0]]; base.region == noRegion {
		base.least, _ = strconv.Atoi(words[0])
	}
	endings := words[1:]
	if bar := slices.IndexFunc(endings, func(word string) bool { return word[0] == '|' }); bar >= 0 {
		mark := endings[bar] + "|"
		base.mode, base.instead = mark[1], []rune(mark[min(2, len(mark)-1):len(mark)-1])
		for _, stem := range endings[bar+1:] {
			rest, whole := strings.CutPrefix(stem, "^")
			if rest == "*" {
				rest = ""
			}
			base.stems = append(base.stems, stemCondition{[]rune(rest), whole})
		}
		endings = endings[:bar]
	}
	for _, word := range endings {
		rule := base
		word, rule.whole = strings.CutPrefix(word, "^")
		ending, to, _ := strings.Cut(word, "=")
		rule.ending, rule.to = []rune(ending), []rune(to)
		last := rule.ending[len(rule.ending)-1]
		s.rules[last] = append(s.rules[last], rule)
	}
}

// order puts longer endings first where the longest decides.
func (s *stemStep) order() {
	if s.longest {
		for _, rules := range s.rules {
			slices.SortStableFunc(rules, func(a, b stemRule) int { return len(b.ending) - len(a.ending) })
		}
	}
}

// apply is a word after a step, and whether a rule applied.
func (t stemTable) apply(step string, word []rune, at regions) ([]rune, bool) {
	stem, to, ok := t[step].match(word, at)
	if !ok {
		return word, false
	}
	return append(stem, to...), true
}

// after is a word after some steps.
func (t stemTable) after(word []rune, steps ...string) []rune {
	for _, step := range steps {
		word, _ = t.apply(step, word, regions{})
	}
	return word
}

// match finds the rule that applies: what is before the ending, and what comes after that.
func (s *stemStep) match(word []rune, at regions) (stem, to []rune, ok bool) {
	if len(word) == 0 || len(word) < s.least || len(s.only) > 0 && !endsInOneOf(word, s.only) {
		return nil, nil, false
	}
	rules := s.rules[word[len(word)-1]]
	for i := range rules {
		stem, ends := cutEnding(word, rules[i].ending)
		if !ends || s.within != noRegion && len(stem) < at[s.within] {
			continue
		}
		if to, ok = rules[i].fits(stem, at); ok {
			return stem, to, true
		}
		if s.longest {
			break
		}
	}
	return nil, nil, false
}

// fits tells whether the rule applies behind what is before its ending, and what it puts there.
func (r *stemRule) fits(stem []rune, at regions) (to []rune, ok bool) {
	if r.whole && len(stem) > 0 || len(stem) < r.least || r.region != noRegion && len(stem) < at[r.region] {
		return nil, false
	}
	if len(r.stems) == 0 {
		return r.to, true
	}
	among := r.among(stem)
	switch r.mode {
	case '=':
		if among {
			return r.instead, true
		}
		return r.to, true
	case '+':
		return r.to, among
	}
	return r.to, !among
}

func (r *stemRule) among(stem []rune) bool {
	for _, c := range r.stems {
		if c.whole && slices.Equal(stem, c.stem) || !c.whole && endsIn(stem, c.stem) {
			return true
		}
	}
	return false
}

// cutEnding gives the word without its ending; what is appended to it overwrites the word.
func cutEnding(word, ending []rune) ([]rune, bool) {
	if !endsIn(word, ending) {
		return word, false
	}
	return word[:len(word)-len(ending)], true
}

func endsIn(word, ending []rune) bool {
	n := len(word) - len(ending)
	return n >= 0 && slices.Equal(word[n:], ending)
}

func endsInOneOf(word []rune, endings [][]rune) bool {
	return slices.ContainsFunc(endings, func(ending []rune) bool { return endsIn(word, ending) })
}

// endsInOne tells whether the word ends in one of a few endings.
func endsInOne(word []rune, endings ...string) bool {
	for _, ending := range endings {
		if n := utf8.RuneCountInString(ending); len(word) >= n && string(word[len(word)-n:]) == ending {
			return true
		}
	}
	return false
}

// byTable is a stemmer with the table of a language, which is read at the first word.
func byTable(language string, stem func(t stemTable, word []rune) []rune) stemmer {
	table := sync.OnceValue(func() stemTable { return loadStems(language) })
	return onLetters(func(word []rune) []rune { return stem(table(), word) })
}

// onLetters is a stemmer of a function that may change the letters that it is given.
func onLetters(stem func(word []rune) []rune) stemmer {
	return func(s *stream, term []byte) []byte {
		return s.keep([]byte(string(stem([]rune(string(term))))))
	}
}

// letters maps those of a word.
func letters(word []rune, from, to string) []rune {
	after := []rune(to)
	for i, r := range []rune(from) {
		for j := range word {
			if word[j] == r {
				word[j] = after[i]
			}
		}
	}
	return word
}

// after is the place after the first letter at or after i of which in is true, or -1.
func after(word []rune, i int, in func(rune) bool) int {
	if i < 0 {
		return -1
	}
	for ; i < len(word); i++ {
		if in(word[i]) {
			return i + 1
		}
	}
	return -1
}

func oneOf(set string) func(rune) bool {
	return func(r rune) bool { return strings.ContainsRune(set, r) }
}

func not(in func(rune) bool) func(rune) bool { return func(r rune) bool { return !in(r) } }

// usualRegions are R1 and R2 of Snowball: behind the first vowel and what follows it that
// is none, and the same again.
func usualRegions(word []rune, vowel func(rune) bool) regions {
	n := len(word)
	at := regions{0, n, n, n}
	if p := after(word, after(word, 0, vowel), not(vowel)); p >= 0 {
		at[region1] = p
		if p = after(word, after(word, p, vowel), not(vowel)); p >= 0 {
			at[region2] = p
		}
	}
	return at
}
