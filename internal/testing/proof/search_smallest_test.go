package proof

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// smaller lists what is made of a JSON value by leaving one thing out: an object that
// stands for one above it, a member, an element, a word.
func smaller(value any) (all []any) {
	switch v := value.(type) {
	case members:
		all = append(all, within(v, 3)...)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			less := maps.Clone(v)
			delete(less, name)
			all = append(all, less)
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			for _, member := range smaller(v[name]) {
				less := maps.Clone(v)
				less[name] = member
				all = append(all, less)
			}
		}
	case []any:
		for i := range v {
			all = append(all, slices.Concat(v[:i], v[i+1:]))
		}
		for i := range v {
			for _, element := range smaller(v[i]) {
				less := slices.Clone(v)
				less[i] = element
				all = append(all, less)
			}
		}
	case string:
		if words := strings.Fields(v); len(words) > 1 {
			for i := range words {
				all = append(all, strings.Join(slices.Concat(words[:i], words[i+1:]), " "))
			}
		}
	}
	return all
}

// within lists the objects in an object, not deeper than depth levels.
func within(value any, depth int) (all []any) {
	if depth == 0 {
		return nil
	}
	inner := func(member any) {
		if _, is := member.(members); is {
			all = append(all, member)
		}
		all = append(all, within(member, depth-1)...)
	}
	switch v := value.(type) {
	case members:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			inner(v[name])
		}
	case []any:
		for _, element := range v {
			inner(element)
		}
	}
	return all
}

// reduce takes the first smaller value that still holds, as long as there is one and
// tries are left.
func reduce(value any, tries int, holds func(any) bool) any {
	for again := true; again; {
		again = false
		for _, less := range smaller(value) {
			if tries--; tries < 0 {
				return value
			}
			if holds(less) {
				value, again = less, true
				break
			}
		}
	}
	return value
}

var errorType = regexp.MustCompile(`"type":"[a-z_]+"`)

// kindOf tells differences of one kind from others, roughly.
func kindOf(want, got string) string {
	status := func(text string) string { return text[:min(3, len(text))] }
	kind := status(want) + "/" + status(got)
	if !strings.HasPrefix(want, "200") {
		kind += strings.Join(errorType.FindAllString(want, -1), "")
	}
	if !strings.HasPrefix(got, "200") {
		kind += "/" + strings.Join(errorType.FindAllString(got, -1), "")
	}
	return kind
}

// compound are queries of several queries.
var compound = regexp.MustCompile(`"(bool|dis_max|boosting|function_score|multi_match|query_string)"|"query":.*"sort"|"aggs":.*"(query|sort)"`)

// undefined are searches without one right answer: random numbers of no seed, pages of
// an order that does not tell documents apart.
var undefined = regexp.MustCompile(`"random_score":\{("seed":\d+|"field":"[a-z]+")?\}`)

var topSorted = regexp.MustCompile(`"top_hits":\{[^}]*"sort":\["u"|"path":"nest".*"top_hits":\{[^}]*"sort":\["nest.x"|"top_hits":\{[^}]*"sort":\["nest.x".*"path":"nest"`)

func (q question) defined() bool {
	return !undefined.MatchString(q.body) && (!strings.Contains(q.body, `"top_hits"`) || topSorted.MatchString(q.body)) && (q.way != "pages" && q.way != "point" || strings.Contains(q.body, `"u"]`))
}

var literals = regexp.MustCompile(`:("(\\.|[^"\\])*"|[-0-9.e+]+)`)

// once is a difference that is not there when it is asked for again.
const once = "once"

// smallest makes a difference small: the search, then the documents. It is "" when one
// of its kind was met before.
func (p *pair) smallest(q question, world []documents, met map[string]bool, collect bool) string {
	want, got := p.compareSearch(q)
	if want == got {
		return once
	}
	kind := kindOf(want, got)
	holds := func(p *pair, q question) bool {
		if !q.defined() {
			return false
		}
		want, got := p.compareSearch(q)
		return want != got && kindOf(want, got) == kind
	}
	for _, other := range []question{{"search", whole, q.body}, {"search", churned, q.body}, {"search", parts, q.body}, {q.way, whole, q.body}, {q.way, churned, q.body}, {q.way, parts, q.body}} {
		if (q.way != "count" && q.way != "validate" || other.way == q.way) && (other.index != whole || q.index == whole) && holds(p, other) {
			q = other
			break
		}
	}
	q.body = encoded(reduce(decoded([]byte(q.body)), 400, func(less any) bool {
		return holds(p, question{q.way, q.index, encoded(less)})
	}))
	if _, got := p.compareSearch(q); compound.MatchString(q.body) && (strings.Contains(got, "_exception") || got == "200 false") {
		return "" // of several faults, which one is told first, or whether it is looked for where nothing is found, is nobody's promise
	}
	class := kind + q.way + literals.ReplaceAllString(q.body, ":_")
	if met[class] {
		return ""
	}
	met[class] = true
	want, got = p.compareSearch(q)
	place, id := apart(want, got)
	short := fmt.Sprintf("%s of %s: %s\n%s\n%s\n", q.way, q.index, q.body, place, p.concerned(q, id))
	if collect {
		return short
	}
	all := []documents{}
	for _, d := range world {
		if strings.Contains(","+q.index+",", ","+d.index+",") {
			all = append(all, d)
		}
	}
	small := *p
	small.prefix = p.prefix + "small-"
	if len(all) == 1 {
		all[0] = small.fewest(all[0], func(d documents) bool {
			defer small.clear(nil)
			return small.lay([]documents{d}) == nil && holds(&small, q)
		})
		_ = small.lay(all)
		defer small.clear(nil)
	} else {
		small.prefix = p.prefix
	}
	want, got = small.compareSearch(q)
	return short + script(all, q) + fmt.Sprintf("OpenSearch: %s\nhere:       %s\n", want, got)
}

