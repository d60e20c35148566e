package automaton

import (
	"errors"
	"strconv"
	"strings"
	"unicode"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// Flags are the parts of the syntax that can be switched off.
type Flags uint8

const (
	flagIntersection Flags = 1 << iota // &
	flagComplement                     // ~
	flagEmpty                          // #
	flagAnyString                      // @
	flagNamed                          // <name>, of which there are none
	flagInterval                       // <1-5>
	AllFlags         Flags = 1<<iota - 1
)

var flagNames = map[string]Flags{
	"INTERSECTION": flagIntersection, "COMPLEMENT": flagComplement, "EMPTY": flagEmpty,
	"ANYSTRING": flagAnyString, "INTERVAL": flagInterval, "NONE": 0, "ALL": AllFlags,
}

// ReadFlags reads names between |; nothing means all.
func ReadFlags(text string) (flags Flags, err error) {
	if text == "" {
		return AllFlags, nil
	}
	for name := range strings.SplitSeq(text, "|") {
		flag, ok := flagNames[strings.ToUpper(name)]
		if !ok {
			return 0, exception.New(exception.IllegalArgument, "Unknown regexp flag [%s]", name)
		}
		if flag == AllFlags {
			return AllFlags, nil
		}
		flags |= flag
	}
	return flags, nil
}

// Regexp accepts what a regular expression of Lucene means; the whole term must. The
// syntax is that of the class RegExp of Lucene 9.12: any of its characters may stand
// where no other meaning is possible. Limit is max_determinized_states.
func Regexp(text string, flags Flags, fold bool, limit int) (*Words, error) {
	w, err := readRegexp(text, flags, fold, limit)
	var complex *tooComplex
	if errors.As(err, &complex) {
		return nil, exception.New(exception.TooComplex, "Determinizing %s would require more than %d effort.", text, complex.limit)
	}
	return w, err
}

func readRegexp(text string, flags Flags, fold bool, limit int) (*Words, error) {
	p := &regexpParser{text: []rune(text), flags: flags, fold: fold, limit: limit, built: &nfa{}}
	start := p.built.add()
	last := start
	if len(p.text) > 0 {
		whole, err := p.union()
		if err != nil {
			return nil, err
		}
		if p.at < len(p.text) {
			return nil, p.expected("end-of-string expected at position %d", p.at)
		}
		p.built.skip(start, whole.start)
		last = whole.end
	}
	p.built.value[last] = 1
	d, err := p.built.determine(limit)
	if err != nil {
		return nil, err
	}
	return newWords(d), nil
}

// regexpParser builds one automaton, part by part: each part is between two states.
type regexpParser struct {
	text  []rune
	at    int
	flags Flags
	fold  bool
	limit int
	depth int
	built *nfa
}

// part of an automaton, with one state where it starts and one where it ends, into which
// and out of which nothing else goes.
type part struct{ start, end int }

// maxDepth is how deep brackets may be inside one another.
const maxDepth = 1000

func (p *regexpParser) expected(format string, at int) error {
	return exception.New(exception.IllegalArgument, format, at)
}

func (p *regexpParser) has(flag Flags) bool { return p.flags&flag != 0 }

func (p *regexpParser) more() bool { return p.at < len(p.text) }

// peek reports whether the next character is one of some.
func (p *regexpParser) peek(any string) bool {
	return p.more() && strings.ContainsRune(any, p.text[p.at])
}

// match takes the next character if it is r.
func (p *regexpParser) match(r rune) bool {
	if p.more() && p.text[p.at] == r {
		p.at++
		return true
	}
	return false
}

func (p *regexpParser) next() (rune, error) {
	if !p.more() {
		return 0, exception.New(exception.IllegalArgument, "unexpected end-of-string")
	}
	p.at++
	return p.text[p.at-1], nil
}

// room refuses automata that grow without bound, by repetitions of repetitions.
func (p *regexpParser) room(states int) error {
	if n := len(p.built.edges) + states; n > 20*MaxEffort && n > 20*p.limit {
		return &tooComplex{p.limit}
	}
	return nil
}

// path is a part with one edge.
func (p *regexpParser) path(least, greatest rune) part {
	made := part{p.built.add(), p.built.add()}
	p.built.link(made.start, least, greatest, made.end)
	return made
}

// letter is a part for a character, in both cases if told so.
func (p *regexpParser) letter(r rune) part {
	made := p.path(r, r)
	if other := otherCase(r); p.fold && other != r {
		p.built.link(made.start, other, other, made.end)
	}
	return made
}

func (p *regexpParser) string(text []rune) part {
	made := part{p.built.add(), 0}
	made.end = p.built.text(made.start, string(text), p.fold)
	if made.end == made.start {
		made.end = p.built.add()
		p.built.skip(made.start, made.end)
	}
	return made
}

func (p *regexpParser) union() (part, error) {
	if p.depth++; p.depth > maxDepth {
		return part{}, &tooComplex{p.limit}
	}
	defer func() { p.depth-- }()
	first := len(p.built.edges)
	made, err := p.intersection()
	if err != nil || !p.match('|') {
		return made, err
	}
	parts := []part{made}
	for {
		if made, err = p.intersection(); err != nil {
			return made, err
		}
		if parts = append(parts, made); !p.match('|') {
			return p.either(parts, first), nil
		}
	}
}

func (p *regexpParser) intersection() (part, error) {
	first := len(p.built.edges)
	made, err := p.concatenation()
	for err == nil && p.has(flagIntersection) && p.match('&') {
		second := len(p.built.edges)
		var other part
		if other, err = p.concatenation(); err != nil {
			break
		}
		made, err = p.both(made, other, first, second)
	}
	return made, err
}

func (p *regexpParser) concatenation() (part, error) {
	made, err := p.repetition()
	for err == nil && p.more() && !p.peek(")|") && (!p.has(flagIntersection) || !p.peek("&")) {
		var next part
		if next, err = p.repetition(); err == nil {
			p.built.skip(made.end, next.start)
			made.end = next.end
		}
	}
	return made, err
}

func (p *regexpParser) repetition() (part, error) {
	first := len(p.built.edges)
	made, err := p.complement()
	for err == nil && p.peek("?*+{") {
		r, _ := p.next()
		switch r {
		case '?':
			made, err = p.repeat(made, first, 0, 1)
		case '*':
			made, err = p.repeat(made, first, 0, -1)
		case '+':
			made, err = p.repeat(made, first, 1, -1)
		default:
			var least, most int
			if least, most, err = p.counts(); err == nil {
				made, err = p.repeat(made, first, least, most)
			}
		}
	}
	return made, err
}

// counts reads {n}, {n,} and {n,m} behind the bracket.
func (p *regexpParser) counts() (least, most int, err error) {
	digits := p.digits()
	if digits == "" {
		return 0, 0, p.expected("integer expected at position %d", p.at)
	}
	if least, err = java.Int(digits); err != nil {
		return 0, 0, err
	}
	most = least
	if p.match(',') {
		if most, digits = -1, p.digits(); digits != "" {
			if most, err = java.Int(digits); err != nil {
				return 0, 0, err
			}
		}
	}
	if !p.match('}') {
		return 0, 0, p.expected("expected '}' at position %d", p.at)
	}
	return least, most, nil
}

func (p *regexpParser) digits() string {
	start := p.at
	for p.peek("0123456789") {
		p.at++
	}
	return string(p.text[start:p.at])
}

func (p *regexpParser) complement() (part, error) {
	if !p.has(flagComplement) || !p.match('~') {
		return p.class()
	}
	if p.depth++; p.depth > maxDepth {
		return part{}, &tooComplex{p.limit}
	}
	defer func() { p.depth-- }()
	first := len(p.built.edges)
	made, err := p.complement()
	if err != nil {
		return made, err
	}
	return p.not(made, first)
}

// class reads [...], or something simple.
func (p *regexpParser) class() (part, error) {
	if !p.match('[') {
		return p.simple()
	}
	negated := p.match('^')
	var ranges []edge
	for first := true; first || p.more() && !p.peek("]"); first = false {
		of, err := p.classPart()
		if err != nil {
			return part{}, err
		}
		ranges = append(ranges, of...)
	}
	if !p.match(']') {
		return part{}, p.expected("expected ']' at position %d", p.at)
	}
	return p.anyOf(ranges, negated), nil
}

// anyOf is a part for one character in, or out of, some ranges.
func (p *regexpParser) anyOf(ranges []edge, negated bool) part {
	made := part{p.built.add(), p.built.add()}
	if negated {
		ranges = outside(ranges)
	}
	for _, r := range ranges {
		p.built.link(made.start, r.least, r.greatest, made.end)
	}
	return made
}

// outside is what is in none of some ranges.
func outside(ranges []edge) (others []edge) {
	from := rune(0)
	for _, r := range sortedRanges(ranges) {
		if r.least > from {
			others = append(others, edge{from, r.least - 1, 0})
		}
		from = max(from, r.greatest+1)
	}
	if from <= unicode.MaxRune {
		others = append(others, edge{from, unicode.MaxRune, 0})
	}
	return others
}

func (p *regexpParser) classPart() ([]edge, error) {
	if named, err := p.named(); named != nil || err != nil {
		return named, err
	}
	from, err := p.character()
	if err != nil {
		return nil, err
	}
	if !p.match('-') {
		if other := otherCase(from); p.fold && other != from {
			return []edge{{from, from, 0}, {other, other, 0}}, nil
		}
		return []edge{{from, from, 0}}, nil
	}
	to, err := p.character()
	if err == nil && from > to {
		err = exception.New(exception.IllegalArgument, "invalid range: from (%d) cannot be > to (%d)", from, to)
	}
	return []edge{{from, to, 0}}, err
}

// named reads \d, \s, \w and their opposites.
func (p *regexpParser) named() ([]edge, error) {
	if !p.peek(`\`) || p.at+1 >= len(p.text) {
		return nil, nil
	}
	r := p.text[p.at+1]
	var ranges []edge
	switch unicode.ToLower(r) {
	case 'd':
		ranges = []edge{{'0', '9', 0}}
	case 's':
		ranges = []edge{{'\t', '\n', 0}, {'\r', '\r', 0}, {' ', ' ', 0}}
	case 'w':
		ranges = []edge{{'0', '9', 0}, {'A', 'Z', 0}, {'_', '_', 0}, {'a', 'z', 0}}
	default:
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return nil, exception.New(exception.IllegalArgument, `invalid character class \%d`, r)
		}
		return nil, nil
	}
	p.at += 2
	if unicode.IsUpper(r) {
		ranges = outside(ranges)
	}
	return ranges, nil
}

// character reads one, which \ may stand before.
func (p *regexpParser) character() (rune, error) {
	p.match('\\')
	return p.next()
}

func (p *regexpParser) simple() (part, error) {
	switch {
	case p.match('.'):
		return p.path(0, unicode.MaxRune), nil
	case p.has(flagEmpty) && p.match('#'):
		return part{p.built.add(), p.built.add()}, nil
	case p.has(flagAnyString) && p.match('@'):
		made := p.path(0, unicode.MaxRune)
		p.built.skip(made.start, made.end)
		p.built.link(made.end, 0, unicode.MaxRune, made.end)
		return made, nil
	case p.match('"'):
		return p.quoted()
	case p.match('('):
		return p.group()
	case p.flags&(flagNamed|flagInterval) != 0 && p.match('<'):
		return p.interval()
	}
	if named, err := p.named(); named != nil || err != nil {
		return p.anyOf(named, false), err
	}
	r, err := p.character()
	if err != nil {
		return part{}, err
	}
	return p.letter(r), nil
}

func (p *regexpParser) quoted() (part, error) {
	start := p.at
	for p.more() && !p.peek(`"`) {
		p.at++
	}
	if !p.match('"') {
		return part{}, p.expected(`expected '"' at position %d`, p.at)
	}
	return p.string(p.text[start : p.at-1]), nil
}

func (p *regexpParser) group() (part, error) {
	if p.match(')') {
		return p.string(nil), nil
	}
	made, err := p.union()
	if err == nil && !p.match(')') {
		err = p.expected("expected ')' at position %d", p.at)
	}
	return made, err
}

// interval reads <n-m> behind the bracket.
func (p *regexpParser) interval() (part, error) {
	start := p.at
	for p.more() && !p.peek(">") {
		p.at++
	}
	if !p.match('>') {
		return part{}, p.expected("expected '>' at position %d", p.at)
	}
	text := string(p.text[start : p.at-1])
	least, greatest, ok := strings.Cut(text, "-")
	switch {
	case !ok && !p.has(flagNamed):
		return part{}, p.expected("interval syntax error at position %d", p.at-1)
	case !ok:
		return part{}, exception.New(exception.IllegalArgument, "'%s' not found", text)
	case !p.has(flagInterval):
		return part{}, p.expected("illegal identifier at position %d", p.at-1)
	}
	from, errFrom := strconv.ParseInt(least, 10, 32)
	to, errTo := strconv.ParseInt(greatest, 10, 32)
	if errFrom != nil || errTo != nil || from < 0 {
		return part{}, p.expected("interval syntax error at position %d", p.at-1)
	}
	width := 0
	if len(least) == len(greatest) {
		width = len(least)
	}
	return p.decimals(min(from, to), max(from, to), width), nil
}
