package proof

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// apart tells the first place where two answers differ, and which document it is about.
func apart(want, got string) (place, id string) {
	wanted, wantedBody, _ := strings.Cut(want, " ")
	have, haveBody, _ := strings.Cut(got, " ")
	if wanted != have {
		return fmt.Sprintf("OpenSearch: %.600s\nhere:       %.600s", want, got), ""
	}
	return parted("", decoded([]byte(wantedBody)), decoded([]byte(haveBody)), "")
}

func parted(path string, want, got any, about string) (place, id string) {
	switch w := want.(type) {
	case members:
		g, is := got.(members)
		if !is {
			break
		}
		if id, is := w["_id"].(string); is {
			about = id
		}
		names := maps.Clone(w)
		maps.Copy(names, g)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			a, first := w[name]
			b, second := g[name]
			if first != second || encoded(a) != encoded(b) {
				return parted(path+"."+name, a, b, about)
			}
		}
	case []any:
		g, is := got.([]any)
		if !is {
			break
		}
		for i := range min(len(w), len(g)) {
			if encoded(w[i]) != encoded(g[i]) {
				return parted(fmt.Sprintf("%s[%d]", path, i), w[i], g[i], about)
			}
		}
		if len(w) > len(g) {
			return parted(fmt.Sprintf("%s[%d]", path, len(g)), w[len(g)], nil, about)
		}
		return parted(fmt.Sprintf("%s[%d]", path, len(w)), nil, g[len(w)], about)
	}
	for _, side := range []any{want, got} {
		if hit, is := side.(members); is && hit["_id"] != nil {
			about = fmt.Sprint(hit["_id"])
		}
	}
	return fmt.Sprintf("at %s\nOpenSearch: %.600s\nhere:       %.600s", path, encoded(want), encoded(got)), about
}

// concerned is what a document has in the fields that a search names.
func (p *pair) concerned(q question, id string) string {
	if id == "" || strings.Contains(q.index, ",") {
		return ""
	}
	answer, err := p.send(call{method: "GET", path: "/" + p.prefix + q.index + "/_source/" + id}, p.theirs)
	source, is := decoded(answer.Body).(members)
	if err != nil || !is {
		return fmt.Sprintf("%s: %s", id, answer)
	}
	for name := range source {
		if !strings.Contains(q.body, `"`+name+`"`) && !strings.Contains(q.body, `"`+name+`.`) && !strings.Contains(q.body, `"`+name+`^`) && !strings.Contains(q.body, name+`:`) {
			delete(source, name)
		}
	}
	return fmt.Sprintf("%s has %s", id, encoded(source))
}
