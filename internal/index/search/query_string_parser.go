package search

import (
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// maxDepth is how deep brackets may be inside one another.
const maxDepth = 1000

// written is a part of a query_string: several parts, or one.
type written struct {
	parts []writtenPart // of several; nil: one
	alone bool          // the first part stood without a sign

	field    string // "": that of the whole
	hasField bool
	kind     lexeme // of one: lexTerm, lexQuoted, lexStar, lexPrefix, lexWild, lexRegexp, or lexRangeFrom
	text     string
	to       string  // of a range
	ends     [2]bool // of a range: whether its ends are included
	open     [2]bool // of a range: whether it has no end there
	tilde    string  // ~ and what follows
	boost    float32
}

// writtenPart is one of several parts.
type writtenPart struct {
	conjunction lexeme // lexAnd, lexOr; lexEnd: none
	sign        lexeme // lexPlus, lexMinus; lexEnd: none
	many        bool   // words side by side, which are analyzed together
	of          *written
}

// readQueryString reads the syntax of query_string: that of Lucene's classic query parser.
// The error is an *exception.Error with Lucene's words.
func readQueryString(text string) (*written, error) {
	p := &stringParser{lexer: lexer{text: text, state: lexingQuery}}
	q, err := p.query("", false)
	if err != nil {
		return nil, err
	}
	if t, err := p.peek(0); err != nil {
		return nil, err
	} else if t.kind != lexEnd {
		return nil, p.unexpected(t, p.behind(lexEnd))
	}
	return q, nil
}

// stringParser reads tokens with some lookahead.
type stringParser struct {
	lexer lexer
	ahead []lexed
	depth int
	more  []lexeme // what the last clause could have gone on with
}

// peek is a token that comes, 0 the next.
func (p *stringParser) peek(n int) (lexed, error) {
	for len(p.ahead) <= n {
		t, err := p.lexer.next()
		if err != nil {
			return lexed{}, err
		}
		p.ahead = append(p.ahead, t)
	}
	return p.ahead[n], nil
}

func (p *stringParser) take() { p.ahead = p.ahead[:copy(p.ahead, p.ahead[1:])] }

// accept takes the next token if it is of a kind.
func (p *stringParser) accept(kind lexeme) (lexed, bool, error) {
	t, err := p.peek(0)
	if err != nil || t.kind != kind {
		return t, false, err
	}
	p.take()
	return t, true, nil
}

// unexpected tells what stands where something else was expected.
func (p *stringParser) unexpected(t lexed, expected []lexeme, again ...lexeme) error {
	var b strings.Builder
	b.WriteString(`Encountered "`)
	if t.kind == lexEnd {
		b.WriteString("<EOF>")
	} else {
		b.WriteString(" " + lexemeNames[t.kind] + ` "` + lexicalEscapes.Replace(t.text) + ` "`)
	}
	b.WriteString(`" at line 1, column ` + strconv.Itoa(utf16Length(p.lexer.text[:t.at])) + ".\nWas expecting")
	if len(expected)+len(again) > 1 {
		b.WriteString(" one of")
	}
	b.WriteString(":\n    ")
	slices.Sort(expected)
	for _, kind := range append(expected, again...) {
		b.WriteString(lexemeNames[kind])
		if kind != lexEnd {
			b.WriteString(" ...")
		} else {
			b.WriteString(" ")
		}
		b.WriteString("\n    ")
	}
	return exception.New(exception.OpenSearchParse, "%s", b.String()).Plainly()
}

var (
	clauseStarts = []lexeme{lexBare, lexOpen, lexStar, lexQuoted, lexTerm, lexPrefix, lexWild, lexRegexp, lexRangeFrom, lexRangeOut, lexNumber}
	signs        = []lexeme{lexNot, lexPlus, lexMinus}
)

// behind is what may stand behind a clause: the end, or another clause.
func (p *stringParser) behind(end lexeme) []lexeme {
	return slices.Concat([]lexeme{end, lexAnd, lexOr}, signs, clauseStarts, p.more)
}

// query reads clauses up to the end or a bracket.
func (p *stringParser) query(field string, has bool) (*written, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, exception.New(exception.IllegalArgument, "a query_string with more than %d brackets in one another is not supported by this version of reshelve", maxDepth)
	}
	defer func() { p.depth-- }()
	q := &written{boost: 1}
	for first := true; ; first = false {
		many, err := p.words(field, has)
		if err != nil {
			return nil, err
		}
		if many != nil {
			q.parts = append(q.parts, writtenPart{many: true, of: many})
			q.alone = q.alone || first
			continue
		}
		part, ok, err := p.part(field, has, first)
		if err != nil {
			return nil, err
		}
		if !ok {
			return q, nil
		}
		q.parts = append(q.parts, part)
		q.alone = q.alone || first && part.sign == lexEnd
	}
}

