package catalog_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// seed gives a fuzz target the bodies of the conversations of package store.
func seed(f *testing.F) {
	files, err := filepath.Glob("../testdata/admin/*.talk")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if parts := strings.SplitN(line, " ", 3); len(parts) == 3 && parts[0] != "<" && parts[0] != "#" {
				f.Add([]byte(parts[2]))
			}
		}
	}
}

// refusedWell: an error is an exception of a known type, and no fault of ours but where the
// server has one too.
func refusedWell(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if e := exception.From(err); e.Type == exception.Unknown {
		t.Errorf("an error without a type: %v", err)
	}
}

// stays: what was taken is stored and read again as the same.
func stays(t *testing.T, c catalog.Catalog, err error) {
	t.Helper()
	refusedWell(t, err)
	if err != nil {
		return
	}
	data := c.Encode()
	back, err := catalog.Decode(data)
	if err != nil || string(back.Encode()) != string(data) {
		t.Errorf("stored as\n%s\nread as\n%s\n%v", data, back.Encode(), err)
	}
}

func FuzzCreate(f *testing.F) {
	seed(f)
	f.Add([]byte("//:false}f")) // once, a body of comments was read without end
	f.Fuzz(func(t *testing.T, body []byte) {
		request, err := catalog.ParseRequest(body)
		refusedWell(t, err)
		if err != nil {
			return
		}
		creation, err := catalog.New().Compose("index", request)
		refusedWell(t, err)
		if err != nil {
			return
		}
		if !json.Valid(catalog.RenderSettings(creation.Settings, false)) || !json.Valid(catalog.RenderSettings(creation.Settings, true)) {
			t.Errorf("settings are rendered as what is no JSON: %v", creation.Settings)
		}
		for _, m := range creation.Mappings {
			if !json.Valid(m) {
				t.Errorf("mappings are no JSON: %s", m)
			}
		}
		c, err := catalog.New().WithIndex("index", catalog.Entry{Number: 1}, creation.Aliases)
		stays(t, c, err)
	})
}

func FuzzTemplates(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		c := catalog.New()
		for _, put := range []func(string, []byte, bool, catalog.Merge) (catalog.Catalog, error){c.WithLegacy, c.WithComponent, c.WithComposable} {
			next, err := put("template", body, false, merge)
			stays(t, next, err)
			if err != nil {
				continue
			}
			for _, all := range []map[string]json.RawMessage{next.Legacy, next.Components, next.Composable} {
				if raw, ok := all["template"]; ok && (!json.Valid(raw) || !json.Valid(catalog.FlatTemplate(raw))) {
					t.Errorf("a template is no JSON: %s", raw)
				}
			}
			// What was stored is read as the same: putting it again changes nothing.
			for raw := range map[string]bool{string(next.Composable["template"]): true, string(next.Legacy["template"]): true, string(next.Components["template"]): true} {
				again, err := put("template", []byte(raw), false, merge)
				if raw != "" && (err != nil || string(again.Encode()) != string(next.Encode())) {
					t.Errorf("%s is read again as\n%s\n%v", next.Encode(), again.Encode(), err)
				}
			}
			_, err = next.Compose("index", catalog.Request{})
			refusedWell(t, err)
			_, err = next.NewStream("stream")
			refusedWell(t, err)
		}
	})
}

func FuzzChanges(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := catalog.New().WithIndex("ca-a", catalog.Entry{Number: 1, UUID: "u"}, map[string]catalog.Alias{"ca-x": {}})
		if err != nil {
			t.Fatal(err)
		}
		if actions, err := catalog.ParseAliasActions(body); err == nil {
			next, _, err := c.ChangeAliases(actions, 0)
			stays(t, next, err)
		} else {
			refusedWell(t, err)
		}
		if actions, err := catalog.PutAliasActions([]string{"ca-a"}, "ca-y", body); err == nil {
			next, _, err := c.ChangeAliases(actions, 0)
			stays(t, next, err)
		} else {
			refusedWell(t, err)
		}
		if change, err := catalog.ParseSettingsChange(body, false); err == nil {
			after, err := change.Apply("ca-a", map[string]string{"index.refresh_interval": "1s"})
			refusedWell(t, err)
			if err == nil && !json.Valid(catalog.RenderSettings(after, false)) {
				t.Errorf("settings are no JSON: %v", after)
			}
		} else {
			refusedWell(t, err)
		}
		next, answer, err := c.WithCluster(body)
		stays(t, next, err)
		if err == nil && !json.Valid(answer) {
			t.Errorf("the answer is no JSON: %s", answer)
		}
		if request, err := catalog.ParseRollover(body); err == nil {
			request.Evaluate(1, 1, 1)
			_, err = c.PlanRollover("ca-x", "", request, func(string) string { return "ca-1" }, 0)
			refusedWell(t, err)
		} else {
			refusedWell(t, err)
		}
	})
}

func FuzzExpressions(f *testing.F) {
	for _, text := range []string{"ca-*,-ca-a", "_all", "*", "<ca-{now/d}>", "-a", ",", "a,,b", "<a{", "_x"} {
		f.Add(text)
	}
	c := catalog.New()
	for i, name := range []string{"ca-a", "ca-ab", "b", ".hidden"} {
		var err error
		if c, err = c.WithIndex(name, catalog.Entry{Number: uint32(i + 1), Closed: i == 2, Hidden: i == 3}, map[string]catalog.Alias{"all": {}}); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for bits := range 64 {
			o := catalog.Options{
				IgnoreUnavailable: bits&1 > 0, NoIndicesIsError: bits&2 > 0, ExpandOpen: bits&4 > 0,
				ExpandClosed: bits&8 > 0, ExpandHidden: bits&16 > 0, ForbidClosed: bits&32 > 0,
			}
			names, err := c.Resolve(catalog.Expression{Names: strings.Split(text, ","), Options: o}, 0)
			refusedWell(t, err)
			for i, name := range names {
				if _, ok := c.Indices[name]; !ok || i > 0 && names[i-1] >= name {
					t.Errorf("%q means %v", text, names)
				}
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(catalog.New().Encode())
	f.Add([]byte(`{"nextIndex":3,"indices":{"i":{"number":1},"b":{"number":2,"stream":"s"}},"aliases":{"a":{"i":{}}},"streams":{"s":{"indices":["b"]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := catalog.Decode(data)
		if err == nil {
			stays(t, c, nil)
		}
	})
}
