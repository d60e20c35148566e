package xcontent

import (
	"encoding/base64"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"go.yaml.in/yaml/v3"
)

// What a plain scalar is in YAML 1.1 (yaml.org/type/int.html and float.html), in
// the variant of SnakeYAML's Resolver, less the base-60 forms, which Jackson
// gives as text.
var (
	yamlInt = regexp.MustCompile(`^[-+]?(?:0b_*[01][01_]*|0_*[0-7][0-7_]*|0|[1-9][0-9_]*|0x_*[0-9a-fA-F][0-9a-fA-F_]*)$`)

	yamlFloat = regexp.MustCompile(`^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+|` +
		`[-+]?\._*[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
)

// scalar writes a scalar by its explicit tag or, when it is plain, by its form.
// What does not have the form that its tag promises is text.
func (w *yamlWriter) scalar(n *yaml.Node) error {
	tag := "!"
	if n.Style&yaml.TaggedStyle != 0 {
		tag = n.ShortTag()
	}
	quoted := n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	if tag == "!" && quoted {
		return w.text(n)
	}
	done, err := false, error(nil)
	switch tag {
	case "!":
		done, err = w.plain(n.Value)
	case "!!binary":
		return w.binary(n)
	case "!!bool":
		done = w.boolean(n.Value)
	case "!!int":
		done, err = w.integer(n.Value)
	case "!!float":
		if done = w.float(n.Value); !done {
			done = w.wholeFloat(n.Value)
		}
	case "!!null":
		if done = n.Value != ""; done {
			w.out = append(w.out, "null"...)
		}
	}
	if done || err != nil {
		return err
	}
	return w.text(n)
}

// plain writes a scalar that has neither tag nor quotation marks, unless it is text.
func (w *yamlWriter) plain(s string) (done bool, err error) {
	switch s {
	case "", "~", "null", "Null", "NULL":
		w.out = append(w.out, "null"...)
		return true, nil
	}
	if len(s) > 1 && w.boolean(s) { // the resolver lacks y and n, the !!bool tag has them
		return true, nil
	}
	if !strings.ContainsRune("+-.0123456789", rune(s[0])) {
		return false, nil
	}
	if done, err := w.integer(s); done || err != nil {
		return done, err
	}
	return w.float(s), nil
}

func (w *yamlWriter) boolean(s string) bool {
	switch s {
	case "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		w.out = append(w.out, "true"...)
	case "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		w.out = append(w.out, "false"...)
	default:
		return false
	}
	return true
}

// integer writes s when it has the form of an integer: binary (0b), octal (0),
// hexadecimal (0x) or decimal, underscores between digits.
func (w *yamlWriter) integer(s string) (done bool, err error) {
	if !yamlInt.MatchString(s) {
		return false, nil
	}
	if len(s) > maxBigBytes {
		return false, tooBig(len(s))
	}
	s = strings.TrimPrefix(strings.ReplaceAll(s, "_", ""), "+")
	digits := strings.TrimPrefix(s, "-")
	base := 10
	switch {
	case strings.HasPrefix(digits, "0b"):
		base, digits = 2, digits[2:]
	case strings.HasPrefix(digits, "0x"):
		base, digits = 16, digits[2:]
	case digits[0] == '0':
		base = 8
	}
	n, ok := new(big.Int).SetString(digits, base)
	if !ok {
		return false, nil
	}
	if s[0] == '-' {
		n.Neg(n)
	}
	w.out = n.Append(w.out, 10)
	return true, nil
}

// float writes s when it has the form of a floating-point number; too large a one
// is an infinity, as in Java.
func (w *yamlWriter) float(s string) bool {
	if !yamlFloat.MatchString(s) {
		return false
	}
	switch strings.ToLower(strings.TrimLeft(s, "+-")) {
	case ".inf":
		w.out = appendFloat(w.out, math.Inf(strings.Count("+"+s, "-")*-2+1), 64)
		return true
	case ".nan":
		w.out = appendFloat(w.out, math.NaN(), 64)
		return true
	}
	return w.wholeFloat(s)
}

// wholeFloat writes the decimal number s, which need not have a point.
func (w *yamlWriter) wholeFloat(s string) bool {
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	if err != nil && !math.IsInf(f, 0) {
		return false
	}
	w.out = appendFloat(w.out, f, 64)
	return true
}

// binary writes the base64 of a !!binary scalar anew, without its line breaks.
func (w *yamlWriter) binary(n *yaml.Node) error {
	b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(n.Value), ""))
	if err != nil {
		return fault.New(fault.Corrupt, "line %d: a binary value: %w", n.Line, err)
	}
	w.out = appendBase64(w.out, b)
	return nil
}