// words reads terms side by side: at least two, each but the first followed by what leaves
// it a word alone.
func (p *stringParser) words(field string, has bool) (*written, error) {
	q := &written{field: field, hasField: has, kind: lexTerm, boost: 1}
	var texts []string
	for {
		t, err := p.peek(0)
		if err != nil {
			return nil, err
		}
		if t.kind != lexTerm {
			break
		}
		n := 1 // where the token stands that follows a word
		if len(texts) == 0 {
			second, err := p.peek(1)
			if err != nil || second.kind != lexTerm {
				return nil, nil //nolint:nilerr // told when it is reached
			}
			n = 2
		}
		next, err := p.peek(n)
		if err != nil {
			return nil, err
		}
		if slices.Contains([]lexeme{lexColon, lexStar, lexTilde, lexCaret, lexAnd, lexOr}, next.kind) {
			break
		}
		for range n {
			texts = append(texts, p.ahead[0].text)
			p.take()
		}
	}
	if len(texts) == 0 {
		return nil, nil
	}
	p.more = nil
	text, err := unescape(strings.Join(texts, " "))
	q.text = text
	return q, err
}

// part reads a conjunction, a sign and a clause; ok is false where none begins.
func (p *stringParser) part(field string, has, first bool) (part writtenPart, ok bool, err error) {
	t, err := p.peek(0)
	if err != nil {
		return part, false, err
	}
	if !first && (t.kind == lexAnd || t.kind == lexOr) {
		part.conjunction = t.kind
		p.take()
	}
	if t, err = p.peek(0); err != nil {
		return part, false, err
	}
	starts := slices.Concat(signs, clauseStarts)
	again := []lexeme{lexTerm}
	if part.conjunction != lexEnd {
		again = append(again, lexStar)
	}
	switch t.kind {
	case lexPlus:
		part.sign = lexPlus
	case lexMinus, lexNot:
		part.sign = lexMinus
	}
	if part.sign != lexEnd {
		p.take()
		if t, err = p.peek(0); err != nil {
			return part, false, err
		}
		starts, again = slices.Clone(clauseStarts), []lexeme{lexTerm, lexStar}
	}
	if !slices.Contains(clauseStarts, t.kind) {
		if !first && part.conjunction == lexEnd && part.sign == lexEnd {
			return part, false, nil
		}
		return part, false, p.unexpected(t, starts, again...)
	}
	part.of, err = p.clause(field, has)
	return part, true, err
}

// clause reads a field, if there is one, and what is looked for in it.
func (p *stringParser) clause(field string, has bool) (*written, error) {
	t, err := p.peek(0)
	if err != nil {
		return nil, err
	}
	if t.kind == lexTerm || t.kind == lexStar {
		colon, err := p.peek(1)
		if err != nil {
			return nil, err
		}
		if colon.kind == lexColon {
			if field, err = unescape(t.text); err != nil {
				return nil, err
			}
			has = true
			p.take()
			p.take()
			if t, err = p.peek(0); err != nil {
				return nil, err
			}
			if !slices.Contains(clauseStarts, t.kind) {
				return nil, p.unexpected(t, slices.Clone(clauseStarts))
			}
		}
	}
	if t.kind != lexOpen {
		return p.term(field, has)
	}
	p.take()
	q, err := p.query(field, has)
	if err != nil {
		return nil, err
	}
	if t, ok, err := p.accept(lexClose); err != nil {
		return nil, err
	} else if !ok {
		return nil, p.unexpected(t, p.behind(lexClose))
	}
	p.more = []lexeme{lexCaret}
	return q, p.boost(q)
}

// boost reads ^ and a number.
func (p *stringParser) boost(q *written) error {
	if _, ok, err := p.accept(lexCaret); err != nil || !ok {
		return err
	}
	t, ok, err := p.accept(lexNumber)
	if err != nil {
		return err
	}
	if !ok {
		return p.unexpected(t, []lexeme{lexNumber})
	}
	p.more = slices.DeleteFunc(p.more, func(kind lexeme) bool { return kind == lexCaret })
	boost, err := strconv.ParseFloat(t.text, 32)
	if err == nil {
		q.boost *= float32(boost)
	}
	return nil
}

