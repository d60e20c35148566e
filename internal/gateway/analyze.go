package gateway

import (
	"encoding/json"
	"net/http"

	"github.com/reshelve/reshelve/internal/index/analysis"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/index/query"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// analyzeRoutes are the endpoints that take texts apart.
var analyzeRoutes = []route{
	{"GET POST", "/_analyze", "index", (*call).analyze},
	{"GET POST", "/{index}/_analyze", "index", (*call).analyze},
}

// analyze tells the tokens of texts.
func (c *call) analyze() error {
	body, err := c.contentOrSource()
	if err != nil {
		return err
	}
	asked, err := query.ReadAnalyze(body)
	if err != nil {
		return err
	}
	name := c.name("index")
	if name == "" {
		name = c.text("index", "")
	}
	all, schema, err := c.s.store.Analysis(c.ctx(), name)
	if err != nil {
		return err
	}
	inline := analysis.Inline{Texts: asked.Text, Analyzer: asked.Analyzer, Normalizer: asked.Normalizer, Global: name == "", Explain: asked.Explain}
	if asked.Field != "" && schema != nil {
		if f, known := schema.Field(asked.Field); known {
			if f.Kind() != fields.Text && f.Kind() != fields.Keyword {
				return exception.New(exception.IllegalArgument, "Can't process field [%s], Analysis requests are only supported on tokenized fields", asked.Field)
			}
			inline.Field = f.Analyzer()
		}
	}
	if asked.Field != "" && schema == nil {
		return exception.New(exception.IllegalArgument, "analysis based on a specific field requires an index")
	}
	if asked.Tokenizer != nil {
		one, err := analysisPart(*asked.Tokenizer)
		if err != nil {
			return err
		}
		inline.Tokenizer = &one
	}
	if inline.Filters, err = analysisParts(asked.Filters); err != nil {
		return err
	}
	if inline.CharFilters, err = analysisParts(asked.CharFilters); err != nil {
		return err
	}
	tokens, err := all.Inline(inline)
	if err != nil {
		return err
	}
	list := array{}
	for _, t := range tokens {
		one := object{{"token", string(t.Term)}, {"start_offset", t.Start}, {"end_offset", t.End}, {"type", t.Type}, {"position", t.Position}}
		if t.Length != 1 {
			one.add("positionLength", t.Length)
		}
		list = append(list, one)
	}
	return c.answer(http.StatusOK, object{{"tokens", list}})
}

func analysisParts(parts []query.Part) (all []analysis.Part, err error) {
	for _, p := range parts {
		one, err := analysisPart(p)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// analysisPart is a part of a body with its options as settings have them.
func analysisPart(p query.Part) (analysis.Part, error) {
	if p.Settings == nil {
		return analysis.Part{Name: p.Name}, nil
	}
	one := analysis.Part{Settings: map[string][]string{}, JSON: string(p.Settings)}
	members, err := readObject(p.Settings)
	if err != nil {
		return one, err
	}
	for _, m := range members {
		one.Settings[m.name] = settingTexts(m.value.(json.RawMessage))
	}
	return one, nil
}

// settingTexts are the texts of an option: of a list all of them.
func settingTexts(value json.RawMessage) []string {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		list = []json.RawMessage{value}
	}
	var texts []string
	for _, element := range list {
		var text string
		if json.Unmarshal(element, &text) != nil {
			text = string(element)
		}
		texts = append(texts, text)
	}
	return texts
}
