package control_test

import (
	"go/ast"
	"go/token"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/control"
)

// TestACommandIsOneThatAShellTakes: with the words that were meant, and without passwords.
func TestACommandIsOneThatAShellTakes(t *testing.T) {
	for _, tc := range []struct{ word, want string }{
		{"./data", "./data"},
		{"", ""},
		{"/my data/it's $HOME", "/my data/it's $HOME"},
		{"local:/tmp/a;b", "local:/tmp/a;b"},
		{"http://127.0.0.1:9200", "http://127.0.0.1:9200"},
		{"https://user:secret@search.example:9200/a?b=c&d=e", "https://search.example:9200/a?b=c&d=e"},
		{"postgres://search:secret@db/movements?sslmode=disable", "postgres://db/movements?sslmode=disable"},
		{"s3://backups/*?endpoint=https://store.example", "s3://backups/*?endpoint=https://store.example"},
	} {
		text := control.Command("movement", "status", "1", "--at", tc.word)
		words, err := exec.CommandContext(t.Context(), "sh", "-c", "printf '%s\\n' "+text).Output()
		if want := "reshelve\nmovement\nstatus\n1\n--at\n" + tc.want + "\n"; err != nil || string(words) != want {
			t.Errorf("%s: %q, %v; want %q", text, words, err, want)
		}
	}
}

// TestCommandsAreMadeByCommand: no text puts a place or a location behind a flag by itself.
func TestCommandsAreMadeByCommand(t *testing.T) {
	flags := []string{"--at ", "--join ", "--to ", "--coordinate ", "--allow-repository ", "--allow-target ", "--allow-source "}
	program(t, "cmd/reshelve", map[string]bool{}, func(files *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(literal.Value)
			for _, flag := range flags {
				if strings.Contains(text, flag+"%s") || strings.HasSuffix(text, flag) {
					t.Errorf("%s: %q; make it with control.Command", files.Position(literal.Pos()), text)
				}
			}
			return true
		})
	})
}