// term reads a word, a phrase, a range …, with ~ and ^ in either order.
func (p *stringParser) term(field string, has bool) (*written, error) {
	t, err := p.peek(0)
	if err != nil {
		return nil, err
	}
	p.take()
	q := &written{field: field, hasField: has, kind: t.kind, boost: 1}
	if t.kind == lexRangeFrom || t.kind == lexRangeOut {
		if err := p.bounds(q); err != nil {
			return nil, err
		}
		p.more = []lexeme{lexCaret}
		return q, p.boost(q)
	}
	switch t.kind {
	case lexBare:
		q.kind, q.text = lexTerm, t.text[:1]
	case lexPrefix:
		q.text, err = unescape(t.text[:len(t.text)-1])
	case lexRegexp:
		q.text = t.text[1 : len(t.text)-1]
	case lexQuoted:
		q.text, err = unescape(t.text[1 : len(t.text)-1])
	case lexStar, lexWild:
		q.text = t.text
	default:
		q.kind = lexTerm
		q.text, err = unescape(t.text)
	}
	if err != nil {
		return nil, err
	}
	p.more = []lexeme{lexCaret, lexTilde}
	return q, p.suffixes(q)
}

// suffixes reads ^ and ~ behind a term, each once.
func (p *stringParser) suffixes(q *written) error {
	before := q.boost
	if err := p.boost(q); err != nil {
		return err
	}
	boosted := len(p.more) == 1 || q.boost != before
	t, ok, err := p.accept(lexTilde)
	if err != nil || !ok {
		return err
	}
	q.tilde = t.text
	if boosted {
		p.more = nil
		return nil
	}
	p.more = []lexeme{lexCaret}
	return p.boost(q)
}

// bounds reads a range behind its bracket.
func (p *stringParser) bounds(q *written) error {
	q.ends[0] = q.kind == lexRangeFrom
	q.kind = lexRangeFrom
	var err error
	if q.text, q.open[0], err = p.bound(); err != nil {
		return err
	}
	if t, ok, err := p.accept(lexTo); err != nil {
		return err
	} else if !ok {
		return p.unexpected(t, []lexeme{lexTo})
	}
	if q.to, q.open[1], err = p.bound(); err != nil {
		return err
	}
	t, err := p.peek(0)
	if err != nil {
		return err
	}
	if t.kind != lexRangeEnd && t.kind != lexRangeEndOut {
		return p.unexpected(t, []lexeme{lexRangeEnd, lexRangeEndOut})
	}
	q.ends[1] = t.kind == lexRangeEnd
	p.take()
	return nil
}

// bound reads one end of a range; open is that of *.
func (p *stringParser) bound() (text string, open bool, err error) {
	t, err := p.peek(0)
	if err != nil {
		return "", false, err
	}
	switch t.kind {
	case lexTo:
		text = t.text
	case lexRangeQuoted:
		text = t.text[1 : len(t.text)-1]
	case lexRangeWord:
		text, open = t.text, t.text == "*"
	default:
		return "", false, p.unexpected(t, []lexeme{lexTo, lexRangeQuoted, lexRangeWord})
	}
	p.take()
	text, err = unescape(text)
	return text, open, err
}

// unescape takes \ away; \u and four digits stand for a character.
func unescape(text string) (string, error) {
	if !strings.Contains(text, `\`) {
		return text, nil
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch {
		case i == len(text):
			return "", parseFailure("Term can not end with escape character.")
		case text[i] != 'u':
			b.WriteByte(text[i])
		default:
			r, err := unicodeEscape(text[i+1:])
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
			i += 4
		}
	}
	return b.String(), nil
}

// unicodeEscape reads four hexadecimal digits.
func unicodeEscape(text string) (rune, error) {
	var r rune
	for n, ch := range text {
		digit := strings.IndexRune("0123456789abcdefABCDEF", ch)
		if digit < 0 {
			return 0, parseFailure("Non-hex character in Unicode escape sequence: " + string(ch))
		}
		if digit > 15 {
			digit -= 6
		}
		if r = r<<4 | rune(digit); n == 3 {
			return r, nil
		}
	}
	return 0, parseFailure("Truncated unicode escape sequence.")
}

func parseFailure(reason string) error {
	return exception.New(exception.OpenSearchParse, "%s", reason).Plainly()
}
