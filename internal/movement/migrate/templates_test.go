package migrate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/snapshot"
)

// state is a global state with a template of each kind that a choice tells apart.
var state = &snapshot.Global{
	Templates: json.RawMessage(`{
		"shelves":{"index_patterns":["shelf-*"]},
		"old":{"template":"old-*"},
		"logstash-index-template":{"index_patterns":[".logstash"]},
		".monitoring":{"index_patterns":["m-*"]}}`),
	ComposableTemplates: json.RawMessage(`{
		"books":{"index_patterns":["books-*"],"composed_of":["common","later"],"template":{"settings":{}}},
		"logs":{"index_patterns":["logs-*-*"],"_meta":{"managed":true},"composed_of":["logs-settings"]}}`),
	ComponentTemplates: json.RawMessage(`{"common":{"template":{}},"later":{"template":{}},"alone":{"template":{}},
		"logs-settings":{"template":{},"_meta":{"managed":true}}}`),
}

func TestTheChoiceOfTemplates(t *testing.T) {
	patterns := func(kind migrate.TemplateKind, p ...string) map[migrate.TemplateKind][]string {
		return map[migrate.TemplateKind][]string{kind: p}
	}
	for _, c := range []struct {
		name   string
		choice migrate.Choice
		want   string // components / templates / legacy ones
	}{
		{"by default all that no server made for itself", migrate.Choice{}, "alone common later/books/old shelves"},
		{"none", migrate.Choice{None: true}, "//"},
		{"of one kind by name, the other kinds by default", migrate.Choice{Patterns: patterns(migrate.LegacyTemplate, "shel*")}, "alone common later/books/shelves"},
		{"a dot must be named", migrate.Choice{Patterns: patterns(migrate.LegacyTemplate, "*")}, "alone common later/books/logstash-index-template old shelves"},
		{"and can be", migrate.Choice{Patterns: patterns(migrate.LegacyTemplate, ".m*")}, "alone common later/books/.monitoring"},
		{"a managed one that is named brings its components", migrate.Choice{For: []string{}, Patterns: patterns(migrate.ComposableTemplate, "logs")}, "logs-settings/logs/"},
		{"for some indices those that apply, with their components", migrate.Choice{For: []string{"books-7", "old-1"}}, "common later/books/old"},
		{"components by name alone", migrate.Choice{For: []string{"books-7"}, Patterns: patterns(migrate.ComponentTemplate, "alone")}, "alone/books/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			chosen, err := c.choice.Templates(state)
			if err != nil {
				t.Fatal(err)
			}
			names, at := map[migrate.TemplateKind][]string{}, 0
			for _, template := range chosen {
				for migrate.TemplateKinds[at] != template.Kind {
					if at++; at == len(migrate.TemplateKinds) {
						t.Fatalf("a template before what it needs: %v", chosen)
					}
				}
				names[template.Kind] = append(names[template.Kind], template.Name)
			}
			var parts []string
			for _, kind := range migrate.TemplateKinds {
				parts = append(parts, strings.Join(names[kind], " "))
			}
			if got := strings.Join(parts, "/"); got != c.want {
				t.Errorf("%s, not %s", got, c.want)
			}
		})
	}
	_, err := migrate.Choice{Patterns: patterns(migrate.ComposableTemplate, "bokks")}.Templates(state)
	if !fault.Is(err, fault.NotFound) || !strings.Contains(fault.Next(err), "books, logs") {
		t.Errorf("a misspelt pattern: %v, %s", err, fault.Next(err))
	}
}

// streams is the repository with templates of every kind: what opensearch 2.19 stored.
const streams = "opensearch-2.19.0-streams"

