package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/reshelve/reshelve/internal/control"
	"go.yaml.in/yaml/v3"
)

// settings are the values of --set.
type settings []control.Setting

func (s *settings) String() string { return "" }

// Type names the value in the help.
func (s *settings) Type() string { return "INDEX:SETTING=VALUE" }

// Set adds a setting. The value null removes it from the index, and a JSON list of texts is taken as a list.
func (s *settings) Set(text string) error {
	index, rest, ok := strings.Cut(text, ":")
	name, value, valued := strings.Cut(rest, "=")
	if !ok || !valued || index == "" || name == "" {
		return fmt.Errorf("%q is not INDEX:SETTING=VALUE, as in 'books:index.codec=best_compression'", text)
	}
	set := control.Setting{Index: index, Name: name, Value: value}
	var list []any
	switch {
	case value == "null":
		set.Value = nil
	case strings.HasPrefix(value, "[") && json.Unmarshal([]byte(value), &list) == nil:
		set.Value = list
	}
	*s = append(*s, set)
	return nil
}

// mappings are the values of --mapping.
type mappings []control.Mapping

func (m *mappings) String() string { return "" }

// Type names the value in the help.
func (m *mappings) Type() string { return "INDEX=FILE" }

// maxMapping is larger than any mapping that a server accepts, in bytes.
const maxMapping = 2 << 20

// Set adds the mapping in a file. It is stored with the movement, so that workers elsewhere have it.
func (m *mappings) Set(text string) error {
	index, file, ok := strings.Cut(text, "=")
	if !ok || index == "" || file == "" {
		return fmt.Errorf("%q is not INDEX=FILE", text)
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxMapping+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", file, err)
	case len(content) > maxMapping:
		return fmt.Errorf("%s: a mapping has at most 2 MiB", file)
	}
	if !json.Valid(content) {
		var tree map[string]any
		if err := yaml.Unmarshal(content, &tree); err != nil || tree == nil {
			return fmt.Errorf("%s holds no object in JSON or YAML", file)
		}
		if content, err = json.Marshal(tree); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	*m = append(*m, control.Mapping{Index: index, Mapping: bytes.TrimSpace(content)})
	return nil
}
