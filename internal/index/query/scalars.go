package query

import (
	"math"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// The accessors of the server's parser: what each takes, and what it says of others.

// isValue reports whether the last token is a scalar that is not null.
func (p *parser) isValue() bool { return p.kind.IsScalar() && p.kind != token.Null }

// str is the text of any scalar but null.
func (p *parser) str() (string, error) {
	if !p.isValue() {
		line, column := p.read.Place()
		return "", exception.New(exception.IllegalState, "Can't get text on a %s at %d:%d", p.kind, line, column)
	}
	return p.text(), nil
}

// strOrNull is str, and "" for null.
func (p *parser) strOrNull() (string, error) {
	if p.kind == token.Null {
		return "", nil
	}
	return p.str()
}

// scalar is the last token as a value of a query. Brackets are values too, as the server
// has it: none that a document holds.
func (p *parser) scalar() fields.Value {
	switch p.kind {
	case token.Object, token.ObjectEnd, token.Array, token.ArrayEnd:
		text := map[token.Kind]string{token.Object: "{", token.ObjectEnd: "}", token.Array: "[", token.ArrayEnd: "]"}[p.kind]
		return fields.Value{Kind: token.String, Text: text}
	}
	return fields.Value{Kind: p.kind, Text: p.text()}
}

// float reads a number of so many bits, which may stand in quotes.
func (p *parser) float(bits int) (float64, error) {
	switch p.kind {
	case token.String:
		return javaFloat(p.text(), bits)
	case token.Integer, token.Float:
		f, _ := strconv.ParseFloat(p.text(), bits) // out of range: infinite, as there
		return f, nil
	}
	return 0, p.read.Mistyped("Current token (%s) not numeric, can not use numeric value accessors", p.jackson())
}

func (p *parser) float32() (float32, error) {
	f, err := p.float(32)
	return float32(f), err
}

// javaFloat reads a text as Float.parseFloat and Double.parseDouble do, but for
// hexadecimal digits.
func javaFloat(text string, bits int) (float64, error) {
	trimmed := strings.TrimFunc(text, func(r rune) bool { return r <= ' ' })
	if trimmed == "" {
		return 0, exception.New(exception.NumberFormat, "empty String")
	}
	switch strings.TrimLeft(trimmed, "+-") {
	case "NaN":
		return math.NaN(), nil
	case "Infinity":
		return math.Inf(map[bool]int{true: -1}[trimmed[0] == '-']), nil
	}
	digits := strings.TrimRight(trimmed, "fFdD")
	if len(trimmed)-len(digits) > 1 || strings.ContainsAny(digits, "_xXnNiI") {
		return 0, exception.NotNumber(text)
	}
	f, err := strconv.ParseFloat(digits, bits)
	if err != nil && !math.IsInf(f, 0) {
		return 0, exception.NotNumber(text)
	}
	return f, nil
}

// integer reads a whole number of 32 bits; fractions are cut off.
func (p *parser) integer() (int, error) {
	n, err := p.whole(math.MinInt32, math.MaxInt32, "int", "an integer")
	return int(n), err
}

// long reads a whole number of 64 bits; fractions are cut off.
func (p *parser) long() (int64, error) {
	return p.whole(math.MinInt64, math.MaxInt64, "long", "a long")
}

func (p *parser) whole(least, most int64, name, called string) (int64, error) {
	text := p.text()
	switch p.kind {
	case token.String:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= least && n <= most {
			return n, nil
		}
		f, err := javaFloat(text, 64)
		if err != nil {
			return 0, err
		}
		if f < float64(least) || f > float64(most) {
			return 0, exception.New(exception.IllegalArgument, "Value [%s] is out of range for %s", text, called)
		}
		return int64(f), nil
	case token.Integer:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= least && n <= most {
			return n, nil
		}
	case token.Float:
		if f, _ := strconv.ParseFloat(text, 64); f >= float64(least) && f <= float64(most) {
			return int64(f), nil
		}
	default:
		return p.notWhole()
	}
	e := exception.From(p.read.Mistyped("Numeric value (%s) out of range of %s (%d - %d)", text, name, least, most))
	return 0, exception.New(exception.InputCoercion, "%s", e.Reason).WithStatus(500)
}

func (p *parser) notWhole() (int64, error) {
	_, err := p.float(64)
	return 0, err
}

// boolean reads true or false, which may stand in quotes.
func (p *parser) boolean() (bool, error) {
	switch p.kind {
	case token.True, token.False:
		return p.kind == token.True, nil
	case token.String:
		return parseBoolean(p.text())
	}
	return false, p.read.Mistyped("Current token (%s) not of boolean type", p.jackson())
}

func parseBoolean(text string) (bool, error) {
	if text != "true" && text != "false" {
		return false, exception.NotBoolean(text)
	}
	return text == "true", nil
}

// jackson is the last token's name in the server's library for JSON.
func (p *parser) jackson() string {
	switch p.kind {
	case token.True:
		return "VALUE_TRUE"
	case token.False:
		return "VALUE_FALSE"
	case token.Integer:
		return "VALUE_NUMBER_INT"
	case token.Float:
		return "VALUE_NUMBER_FLOAT"
	}
	return p.kind.String()
}

// noConstant is what the server's language says of a name that an enumeration lacks.
func noConstant(class, name string) *exception.Error {
	return exception.New(exception.IllegalArgument, "No enum constant org.opensearch.%s.%s", class, name)
}
