package embedded

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// damage is an error of Pebble whose text may be shown: one line, and no bytes of keys.
type damage struct{ error }

// Error is the first line.
func (d damage) Error() string { return printable(d.error.Error()) }

// printable is the first line of a text, in which everything that cannot be printed has the form of Go's strings.
func printable(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	var out strings.Builder
	for len(line) > 0 {
		r, size := utf8.DecodeRuneInString(line)
		if r == utf8.RuneError && size == 1 || !unicode.IsPrint(r) {
			for i := range size {
				fmt.Fprintf(&out, "\\x%02x", line[i])
			}
		} else {
			out.WriteString(line[:size])
		}
		line = line[size:]
	}
	return out.String()
}

// Unwrap is what Pebble said.
func (d damage) Unwrap() error { return d.error }
