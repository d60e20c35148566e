package mapping

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// answer is one line of testdata/*.jsonl: what was asked of OpenSearch 2.19.0 and
// what it said. An index is made with mapping and settings; then update is put, or
// a document with source, or text where the source is no JSON, as id 1.
type answer struct {
	Mapping  json.RawMessage
	Settings map[string]any
	Update   json.RawMessage
	Source   json.RawMessage
	Text     *string

	Status int
	Result json.RawMessage // GET _mapping afterwards
	Error  *told
	Root   string // type of the first root cause
	Loose  bool   // the reason holds what is the server's alone: compare types
}

// told is an error as the server tells it.
type told struct {
	Type   string `json:"type"`
	Reason string `json:"reason"`
	Cause  *told  `json:"caused_by,omitempty"`
}

func (t *told) String() string {
	if t == nil {
		return ""
	}
	text, _ := json.Marshal(t)
	return string(text)
}

func tell(e *exception.Error) *told {
	if e == nil {
		return nil
	}
	return &told{string(e.Type), e.Reason, tell(e.Cause)}
}

// answers calls f for each line of the files.
func answers(t testing.TB, f func(place string, a answer)) {
	files, _ := filepath.Glob("testdata/*.jsonl")
	if len(files) == 0 {
		t.Fatal("no answers")
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, 1<<24)
		for n := 1; lines.Scan(); n++ {
			line := bytes.TrimSpace(lines.Bytes())
			if len(line) == 0 || line[0] == '#' {
				continue
			}
			var a answer
			if err := json.Unmarshal(line, &a); err != nil {
				t.Fatalf("%s:%d: %v", name, n, err)
			}
			if a.Mapping == nil {
				a.Mapping = json.RawMessage("{}")
			}
			f(filepath.Base(name)+":"+itoa(n), a)
		}
	}
}

// limits are the settings of the line.
func (a answer) limits() Limits {
	l := DefaultLimits
	for key, value := range a.Settings {
		number, _ := value.(float64)
		switch strings.TrimPrefix(key, "index.mapping.") {
		case "total_fields.limit":
			l.TotalFields = int(number)
		case "depth.limit":
			l.Depth = int(number)
		case "nested_fields.limit":
			l.NestedFields = int(number)
		case "nested_objects.limit":
			l.NestedObjects = int(number)
		case "field_name_length.limit":
			l.FieldNameLength = int(number)
		case "ignore_malformed":
			l.IgnoreMalformed = value == true
		case "coerce":
			l.Coerce = value == true
		}
	}
	return l
}

// ask does with this package what the server was asked to do.
func (a answer) ask() (status int, result []byte, err error) {
	l := a.limits()
	m, err := Parse(a.Mapping, l)
	status = 200
	if err == nil && a.Update != nil {
		m, err = m.Merge(a.Update, l)
	}
	if err == nil && (a.Source != nil || a.Text != nil) {
		source := []byte(a.Source)
		if a.Text != nil {
			source = []byte(*a.Text)
		}
		status = 201
		var additions []byte
		additions, err = m.Document(source, "1", l, nil)
		if err == nil && additions != nil {
			if m, err = m.Merge(additions, l); err == nil {
				if additions, err = m.Document(source, "1", l, nil); additions != nil {
					return status, []byte("still adds " + string(additions)), nil
				}
			}
		}
	}
	if err != nil {
		return exception.From(err).Status(), nil, err
	}
	return status, m.JSON(), nil
}

// TestAnswers does what OpenSearch was asked to do, and compares.
func TestAnswers(t *testing.T) {
	answers(t, func(place string, a answer) {
		status, result, err := a.ask()
		var got *told
		root := ""
		if err != nil {
			e := exception.From(err)
			got, root = tell(e), string(e.Root().Type)
		}
		asked := strings.TrimSpace(string(a.Mapping) + " " + string(a.Update) + string(a.Source))
		if a.Text != nil {
			asked += *a.Text
		}
		if a.Loose && got != nil && a.Error != nil {
			got, a.Error = &told{Type: got.Type}, &told{Type: a.Error.Type}
		}
		if len(asked) > 300 {
			asked = asked[:300] + "…"
		}
		switch {
		case status != a.Status:
			t.Errorf("%s: %s\nstatus %d, want %d\n got %v %s\nwant %v %s", place, asked, status, a.Status, got, result, a.Error, a.Result)
		case got.String() != a.Error.String():
			t.Errorf("%s: %s\n got %v\nwant %v", place, asked, got, a.Error)
		case root != a.Root:
			t.Errorf("%s: %s: root cause %s, want %s", place, asked, root, a.Root)
		case string(result) != string(a.Result):
			t.Errorf("%s: %s\n got %s\nwant %s", place, asked, result, a.Result)
		}
	})
}
