package mapping

import (
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/date"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	json "github.com/reshelve/reshelve/internal/opensearch/token"
)

// defaultTypes are what a guess becomes without other word.
var defaultTypes = map[string]string{"object": "object", "string": "text", "long": "long", "double": "float", "boolean": "boolean", "date": "date", "binary": "binary"}

// longestGuessed is the length of the longest text that may be a date or a number, in bytes.
const longestGuessed = 4096

// guess is the new field that a value asks for.
func (w *walk) guess(parent *Field, name string, t token, rule dynamic) (*Field, error) {
	guess, plain := "string", "text"
	var format string
	switch t.kind {
	case json.Integer:
		guess, plain = "long", "long"
	case json.Float:
		guess, plain = "double", "float"
	case json.True, json.False:
		guess, plain = "boolean", "boolean"
	case json.String:
		if len(t.text) <= longestGuessed { // else it is a text: its copies and the errors that quote it would be large
			guess, plain, format = w.m.guessString(string(t.text))
		}
	}
	f, err := w.fromTemplate(parent, name, guess, rule)
	if err != nil {
		return nil, err
	}
	path := join(parent.path, name)
	set := func(f *Field, param string, v any) { f.params[f.kind.index(param)] = v }
	switch {
	case f != nil:
		if guess == "date" && f.format != nil && f.params[f.kind.index("format")] == nil && f.kind != types["date_range"] {
			set(f, "format", format)
			set(f, "print_format", firstFormat(format))
			err = f.finish()
		}
		return f, err
	case plain == "text":
		f = newLeaf(name, path, textType)
		multi := newLeaf("keyword", join(path, "keyword"), keywordType)
		set(multi, "ignore_above", int64(256))
		f.multi = []*Field{multi}
		if err := multi.finish(); err != nil {
			return nil, err
		}
	default:
		f = newLeaf(name, path, types[plain])
		if plain == "date" {
			set(f, "format", format)
			set(f, "print_format", firstFormat(format))
		}
	}
	return f, f.finish()
}

// firstFormat is the one that writes dates, of a list of formats.
func firstFormat(formats string) string {
	first, _, _ := strings.Cut(formats, "||")
	return first
}

// detector is one format of date detection.
type detector struct {
	format *date.Format
	text   string
}

// The formats of date detection where dynamic_date_formats tells no other.
var defaultDetectors = []string{defaultDateFormat, "yyyy/MM/dd HH:mm:ss||yyyy/MM/dd||epoch_millis"}

// detectors makes the formats of date detection ready.
func detectors(formats []string, given bool) ([]detector, error) {
	if !given {
		formats = defaultDetectors
	}
	var list []detector
	for _, text := range formats {
		format, err := date.ParseFormat(text)
		if err != nil {
			return nil, err
		}
		list = append(list, detector{format, text})
	}
	return list, nil
}

// readFormats reads dynamic_date_formats.
func readFormats(v any) ([]string, error) {
	list, ok := v.([]any)
	if !ok {
		if v == "none" {
			return nil, nil
		}
		list = []any{v}
	}
	var formats []string
	for _, item := range list {
		text, isText := item.(string)
		switch {
		case ok && strings.HasPrefix(javaText(item), "epoch_"):
			return nil, exception.New(exception.MapperParsing, "Epoch [%s] is not supported as dynamic date format", javaText(item))
		case !isText:
			return nil, exception.New(exception.IllegalArgument, "Invalid format: [%s]: expected string value", javaText(item))
		}
		formats = append(formats, text)
	}
	return formats, nil
}

// guessString tells what a new field with this text is: what a template may
// match, the type without template, and the format of a date.
func (m *Mapping) guessString(text string) (guess, plain, format string) {
	_, err := strconv.ParseInt(text, 10, 64)
	long := err == nil
	double := long || isDouble(text)
	switch {
	case long && m.numbers == yes:
		return "long", "long", ""
	case double && m.numbers == yes:
		return "double", "float", ""
	case !double && m.dates != no:
		for _, d := range m.detect {
			if _, _, err := d.format.Parse(text); err == nil {
				return "date", "date", d.text
			}
		}
	}
	return "string", "text", ""
}

// isDouble reports whether the server's language reads the text as a number: with
// white space around, and with a suffix.
func isDouble(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" || strings.Contains(text, "_") {
		return false
	}
	bare := strings.TrimLeft(text, "+-")
	switch bare {
	case "NaN", "Infinity":
		return len(text)-len(bare) <= 1
	}
	if c := bare[:min(1, len(bare))]; c == "i" || c == "I" || c == "n" || c == "N" {
		return false // words that Go knows
	}
	if strings.ContainsAny(text[len(text)-1:], "dDfF") && !strings.HasPrefix(strings.ToLower(bare), "0x") {
		text = text[:len(text)-1]
	}
	f, err := strconv.ParseFloat(text, 64)
	return err == nil || f != 0 // too large is infinite
}
