package analysis

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// javaRegexp is a regular expression that finds what Java's does.
type javaRegexp struct {
	first *regexp.Regexp
	later *regexp.Regexp // after the beginning of a text, where ^ never holds
}

// compile reads a regular expression of Java's dialect; see javaPattern.
func (p *part) compile(pattern, flags string) *javaRegexp {
	bits, ok := patternFlags(flags)
	if !ok {
		p.illegal("Unknown regex flag [%s]", flags)
		return nil
	}
	return p.compileAs(pattern, bits, "%s")
}

// wholePattern matches a term as a whole.
func (p *part) wholePattern(pattern string) *javaRegexp {
	return p.compileAs(pattern, 0, `\A(?:%s)\z`)
}

func (p *part) compileAs(pattern string, bits int, frame string) *javaRegexp {
	translated, anchored, err := javaPattern(pattern, bits)
	if err != nil {
		p.fail(err)
		return nil
	}
	first, problem := regexp.Compile(strings.ReplaceAll(fmt.Sprintf(frame, translated), anchor, `\A`))
	if problem != nil {
		p.illegal("pattern [%s] is not supported", pattern)
		return nil
	}
	compiled := &javaRegexp{first, first}
	if anchored {
		compiled.later = regexp.MustCompile(strings.ReplaceAll(fmt.Sprintf(frame, translated), anchor, `[^\x00-\x{10ffff}]`))
	}
	return compiled
}

// anchor stands for ^ in a translated pattern.
const anchor = "\x00^\x00"

// find is the first match from a place on.
func (r *javaRegexp) find(text []byte, from int) []int {
	if from == 0 {
		return r.first.FindSubmatchIndex(text)
	}
	match := r.later.FindSubmatchIndex(text[from:])
	for i := range match {
		if match[i] >= 0 {
			match[i] += from
		}
	}
	return match
}

// replacement is the text that takes a match's place, taken apart: text, then a group,
// in turns.
type replacement struct {
	texts  []string
	groups []int
}

// newReplacement reads a replacement as Java's Matcher does: $1, ${name}, \ before what
// stands for itself.
func (p *part) newReplacement(text string, pattern *javaRegexp) replacement {
	var r replacement
	if pattern == nil {
		return r
	}
	var plain strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			plain.WriteByte(text[i])
		case c == '\\':
			p.illegal("character to be escaped is missing")
		case c == '$':
			group, end := groupAt(text, i+1, pattern)
			if group < 0 {
				p.illegal("group reference in replacement [%s] is not supported", text)
				return r
			}
			r.texts, r.groups = append(r.texts, plain.String()), append(r.groups, group)
			plain.Reset()
			i = end - 1
		default:
			plain.WriteByte(c)
		}
	}
	r.texts = append(r.texts, plain.String())
	return r
}

// groupAt reads a group of the pattern: as many digits as name one, or a name in braces.
func groupAt(text string, i int, pattern *javaRegexp) (group, end int) {
	if i < len(text) && text[i] == '{' {
		name, _, ok := strings.Cut(text[i+1:], "}")
		if !ok || pattern.first.SubexpIndex(name) < 0 {
			return -1, i
		}
		return pattern.first.SubexpIndex(name), i + len(name) + 2
	}
	group = -1
	for ; i < len(text) && text[i] >= '0' && text[i] <= '9'; i++ {
		longer := max(group, 0)*10 + int(text[i]-'0')
		if longer > pattern.first.NumSubexp() {
			break
		}
		group = longer
	}
	return group, i
}

// expand appends the replacement of a match.
func (r replacement) expand(dst, text []byte, match []int) []byte {
	for i, plain := range r.texts {
		dst = append(dst, plain...)
		if i == len(r.groups) {
			break
		}
		if from, to := match[2*r.groups[i]], match[2*r.groups[i]+1]; from >= 0 {
			dst = append(dst, text[from:to]...)
		}
	}
	return dst
}

// patternReplace is a filter that rewrites terms.
type patternReplace struct {
	pattern *javaRegexp
	with    replacement
	all     bool
}

func newPatternReplace(p *part) filter {
	if !p.has("pattern") {
		p.illegal("pattern is missing for [%s] token filter of type 'pattern_replace'", p.name)
		return nothing{}
	}
	f := patternReplace{pattern: p.compile(p.text("pattern", ""), p.text("flags", "")), all: p.boolean("all", true)}
	f.with = p.newReplacement(p.text("replacement", ""), f.pattern)
	return f
}

func (f patternReplace) filter(s *stream) {
	limit := -1
	if !f.all {
		limit = 1
	}
	for i := range s.tokens {
		t := &s.tokens[i]
		matches := javaMatches(f.pattern, t.Term, limit)
		if len(matches) == 0 {
			continue
		}
		var out []byte
		last := 0
		for _, match := range matches {
			out = append(out, t.Term[last:match[0]]...)
			out = f.with.expand(out, t.Term, match)
			last = match[1]
		}
		t.Term = append(out, t.Term[last:]...)
	}
}

// javaMatches finds all matches as Java's Matcher.find does: unlike Go, it finds an empty
// match right after one that is not.
func javaMatches(pattern *javaRegexp, text []byte, limit int) [][]int {
	var all [][]int
	for from := 0; from <= len(text) && (limit < 0 || len(all) < limit); {
		match := pattern.find(text, from)
		if match == nil {
			break
		}
		all = append(all, match)
		from = match[1]
		if match[0] == match[1] {
			_, size := utf8.DecodeRune(text[from:])
			from += max(size, 1)
		}
	}
	return all
}

