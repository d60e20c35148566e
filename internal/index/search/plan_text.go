package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// describe is a plan as one line, in the manner of Lucene: field:term, +must, #filter,
// -not, "a phrase"~slop, (either | or)~tie, [from TO to], each with ^boost where it has one.
// It is for tests and for people: plans that find different things may read alike.
func describe(p plan) string {
	switch p := p.(type) {
	case allPlan:
		return "*:*" + boosted(p.score)
	case nonePlan:
		return "none"
	case *termPlan:
		return p.field + ":" + termText(p.term) + blended(p.blend) + boosted(p.boost)
	case *synonymsPlan:
		return "Synonym(" + fieldTerms(p.field, p.terms) + ")" + boosted(p.boost)
	case *phrasePlan:
		return p.field + ":" + phraseText(p.words) + slopText(p.slop) + boosted(p.boost)
	case *phrasesPlan:
		ways := make([]string, len(p.ways))
		for i, words := range p.ways {
			ways[i] = phraseText(words)
		}
		return p.field + ":Phrases(" + strings.Join(ways, " ") + ")" + slopText(p.slop) + boosted(p.boost)
	case *boolPlan:
		return describeBool(p)
	case *constantPlan:
		return "ConstantScore(" + describe(p.of) + ")" + boosted(p.score)
	case *maxPlan:
		tie := ""
		if p.tie != 0 {
			tie = "~" + java.Float(p.tie)
		}
		return "(" + describeAll(p.of, " | ") + ")" + tie
	case *boostingPlan:
		return fmt.Sprintf("Boosting(%s, %s^%s)%s", describe(p.positive), describe(p.negative), java.Float(p.factor), boosted(p.boost))
	}
	return describeOther(p)
}

// describeOther is describe for what has no score of its own.
func describeOther(p plan) string {
	switch p := p.(type) {
	case *matchPlan:
		return p.field.Name() + ":" + matchText(p.match)
	case *numbersPlan:
		parts := make([]string, len(p.intervals))
		for i, in := range p.intervals {
			parts[i] = matchText(fields.Match{Numbers: true, Least: in.least, Greatest: in.greatest})
		}
		return p.field.Name() + ":{" + strings.Join(parts, " ") + "}"
	case *testPlan:
		return p.field.Name() + ":" + p.text
	case *termsPlan:
		terms := make([]string, len(p.terms))
		for i, term := range p.terms {
			terms[i] = termText(term)
		}
		return p.field + ":(" + strings.Join(terms, " ") + ")"
	case *wordsPlan:
		return p.field + ":" + p.text
	case *idsPlan:
		return "_id:(" + strings.Join(p.ids, " ") + ")"
	case *existsPlan:
		names := slices.Sorted(slices.Values(p.fields))
		return "exists(" + strings.Join(names, " ") + ")"
	case *nestedPlan:
		return "Nested(" + p.path + ", " + p.mode + ", " + describe(p.of) + ")" + boosted(p.boost)
	case *functionPlan:
		return describeFunctions(p)
	case *namedPlan:
		return p.name + "=(" + describe(p.of) + ")"
	}
	return fmt.Sprintf("%T", p)
}

func describeAll(plans []plan, between string) string {
	parts := make([]string, len(plans))
	for i, p := range plans {
		parts[i] = inBrackets(p)
	}
	return strings.Join(parts, between)
}

// inBrackets is a plan where it stands among others.
func inBrackets(p plan) string {
	if b, ok := p.(*boolPlan); ok && !hasMinimum(b) {
		return "(" + describe(p) + ")"
	}
	return describe(p)
}

// hasMinimum reports whether so many of should must be found as Lucene tells.
func hasMinimum(p *boolPlan) bool {
	return p.minShould > 1 || p.minShould == 1 && len(p.must)+len(p.filter) > 0
}

func describeBool(p *boolPlan) string {
	var parts []string
	for _, clauses := range []struct {
		sign  string
		plans []plan
	}{{"+", p.must}, {"-", p.mustNot}, {"", p.should}, {"#", p.filter}} {
		for _, of := range clauses.plans {
			parts = append(parts, clauses.sign+inBrackets(of))
		}
	}
	text := strings.Join(parts, " ")
	if hasMinimum(p) {
		text = "(" + text + ")~" + strconv.Itoa(p.minShould)
	}
	return text
}

