package search

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// lexeme is a kind of token of the syntax of query_string.
type lexeme uint8

// The kinds of tokens, in the order in which the server lists them.
const (
	lexEnd lexeme = iota
	lexAnd
	lexOr
	lexNot
	lexPlus
	lexMinus
	lexBare // one of + - ! before a blank
	lexOpen
	lexClose
	lexColon
	lexStar
	lexCaret
	lexQuoted
	lexTerm
	lexTilde // with what belongs to it
	lexPrefix
	lexWild
	lexRegexp
	lexRangeFrom // [
	lexRangeOut  // {
	lexNumber
	lexTo
	lexRangeEnd    // ]
	lexRangeEndOut // }
	lexRangeQuoted
	lexRangeWord
)

// lexemeNames are as the server tells them.
var lexemeNames = [...]string{
	"<EOF>", "<AND>", "<OR>", "<NOT>", `"+"`, `"-"`, "<BAREOPER>", `"("`, `")"`, `":"`, `"*"`, `"^"`,
	"<QUOTED>", "<TERM>", "<FUZZY_SLOP>", "<PREFIXTERM>", "<WILDTERM>", "<REGEXPTERM>", `"["`, `"{"`, "<NUMBER>",
	`"TO"`, `"]"`, `"}"`, "<RANGE_QUOTED>", "<RANGE_GOOP>",
}

// lexed is a token.
type lexed struct {
	kind lexeme
	text string
	at   int // its first byte
}

// lexer takes a query apart, as the grammar of Lucene's classic query parser says: of all
// tokens that may begin at a place it takes the longest, and of those the first.
type lexer struct {
	text  string
	at    int
	state int // as Lucene numbers them
}

const (
	lexingBoost = iota // behind ^
	lexingRange        // between brackets of a range
	lexingQuery
)

// isBlank are the characters between tokens.
func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == 0x3000 }

// next is the next token. The error is an *exception.Error of type TokenManager.
func (l *lexer) next() (lexed, error) {
	if l.state != lexingBoost {
		for l.at < len(l.text) {
			r, n := utf8.DecodeRuneInString(l.text[l.at:])
			if !isBlank(r) {
				break
			}
			l.at += n
		}
	}
	if l.at == len(l.text) {
		return lexed{kind: lexEnd, at: l.at}, nil
	}
	rest := l.text[l.at:]
	var kind lexeme
	var length int
	switch l.state {
	case lexingBoost:
		kind, length = lexNumber, numberLength(rest)
		l.state = lexingQuery
	case lexingRange:
		kind, length = rangeToken(rest)
		if kind == lexRangeEnd || kind == lexRangeEndOut {
			l.state = lexingQuery
		}
	default:
		kind, length = queryToken(rest)
		switch kind {
		case lexCaret:
			l.state = lexingBoost
		case lexRangeFrom, lexRangeOut:
			l.state = lexingRange
		}
	}
	if length == 0 {
		if kind == lexNumber {
			l.state = lexingBoost // for the error
		}
		return lexed{}, l.fail(kind)
	}
	t := lexed{kind, rest[:length], l.at}
	l.at += length
	return t, nil
}

// fail tells that no token begins here. A quote or a slash that is not closed goes on to
// the end.
func (l *lexer) fail(kind lexeme) error {
	rest := l.text[l.at:]
	where := ""
	if l.state != lexingBoost {
		where = fmt.Sprintf(" (in lexical state %d)", l.state)
	}
	r, n := utf8.DecodeRuneInString(rest)
	unclosed := kind == lexQuoted || kind == lexRegexp
	if !unclosed && n < len(rest) {
		return exception.New(exception.TokenManager, "Lexical error at line 1, column %d.  Encountered: '%d' (%d),%s",
			utf16Length(l.text[:l.at])+1, r, r, where)
	}
	after := ""
	if unclosed && n < len(rest) {
		after = ` after prefix "` + lexicalEscapes.Replace(rest) + `"`
	}
	return exception.New(exception.TokenManager, "Lexical error at line 1, column %d.  Encountered: <EOF>%s%s", utf16Length(l.text)+1, after, where)
}