func allTemplates(r *rig) []migrate.Template {
	r.Helper()
	global, err := r.from.Global(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	chosen, err := migrate.Choice{}.Templates(global)
	if err != nil {
		r.Fatal(err)
	}
	return chosen
}

// TestTemplatesAreMadeAndUndone: each template is made as the source had it, and abort takes
// away what was made, and nothing else.
func TestTemplatesAreMadeAndUndone(t *testing.T) {
	r := newRig(t, streams, "only")
	theirs := `{"index_patterns":["theirs-*"],"order":7}`
	r.do("PUT", []string{"_template", "old-style"}, theirs, nil)
	plan := r.plan("old-shelf")
	plan.Templates = allTemplates(r)
	id := r.start(plan)
	m, p := r.work(id)
	if m.State != movement.Switched {
		t.Fatalf("%s: %s", m.State, m.Cause)
	}
	got := map[string]migrate.TemplateState{}
	for _, template := range p.Templates {
		got[template.Name] = template.State
	}
	if len(got) != 3 || got["common"] != migrate.TemplateMade || got["loans"] != migrate.TemplateMade || got["old-style"] != migrate.TemplateThere {
		t.Errorf("%v", got)
	}
	if text := outcome(&m, "templates"); text != "2 templates made, 1 there already and left as they are" {
		t.Errorf("told is %q", text)
	}
	var answer struct {
		Templates []struct {
			Template struct {
				Patterns []string        `json:"index_patterns"`
				Composed []string        `json:"composed_of"`
				Priority int             `json:"priority"`
				Stream   json.RawMessage `json:"data_stream"`
			} `json:"index_template"`
		} `json:"index_templates"`
	}
	r.do("GET", []string{"_index_template", "loans"}, "", &answer)
	if l := answer.Templates; len(l) != 1 || l[0].Template.Patterns[0] != "loans-*" || l[0].Template.Composed[0] != "common" || l[0].Template.Priority != 200 || l[0].Template.Stream == nil {
		t.Errorf("%+v", l)
	}
	r.tell(id, movement.Abort)
	if m, _ = r.work(id); m.State != movement.Aborted {
		t.Fatalf("%s: %s", m.State, m.Cause)
	}
	if r.has("_index_template", "loans") || r.has("_component_template", "common") || r.has("old-shelf") {
		t.Error("abort has left something")
	}
	var legacy map[string]struct{ Order int }
	r.do("GET", []string{"_template", "old-style"}, "", &legacy)
	if legacy["old-style"].Order != 7 {
		t.Errorf("what was there before is %+v", legacy)
	}
}

// TestAChangedTemplateIsLeftAlone: what an operator has made of a template since is not taken
// away by abort, and that is told.
func TestAChangedTemplateIsLeftAlone(t *testing.T) {
	r := newRig(t, streams, "only")
	plan := r.plan("old-shelf")
	plan.Templates = allTemplates(r)
	id := r.start(plan)
	r.work(id)
	r.do("PUT", []string{"_template", "old-style"}, `{"index_patterns":["old-*"],"order":8}`, nil)
	r.tell(id, movement.Abort)
	m, p := r.work(id)
	if m.State != movement.Aborted || !r.has("_template", "old-style") || r.has("_index_template", "loans") {
		t.Fatalf("%s: %s", m.State, m.Cause)
	}
	if len(p.Left) != 1 || !strings.Contains(p.Left[0], "legacy-template old-style is not any more as the movement made it") {
		t.Errorf("told is %q", p.Left)
	}
}

// TestARefusedTemplateFailsThePhase: the others are made; when the operator has made one of
// that name, the movement goes on.
func TestARefusedTemplateFailsThePhase(t *testing.T) {
	r := newRig(t, streams, "only")
	// Two templates of one priority that fit the same names are refused by every server.
	r.do("PUT", []string{"_index_template", "rival"}, `{"index_patterns":["loans-*"],"priority":200}`, nil)
	plan := r.plan("old-shelf")
	plan.Templates = allTemplates(r)
	id := r.start(plan)
	m, p := r.work(id)
	if m.State != movement.Failed || !strings.Contains(m.Cause, "template loans: ") || !strings.Contains(m.Cause, "rival") {
		t.Fatalf("%s: %s", m.State, m.Cause)
	}
	if p.Templates[0].State != migrate.TemplateMade || p.Templates[1].State != migrate.TemplateRefused || p.Templates[2].State != migrate.TemplateMade {
		t.Errorf("%+v", p.Templates)
	}
	r.do("DELETE", []string{"_index_template", "rival"}, "", nil)
	r.do("PUT", []string{"_index_template", "loans"}, `{"index_patterns":["mine-*"]}`, nil)
	r.tell(id, movement.Resume)
	if m, p = r.work(id); m.State != movement.Switched || p.Templates[1].State != migrate.TemplateThere {
		t.Fatalf("%s: %s, %+v", m.State, m.Cause, p.Templates)
	}
	r.tell(id, movement.Abort)
	if r.work(id); !r.has("_index_template", "loans") {
		t.Error("abort has deleted what the operator made")
	}
}
