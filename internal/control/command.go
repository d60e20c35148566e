package control

import (
	"net/url"
	"strings"
)

// Command is a call of this program that can be pasted into a shell: each word is quoted where the shell asks
// for it, and a word that is a URL loses its user and password (see [Bare]).
func Command(words ...string) string {
	return "reshelve" + arguments(words...)
}

// arguments are words of a command, each with a blank before it.
func arguments(words ...string) string {
	var text strings.Builder
	for _, word := range words {
		text.WriteString(" " + Quoted(Bare(word)))
	}
	return text.String()
}

// Bare is a URL without the user and the password that it may hold: records have neither.
func Bare(at string) string {
	if u, err := url.Parse(at); err == nil && u.User != nil {
		u.User = nil
		return u.String()
	}
	return at
}

// Quoted is a text that a shell reads as one word.
func Quoted(text string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("/:._-@,", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