var lexicalEscapes = strings.NewReplacer("\b", `\b`, "\t", `\t`, "\n", `\n`, "\f", `\f`, "\r", `\r`, `"`, `\"`, `'`, `\'`, `\`, `\\`)

// numberLength is that of digits, and a point with digits behind it.
func numberLength(text string) int {
	digits := func(text string) int {
		n := 0
		for n < len(text) && text[n]-'0' <= 9 {
			n++
		}
		return n
	}
	n := digits(text)
	if n > 0 && n < len(text) && text[n] == '.' {
		if more := digits(text[n+1:]); more > 0 {
			n += 1 + more
		}
	}
	return n
}

// rangeToken is the longest token between the brackets of a range.
func rangeToken(text string) (lexeme, int) {
	switch text[0] {
	case ']':
		return lexRangeEnd, 1
	case '}':
		return lexRangeEndOut, 1
	}
	word := strings.IndexAny(text, " ]}")
	if word < 0 {
		word = len(text)
	}
	if text[0] == '"' {
		if quoted := rangeQuote(text); quoted >= word {
			return lexRangeQuoted, quoted
		}
	}
	if text[:word] == "TO" {
		return lexTo, word
	}
	return lexRangeWord, word
}

// rangeQuote is the length of a quoted end of a range, which holds at least a character;
// a quote behind a \ may close it when no other does.
func rangeQuote(text string) int {
	length := 0
	for i := 1; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		if i > 1 {
			length = i + 1
		}
		if text[i-1] != '\\' {
			break
		}
	}
	return length
}

// queryToken is the longest token outside of ranges; of length 0 when there is none.
func queryToken(text string) (lexeme, int) {
	kind, length := fixedToken(text)
	if kind == lexQuoted || kind == lexRegexp {
		return kind, length
	}
	if word, n := wordToken(text); n > length {
		return word, n
	}
	return kind, length
}

// fixedToken is a token that begins with a sign of the syntax, or is an operator.
func fixedToken(text string) (lexeme, int) {
	switch text[0] {
	case '+', '-', '!':
		if r, n := utf8.DecodeRuneInString(text[1:]); n > 0 && isBlank(r) {
			return lexBare, 1 + n
		}
		return map[byte]lexeme{'+': lexPlus, '-': lexMinus, '!': lexNot}[text[0]], 1
	case '(':
		return lexOpen, 1
	case ')':
		return lexClose, 1
	case ':':
		return lexColon, 1
	case '*':
		return lexStar, 1
	case '^':
		return lexCaret, 1
	case '[':
		return lexRangeFrom, 1
	case '{':
		return lexRangeOut, 1
	case '~':
		return lexTilde, 1 + termLength(text[1:], false)
	case '"':
		return lexQuoted, closedBy(text, '"', true)
	case '/':
		return lexRegexp, closedBy(text, '/', false)
	}
	for _, operator := range []struct {
		text string
		kind lexeme
	}{{"AND", lexAnd}, {"&&", lexAnd}, {"OR", lexOr}, {"||", lexOr}, {"NOT", lexNot}} {
		if strings.HasPrefix(text, operator.text) {
			return operator.kind, len(operator.text)
		}
	}
	return lexEnd, 0
}

// closedBy is the length of what a sign opens and closes; 0 when it is not closed. A \
// takes the meaning of the next character away; if not all, of the sign alone, unless
// none other closes it.
func closedBy(text string, sign byte, all bool) int {
	last := 0
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == sign:
			if all || text[i-1] != '\\' {
				return i + 1
			}
			last = i + 1
		case text[i] == '\\' && all:
			i++
		}
	}
	return last
}

// wordToken is a term, with * and ? or without.
func wordToken(text string) (lexeme, int) {
	plain := 0
	if termStart(text) > 0 {
		plain = termLength(text, false)
	}
	wild := 0
	if plain > 0 || text[0] == '*' || text[0] == '?' {
		wild = termLength(text, true)
	}
	switch {
	case wild == plain:
		return lexTerm, plain
	case wild == plain+1 && plain > 0 && text[plain] == '*':
		return lexPrefix, wild
	}
	return lexWild, wild
}

// termLength is how long the characters of a term go on; with * and ? if wild.
func termLength(text string, wild bool) int {
	at := 0
	for at < len(text) {
		n := termStart(text[at:])
		if n == 0 {
			if ch := text[at]; ch != '+' && ch != '-' && (!wild || ch != '*' && ch != '?') {
				break
			}
			n = 1
		}
		at += n
	}
	return at
}

// termStart is the length of a character that a term may begin with, and of one behind \;
// 0 for others.
func termStart(text string) int {
	r, n := utf8.DecodeRuneInString(text)
	switch {
	case n == 0, isBlank(r), strings.ContainsRune(`+-!():^[]"{}~*?/`, r):
		return 0
	case r == '\\':
		if _, next := utf8.DecodeRuneInString(text[1:]); next > 0 {
			return 1 + next
		}
		return 0
	}
	return n
}
