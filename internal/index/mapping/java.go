package mapping

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// How the server prints values: its messages quote them, and mappings hold
// numbers in its notation.

// whole reports whether the literal has neither fraction nor exponent.
func (n number) whole() bool { return !strings.ContainsAny(string(n), ".eE") }

// float is the number as a double.
func (n number) float() float64 {
	f, _ := strconv.ParseFloat(string(n), 64)
	return f
}

// text is the number as the server prints it.
func (n number) text() string {
	if !n.whole() {
		return java.Double(n.float())
	}
	if n == "-0" {
		return "0"
	}
	return string(n)
}

// javaText is what the server's toString gives.
func javaText(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case string:
		return v
	case number:
		return v.text()
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = javaText(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case *object:
		var items []string
		for _, key := range v.keys {
			if item, ok := v.at[key]; ok {
				items = append(items, key+"="+javaText(item))
			}
		}
		return "{" + strings.Join(items, ", ") + "}"
	}
	return fmt.Sprint(value)
}

// javaClass is the class that the server has for a value.
func javaClass(value any) string {
	switch v := value.(type) {
	case bool:
		return "java.lang.Boolean"
	case string:
		return "java.lang.String"
	case []any:
		return "java.util.ArrayList"
	case *object:
		return "java.util.HashMap"
	case number:
		n, ok := new(big.Int).SetString(string(v), 10)
		switch {
		case !ok:
			return "java.lang.Double"
		case !n.IsInt64():
			return "java.math.BigInteger"
		case n.Int64() == int64(int32(n.Int64())):
			return "java.lang.Integer"
		}
		return "java.lang.Long"
	}
	return "null"
}

// wrongClass is what the server says when a value is not of the type that it
// takes for granted.
func wrongClass(value any, want string) error {
	got := javaClass(value)
	return exception.New(exception.ClassCast, "class %s cannot be cast to class %s (%s and %s are in module java.base of loader 'bootstrap')", got, want, got, want)
}

// asObject is the value as an object; null and others are refused as the server does.
func asObject(value any) (*object, error) {
	if o, ok := value.(*object); ok {
		return o, nil
	}
	return nil, wrongClass(value, "java.util.Map")
}

// nodeBool reads a boolean: itself, or its name as a string.
func nodeBool(value any) (bool, error) {
	switch v := value.(type) {
	case bool:
		return v, nil
	case nil:
		return false, nullNode("node")
	case string:
		if v == "true" || v == "false" {
			return v == "true", nil
		}
	}
	return false, exception.NotBoolean(javaText(value))
}

// namedBool is nodeBool with the name of what is read told in errors.
func namedBool(value any, name string) (bool, error) {
	v, err := nodeBool(value)
	if exception.Is(err, exception.IllegalArgument) {
		err = exception.New(exception.IllegalArgument, "Could not convert [%s] to boolean", name).CausedBy(exception.From(err))
	}
	return v, err
}

func nullNode(name string) error {
	return exception.New(exception.NullPointer, "Cannot invoke \"Object.toString()\" because \"%s\" is null", name)
}

// nodeInt reads a 32-bit integer.
func nodeInt(value any) (int64, error) {
	if n, ok := value.(number); ok && !n.whole() {
		if f := n.float(); f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
			return 0, exception.New(exception.IllegalArgument, "%s is not an integer value", n.text())
		}
		return int64(n.float()), nil
	}
	n, err := strconv.ParseInt(javaText(value), 10, 32)
	if err != nil {
		return 0, noNumber(javaText(value))
	}
	return n, nil
}

// nodeFloat reads a real number.
func nodeFloat(value any) (float64, error) {
	text := strings.TrimSpace(javaText(value))
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(f, 0) || strings.ContainsAny(text, "_xX") {
		return 0, noNumber(text)
	}
	return f, nil
}

func noNumber(text string) error {
	if text == "" {
		return exception.New(exception.NumberFormat, "empty String")
	}
	return exception.NotNumber(text)
}