// fewest leaves out documents, then their members, then fields of the mapping.
func (p *pair) fewest(d documents, holds func(documents) bool) documents {
	var items []any // texts of items; an empty one is a refresh
	for _, bulk := range d.bulks {
		for _, item := range itemsOf(bulk) {
			items = append(items, item)
		}
		items = append(items, "")
	}
	of := func(items []any) documents {
		less := documents{index: d.index, mapping: d.mapping, analysis: d.analysis, bulks: []string{""}}
		for _, item := range items {
			if item == "" {
				less.bulks = append(less.bulks, "")
			} else {
				less.bulks[len(less.bulks)-1] += item.(string)
			}
		}
		return less
	}
	tries := 60
	for size := len(items) / 2; size > 0 && tries > 0; {
		smaller := false
		for at := 0; at < len(items) && tries > 0; tries-- {
			less := slices.Concat(items[:at], items[min(at+size, len(items)):])
			if holds(of(less)) {
				items, smaller = less, true
			} else {
				at += size
			}
		}
		if !smaller {
			size /= 2
		}
	}
	if len(items) > 6 {
		return of(items)
	}
	for i, item := range items {
		action, source, _ := strings.Cut(item.(string), "\n")
		if value := decoded([]byte(source)); value != nil {
			reduce(value, 60, func(less any) bool {
				shorter := slices.Clone(items)
				shorter[i] = action + "\n" + encoded(less) + "\n"
				if !holds(of(shorter)) {
					return false
				}
				items = shorter
				return true
			})
		}
	}
	d = of(items)
	d.mapping = encoded(reduceMembers(decoded([]byte(d.mapping)), func(less any) bool {
		e := d
		e.mapping = encoded(less)
		return holds(e)
	}))
	if e := d; e.analysis != "" {
		e.analysis = ""
		if holds(e) {
			d = e
		}
	}
	return d
}

// reduceMembers leaves out properties of a mapping.
func reduceMembers(mapping any, holds func(any) bool) any {
	properties := mapping.(members)["properties"].(members)
	for names := slices.Sorted(maps.Keys(properties)); len(names) > 0; {
		some := names[:(len(names)+1)/2]
		less := maps.Clone(properties)
		for _, name := range some {
			delete(less, name)
		}
		switch {
		case holds(members{"properties": less}):
			properties, names = less, names[len(some):]
		case len(some) == 1:
			names = names[1:]
		default:
			names = slices.Concat(some, names[len(some):])
			one := maps.Clone(properties)
			delete(one, names[0])
			if holds(members{"properties": one}) {
				properties = one
			}
			names = names[1:]
		}
	}
	return members{"properties": properties}
}

// itemsOf are the items of a bulk, each with its source.
func itemsOf(bulk string) (items []string) {
	lines := strings.SplitAfter(strings.TrimSuffix(bulk, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		item := lines[i]
		if !strings.HasPrefix(item, `{"delete"`) && i+1 < len(lines) {
			i++
			item += lines[i]
		}
		items = append(items, strings.TrimSuffix(item, "\n")+"\n")
	}
	return items
}

// script is what a person sends to see the difference.
func script(all []documents, q question) string {
	var out strings.Builder
	for _, d := range all {
		for _, c := range d.making("") {
			fmt.Fprintf(&out, "curl -X%s $URL%s -H 'Content-Type: %s' --data-binary %s\n", c.method, c.path, c.contentType, shell(c.body))
		}
	}
	path := map[string]string{"count": "/_count", "validate": "/_validate/query?explain=true"}[q.way]
	if path == "" {
		path = "/_search"
	}
	fmt.Fprintf(&out, "curl '$URL/%s%s' -H 'Content-Type: application/json' -d %s # by way of %s\n", q.index, path, shell(q.body), q.way)
	return out.String()
}

// shell quotes a text for a shell.
func shell(text string) string {
	if strings.Contains(text, "\n") || strings.Contains(text, `'`) {
		return "$'" + strings.NewReplacer(`\`, `\\`, "\n", `\n`, `'`, `\'`).Replace(text) + "'"
	}
	return "'" + text + "'"
}
