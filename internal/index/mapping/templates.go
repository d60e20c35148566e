package mapping

import (
	"regexp"
	"sort"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	json "github.com/reshelve/reshelve/internal/opensearch/token"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// template is one dynamic template: which new fields it is for, and their
// definition.
type template struct {
	name                                   string
	match, pathMatch, unmatch, pathUnmatch *pattern
	guess                                  string // match_mapping_type; "": any
	regex                                  bool   // match_pattern is regex
	mapping                                *object
}

// pattern is a wildcard pattern, or a regular expression of the whole text.
type pattern struct {
	text  string
	regex *regexp.Regexp
}

func (p *pattern) meets(text string) bool {
	if p.regex != nil {
		return p.regex.MatchString(text)
	}
	return wildcard.Match(p.text, text)
}

// guesses are what a template may say of a value's JSON type.
var guesses = []string{"object", "string", "long", "double", "boolean", "date", "binary"}

// readTemplates reads dynamic_templates.
func readTemplates(v any) ([]*template, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, exception.New(exception.MapperParsing, "Dynamic template syntax error. An array of named objects is expected.")
	}
	templates := []*template{}
	for _, item := range list {
		named, err := asObject(item)
		if err != nil {
			return nil, err
		}
		if len(named.keys) != 1 {
			return nil, exception.New(exception.MapperParsing, "A dynamic template must be defined with a name")
		}
		rules, err := asObject(named.at[named.keys[0]])
		if err != nil {
			return nil, err
		}
		t, err := readTemplate(named.keys[0], rules)
		if err != nil {
			return nil, err
		}
		templates = append(templates, t)
	}
	return templates, nil
}

func readTemplate(name string, rules *object) (*template, error) {
	t := &template{name: name}
	kind := "simple"
	err := rules.each(func(key string, v any) (err error) {
		text := pattern{text: javaText(v)}
		switch key {
		case "match":
			t.match = &text
		case "path_match":
			t.pathMatch = &text
		case "unmatch":
			t.unmatch = &text
		case "path_unmatch":
			t.pathUnmatch = &text
		case "match_mapping_type":
			t.guess = text.text
		case "match_pattern":
			kind = text.text
		case "mapping":
			t.mapping, err = asObject(v)
		default:
			err = exception.New(exception.IllegalArgument, "Illegal dynamic template parameter: [%s]", key)
		}
		return err
	})
	if err == nil {
		err = t.check(kind, rules)
	}
	if err != nil {
		return nil, err
	}
	t.mapping = sorted(t.mapping)
	if kind == "regex" {
		t.regex = true
		for _, p := range []*pattern{t.match, t.pathMatch, t.unmatch, t.pathUnmatch} {
			if err := t.compile(p); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// check refuses a template that lacks something, or is of no known kind.
func (t *template) check(kind string, rules *object) error {
	switch {
	case t.match == nil && t.pathMatch == nil && t.guess == "":
		return exception.New(exception.MapperParsing, "template must have match, path_match or match_mapping_type set %s", javaText(rules))
	case t.mapping == nil:
		return exception.New(exception.MapperParsing, "template must have mapping set")
	case kind != "simple" && kind != "regex":
		return exception.New(exception.IllegalArgument, "No matching pattern matched on [%s]", kind)
	case t.guess != "" && t.guess != "*" && !set(guesses...)[t.guess]:
		return exception.New(exception.IllegalArgument, "No field type matched on [%s], possible values are [%s]", t.guess, strings.Join(guesses, ", "))
	}
	if v, told := t.mapping.at["type"]; told && v == nil {
		return exception.New(exception.NullPointer, `Cannot invoke "Object.toString()" because the return value of "java.util.Map.get(Object)" is null`)
	}
	return nil
}

func (t *template) compile(p *pattern) (err error) {
	if p == nil {
		return nil
	}
	if p.regex, err = regexp.Compile("^(?s:" + p.text + ")$"); err != nil {
		return exception.New(exception.IllegalArgument, "Pattern [%s] of type [regex] is invalid. Cannot create dynamic template [%s].", p.text, t.name).
			CausedBy(exception.New(exception.PatternSyntax, "%s", strings.TrimPrefix(err.Error(), "error parsing regexp: ")))
	}
	return nil
}

// sorted is the object with its keys in order, as the server keeps a template's
// definition.
func sorted(o *object) *object {
	o = o.clone()
	o.keys = append([]string{}, o.keys...)
	sort.Slice(o.keys, func(i, j int) bool { return java.Less(o.keys[i], o.keys[j]) })
	return o
}

// append renders the template under its name.
func (t *template) append(b []byte) []byte {
	outer, first := true, true
	b = append(appendKey(append(b, '{'), t.name, &outer), '{')
	for _, p := range []struct {
		key     string
		pattern *pattern
	}{{"match", t.match}, {"path_match", t.pathMatch}, {"unmatch", t.unmatch}, {"path_unmatch", t.pathUnmatch}} {
		if p.pattern != nil {
			b = json.AppendString(appendKey(b, p.key, &first), p.pattern.text)
		}
	}
	if t.guess != "" {
		b = json.AppendString(appendKey(b, "match_mapping_type", &first), t.guess)
	}
	if t.regex {
		b = json.AppendString(appendKey(b, "match_pattern", &first), "regex")
	}
	b = appendTree(appendKey(b, "mapping", &first), t.mapping)
	return append(b, '}', '}')
}

// findTemplate is the first template for a new field whose value is of the
// guessed JSON type; nil when there is none.
func (m *Mapping) findTemplate(path, name, guess string) *template {
	for _, t := range m.templates {
		if t.pathMatch != nil && !t.pathMatch.meets(path) || t.match != nil && !t.match.meets(name) ||
			t.pathUnmatch != nil && t.pathUnmatch.meets(path) || t.unmatch != nil && t.unmatch.meets(name) ||
			t.guess != "" && t.guess != "*" && t.guess != guess {
			continue
		}
		return t
	}
	return nil
}

// definition is the template's definition of a field of that name.
func (t *template) definition(name, dynamicType string) *object {
	return fill(t.mapping, strings.NewReplacer("{name}", name, "{dynamic_type}", dynamicType, "{dynamicType}", dynamicType)).(*object)
}

// fill replaces placeholders in all strings, keys among them.
func fill(v any, with *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return with.Replace(v)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = fill(item, with)
		}
		return list
	case *object:
		o := &object{at: make(map[string]any, len(v.at))}
		for _, key := range v.keys {
			filled := with.Replace(key)
			if _, twice := o.at[filled]; !twice {
				o.keys = append(o.keys, filled)
			}
			o.at[filled] = fill(v.at[key], with)
		}
		o.keys = hashOrder(o.keys)
		return o
	}
	return v
}