// patternCapture puts the groups of patterns beside the term, or in its place.
type patternCapture struct {
	patterns []*javaRegexp
	keep     bool
}

func newPatternCapture(p *part) filter {
	patterns, ok := p.values["patterns"]
	if !ok {
		p.illegal("required setting 'patterns' is missing for token filter [%s]", p.name)
	}
	f := patternCapture{keep: p.boolean("preserve_original", true)}
	for _, pattern := range patterns {
		f.patterns = append(f.patterns, p.compile(pattern, ""))
	}
	return f
}

func (f patternCapture) filter(s *stream) {
	s.spread(func(t *Token) {
		from := len(s.spare)
		if f.keep {
			s.spare = append(s.spare, *t)
		}
		for _, part := range f.parts(t.Term, f.keep) {
			token := *t
			token.Term = part
			s.spare = append(s.spare, token)
		}
		if len(s.spare) == from {
			s.spare = append(s.spare, *t)
		}
	})
}

// parts are what the patterns find in a term: of their next findings always the one that
// begins first, and of those that begin together that of the first pattern.
func (f patternCapture) parts(term []byte, keep bool) [][]byte {
	found := make([][][2]int, len(f.patterns))
	for i, pattern := range f.patterns {
		found[i] = pattern.groups(term, keep)
	}
	var parts [][]byte
	for {
		best := -1
		for i := range found {
			if len(found[i]) > 0 && (best < 0 || found[i][0][0] < found[best][0][0]) {
				best = i
			}
		}
		if best < 0 {
			return parts
		}
		parts = append(parts, term[found[best][0][0]:found[best][0][1]])
		found[best] = found[best][1:]
	}
}

// groups are the groups of all matches that are not empty; of a pattern without groups
// the matches. Those that are the whole term are left out when that is kept anyway.
func (r *javaRegexp) groups(term []byte, keep bool) [][2]int {
	var all [][2]int
	for _, match := range javaMatches(r, term, -1) {
		for group := min(1, r.first.NumSubexp()); 2*group < len(match); group++ {
			from, to := match[2*group], match[2*group+1]
			if from >= 0 && to > from && (!keep || from > 0 || to < len(term)) {
				all = append(all, [2]int{from, to})
			}
		}
	}
	return all
}

// patternTokenizer splits at matches, or takes a group of each match.
type patternTokenizer struct {
	pattern *javaRegexp
	group   int // -1: what is between matches
}

func newPatternTokenizer(p *part) tokenizer {
	f := patternTokenizer{p.compile(p.text("pattern", `\W+`), p.text("flags", "")), p.number("group", -1)}
	if p.err == nil && f.group > f.pattern.first.NumSubexp() {
		p.illegal("invalid group specified: pattern only has: %d capturing groups", f.pattern.first.NumSubexp())
	}
	return f
}

func (f patternTokenizer) tokenize(s *stream) {
	last := 0
	for _, match := range javaMatches(f.pattern, s.text, -1) {
		if f.group >= 0 {
			if from, to := match[2*f.group], match[2*f.group+1]; to > from {
				s.part(from, to, typeWord)
			}
			continue
		}
		if match[0] > last {
			s.part(last, match[0], typeWord)
		}
		last = match[1]
	}
	if f.group < 0 && last < len(s.text) {
		s.part(last, len(s.text), typeWord)
	}
}

// patternRewrite is a char filter that replaces matches.
type patternRewrite struct {
	pattern *javaRegexp
	with    replacement
}

func newPatternRewrite(p *part) charFilter {
	if p.text("pattern", "") == "" {
		p.illegal("pattern is missing for [%s] char filter of type 'pattern_replace'", p.name)
		return nil
	}
	f := patternRewrite{pattern: p.compile(p.text("pattern", ""), p.text("flags", ""))}
	f.with = p.newReplacement(p.text("replacement", ""), f.pattern)
	return f
}

func (f patternRewrite) rewrite(text []byte, m *moved) []byte {
	w := rewriter{moved: m}
	last := 0
	for _, match := range javaMatches(f.pattern, text, -1) {
		w.copy(text[last:match[0]])
		w.replace(text[match[0]:match[1]], f.with.expand(nil, text, match))
		last = match[1]
	}
	w.copy(text[last:])
	return w.out
}

// The flags of Java's Pattern that the server reads by name.
const (
	flagCaseless = 1 << iota
	flagDotAll
	flagUnicodeCase
	flagLiteral
	flagOther
)

func patternFlags(text string) (int, bool) {
	bits := 0
	for name := range strings.SplitSeq(text, "|") {
		switch strings.ToUpper(strings.TrimSpace(name)) {
		case "":
		case "CASE_INSENSITIVE":
			bits |= flagCaseless
		case "DOTALL":
			bits |= flagDotAll
		case "UNICODE_CASE":
			bits |= flagUnicodeCase
		case "LITERAL":
			bits |= flagLiteral
		case "MULTILINE", "UNIX_LINES", "CANON_EQ", "COMMENTS", "UNICODE_CHAR_CLASS", "UNICODE_CHARACTER_CLASS":
			bits |= flagOther
		default:
			return 0, false
		}
	}
	return bits, true
}

func badPattern(what, pattern string, at int) *exception.Error {
	reason := what + " near index " + strconv.Itoa(at) + "\n" + pattern
	if at >= 0 && at < len(pattern) {
		reason += "\n" + strings.Repeat(" ", at) + "^"
	}
	return exception.New(exception.PatternSyntax, "%s", reason)
}