func describeFunctions(p *functionPlan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "FunctionScore(%s", describe(p.of))
	for i, f := range p.score.Functions {
		b.WriteString(", " + functionText(f))
		if p.filter[i] != nil {
			b.WriteString(" if " + describe(p.filter[i]))
		}
	}
	return b.String() + ")" + boosted(p.boost)
}

func functionText(f Function) string {
	weight := ""
	if f.Weight != nil {
		weight = "weight " + java.Float(*f.Weight)
	}
	switch {
	case f.Random != nil:
		return strings.TrimSpace("random " + weight)
	case f.Factor != nil:
		return strings.TrimSpace(f.Factor.Field + " " + weight)
	case f.Decay != nil:
		return strings.TrimSpace(f.Decay.Shape + " " + f.Decay.Field + " " + weight)
	}
	return weight
}

func boosted(boost float32) string {
	if boost == 1 {
		return ""
	}
	return "^" + java.Float(boost)
}

func blended(b *blend) string {
	if b == nil {
		return ""
	}
	return "~"
}

func slopText(slop int) string {
	if slop == 0 {
		return ""
	}
	return "~" + strconv.Itoa(slop)
}

func fieldTerms(field string, terms [][]byte) string {
	parts := make([]string, len(terms))
	for i, term := range terms {
		parts[i] = field + ":" + termText(term)
	}
	return strings.Join(parts, " ")
}

// phraseText has a ? where a place is left free.
func phraseText(words []word) string {
	var parts []string
	for _, w := range words {
		for len(parts) < w.position {
			parts = append(parts, "?")
		}
		terms := make([]string, len(w.terms))
		for i, term := range w.terms {
			terms[i] = termText(term)
		}
		text := strings.Join(terms, " ")
		if len(terms) > 1 {
			text = "(" + text + ")"
		}
		parts = append(parts, text)
	}
	return `"` + strings.Join(parts, " ") + `"`
}

func matchText(m fields.Match) string {
	switch {
	case m.None:
		return "none"
	case m.Numbers:
		return fmt.Sprintf("[%d TO %d]", m.Least, m.Greatest)
	case m.GreatestTerm == nil:
		return "[" + termText(m.LeastTerm) + " TO *]"
	}
	return "[" + termText(m.LeastTerm) + " TO " + termText(m.GreatestTerm) + "]"
}

// termText is a term, in hexadecimal when it is no text.
func termText(term []byte) string {
	for _, r := range string(term) {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return fmt.Sprintf("%x", term)
		}
	}
	return string(term)
}

// clauses is how many clauses the server counts in a plan: leaves, and each term of a
// phrase. Numbers that are in a column and in order count twice.
func clauses(p plan) int {
	switch p := p.(type) {
	case nil:
		return 0
	case *synonymsPlan:
		return len(p.terms)
	case *phrasePlan:
		return termsIn(p.words)
	case *phrasesPlan:
		n := 0
		for _, words := range p.ways {
			n += termsIn(words)
		}
		return n
	case *boolPlan:
		return clausesOf(p.must) + clausesOf(p.filter) + clausesOf(p.should) + clausesOf(p.mustNot)
	case *constantPlan:
		return clauses(p.of)
	case *maxPlan:
		return clausesOf(p.of)
	case *boostingPlan:
		return clauses(p.positive)
	case *matchPlan:
		return waysToFind(p.field)
	case *numbersPlan:
		return waysToFind(p.field)
	case *testPlan:
		return waysToFind(p.field)
	case *nestedPlan:
		return clauses(p.of)
	case *functionPlan:
		return clauses(p.of)
	case *namedPlan:
		return clauses(p.of)
	}
	return 1
}

func clausesOf(plans []plan) int {
	n := 0
	for _, p := range plans {
		n += clauses(p)
	}
	return n
}

func termsIn(words []word) int {
	n := 0
	for _, w := range words {
		n += len(w.terms)
	}
	return n
}

// waysToFind is 2 for a field that can be searched and has a column.
func waysToFind(f *fields.Field) int {
	if spec := f.Spec(); spec.Column != 0 && (spec.Points || spec.Postings != 0) {
		return 2
	}
	return 1
}
