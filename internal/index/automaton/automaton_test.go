package automaton

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// letters are few, so that texts meet by chance; of one, two, three and four bytes.
var letters = []rune("abAé€😀")

func anyText(t *rapid.T, most int, from ...rune) string {
	return string(rapid.SliceOfN(rapid.SampledFrom(from), 0, most).Draw(t, "text"))
}

func TestWildcardsAcceptWhatTheyMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := anyText(t, 6, append(letters, '*', '?', '\\')...)
		fold := rapid.Bool().Draw(t, "fold")
		w, err := Wildcard("", pattern, fold)
		if err != nil {
			t.Fatal(err)
		}
		text := anyText(t, 6, append(letters, '*', '?', '\\')...)
		if got, want := w.Meets(text), meetsWildcard([]rune(pattern), []rune(text), fold); got != want {
			t.Fatalf("%q accepts %q: %t", pattern, text, got)
		}
	})
}

// meetsWildcard is a wildcard, tried one way after the other.
func meetsWildcard(pattern, text []rune, fold bool) bool {
	if len(pattern) == 0 {
		return len(text) == 0
	}
	if pattern[0] == '*' {
		return meetsWildcard(pattern[1:], text, fold) || len(text) > 0 && meetsWildcard(pattern, text[1:], fold)
	}
	if len(text) == 0 {
		return false
	}
	if pattern[0] == '?' {
		return meetsWildcard(pattern[1:], text[1:], fold)
	}
	if pattern[0] == '\\' && len(pattern) > 1 {
		pattern = pattern[1:]
	}
	return (pattern[0] == text[0] || fold && otherCase(pattern[0]) == text[0]) && meetsWildcard(pattern[1:], text[1:], fold)
}

func TestFuzzyWordsCountEdits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := anyText(t, 7, letters...)
		most := rapid.IntRange(0, 2).Draw(t, "edits")
		same := min(rapid.IntRange(0, 3).Draw(t, "prefix"), len([]rune(word)))
		transposing := rapid.Bool().Draw(t, "transposing")
		w, err := Fuzzy(word, most, same, transposing)
		if err != nil {
			t.Fatal(err)
		}
		a := []rune(word)
		for range 20 {
			text := edited(t, word)
			b := []rune(text)
			want := uint8(0)
			if len(b) >= same && slices.Equal(a[:same], b[:same]) {
				if n := edits(a[same:], b[same:], transposing); n <= most {
					want = uint8(n + 1)
				}
			}
			if got := worth(w, text); got != want {
				t.Fatalf("%q ~%d (%d fixed, transposing %t) %q: %d, want %d", word, most, same, transposing, text, got, want)
			}
		}
	})
}

// worth is the value of the state behind a text.
func worth(w *Words, text string) uint8 {
	state := w.Start()
	for i := 0; i < len(text) && state >= 0; i++ {
		state = w.Step(state, text[i])
	}
	if state < 0 {
		return 0
	}
	return w.Worth(state)
}

// edited is a text with a few characters changed, swapped, added or left out.
func edited(t *rapid.T, text string) string {
	s := []rune(text)
	for range rapid.IntRange(0, 3).Draw(t, "edits") {
		at := rapid.IntRange(0, len(s)).Draw(t, "at")
		r := rapid.SampledFrom(letters).Draw(t, "letter")
		switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
		case kind == 0 || at == len(s):
			s = slices.Insert(s, at, r)
		case kind == 1:
			s = slices.Delete(s, at, at+1)
		case kind == 2 && at+1 < len(s):
			s[at], s[at+1] = s[at+1], s[at]
		default:
			s[at] = r
		}
	}
	return string(s)
}

// edits is the distance of two texts by the table of Levenshtein, with neighbours swapped.
func edits(a, b []rune, transposing bool) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
		for j := range table[i] {
			switch {
			case i == 0 || j == 0:
				table[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				table[i][j] = table[i-1][j-1]
			default:
				table[i][j] = 1 + min(table[i-1][j], table[i][j-1], table[i-1][j-1])
			}
			if transposing && i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				table[i][j] = min(table[i][j], table[i-2][j-2]+1)
			}
		}
	}
	return table[len(a)][len(b)]
}

// expression is a regular expression: its text, and where it may end in a text that it
// begins at a place of.
type expression struct {
	text string
	ends func(s []rune, from int) []int
}

// anyExpression draws one that is not deeper than so many brackets.
func anyExpression(t *rapid.T, depth int) expression {
	kind := rapid.IntRange(0, 13).Draw(t, "kind")
	if depth == 0 {
		kind %= 6
	}
	below := func() expression { return anyExpression(t, depth-1) }
	switch kind {
	case 0:
		r := rapid.SampledFrom(letters).Draw(t, "letter")
		return expression{string(r), one(func(c rune) bool { return c == r })}
	case 1:
		return expression{".", one(func(rune) bool { return true })}
	case 2:
		return expression{"[ab-€]", one(func(c rune) bool { return c == 'a' || 'b' <= c && c <= '€' })}
	case 3:
		return expression{"[^aé]", one(func(c rune) bool { return c != 'a' && c != 'é' })}
	case 4:
		return expression{"@", func(s []rune, from int) []int { return upTo(from, len(s)) }}
	case 5:
		return expression{`"a."`, func(s []rune, from int) []int {
			if from+2 <= len(s) && s[from] == 'a' && s[from+1] == '.' {
				return []int{from + 2}
			}
			return nil
		}}
	case 6, 7, 8:
		a, b := below(), below()
		return expression{a.text + b.text, func(s []rune, from int) []int {
			return after(a.ends(s, from), func(at int) []int { return b.ends(s, at) })
		}}
	case 9:
		a, b := below(), below()
		return expression{"(" + a.text + "|" + b.text + ")", func(s []rune, from int) []int {
			return unique(append(slices.Clone(a.ends(s, from)), b.ends(s, from)...))
		}}
	case 10:
		a, b := below(), below()
		return expression{"(" + a.text + "&" + b.text + ")", func(s []rune, from int) []int {
			other := b.ends(s, from)
			return slices.DeleteFunc(slices.Clone(a.ends(s, from)), func(at int) bool { return !slices.Contains(other, at) })
		}}
	case 11:
		a := below()
		return expression{"~(" + a.text + ")", func(s []rune, from int) []int {
			not := a.ends(s, from)
			return slices.DeleteFunc(upTo(from, len(s)), func(at int) bool { return slices.Contains(not, at) })
		}}
	case 12:
		least, most := rapid.IntRange(0, 2).Draw(t, "least"), rapid.IntRange(2, 3).Draw(t, "most")
		return repeated(below(), fmt.Sprintf("{%d,%d}", least, most), least, most)
	}
	sign := rapid.SampledFrom([]string{"*", "+", "?"}).Draw(t, "sign")
	return repeated(below(), sign, map[string]int{"+": 1}[sign], map[string]int{"?": 1, "*": 9, "+": 9}[sign])
}

func one(is func(rune) bool) func(s []rune, from int) []int {
	return func(s []rune, from int) []int {
		if from < len(s) && is(s[from]) {
			return []int{from + 1}
		}
		return nil
	}
}

func upTo(from, to int) (list []int) {
	for ; from <= to; from++ {
		list = append(list, from)
	}
	return list
}

func after(places []int, then func(at int) []int) (list []int) {
	for _, at := range places {
		list = append(list, then(at)...)
	}
	return unique(list)
}

func unique(list []int) []int {
	slices.Sort(list)
	return slices.Compact(list)
}

func repeated(of expression, sign string, least, most int) expression {
	return expression{"(" + of.text + ")" + sign, func(s []rune, from int) []int {
		at, all := []int{from}, []int(nil)
		for n := 0; n <= most && len(at) > 0; n++ {
			if n >= least {
				all = append(all, at...)
			}
			at = after(at, func(at int) []int { return of.ends(s, at) })
		}
		return unique(all)
	}}
}

func TestExpressionsAcceptWhatTheyMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyExpression(t, 3)
		w, err := Regexp(e.text, AllFlags, false, MaxEffort)
		if exception.Is(err, exception.TooComplex) {
			t.Skip("too complex")
		}
		if err != nil {
			t.Fatalf("%q: %v", e.text, err)
		}
		texts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return anyText(t, 5, append(letters, '.')...) }), 30, 30).Draw(t, "texts")
		for _, text := range append(texts, strings.Split("a,b,é,€,😀,.", ",")...) {
			if got, want := w.Meets(text), slices.Contains(e.ends([]rune(text), 0), len([]rune(text))); got != want {
				t.Fatalf("%q accepts %q: %t", e.text, text, got)
			}
			if w.Meets(text) && !strings.HasPrefix(text, string(w.Prefix())) {
				t.Fatalf("%q accepts %q, which does not begin with %q", e.text, text, w.Prefix())
			}
		}
	})
}

func TestIntervalsAcceptNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.IntRange(0, 1200).Draw(t, "a"), rapid.IntRange(0, 1200).Draw(t, "b")
		padded := rapid.Bool().Draw(t, "padded")
		text := fmt.Sprintf("<%d-%d>", a, b)
		if padded {
			text = fmt.Sprintf("<%04d-%04d>", a, b)
		}
		w, err := Regexp(text, AllFlags, false, MaxEffort)
		if err != nil {
			t.Fatal(err)
		}
		width := len(fmt.Sprint(a)) // of what is accepted; 0: any
		if padded {
			width = 4
		} else if width != len(fmt.Sprint(b)) {
			width = 0
		}
		for n := range 1300 {
			inside := min(a, b) <= n && n <= max(a, b)
			for zeros := range 4 {
				number := strings.Repeat("0", zeros) + fmt.Sprint(n)
				if got, want := w.Meets(number), inside && (width == 0 || len(number) == width); got != want {
					t.Fatalf("%s accepts %s: %t", text, number, got)
				}
			}
		}
	})
}

// TestExpressionsSaid: what the syntax means at its edges, as OpenSearch 2.19.0 finds it.
func TestExpressionsSaid(t *testing.T) {
	for _, c := range []struct {
		text    string
		flags   string
		yes, no []string
	}{
		{`qu.*k`, "", []string{"quick", "quk"}, []string{"quicks", "qu"}},
		{`|a`, "", []string{"|a"}, []string{"", "a"}},
		{`*a`, "", []string{"*a"}, []string{"a"}},
		{`a||b`, "", []string{"a", "|b"}, []string{"b", ""}},
		{`()`, "", []string{""}, []string{"a"}},
		{`a()b`, "", []string{"ab"}, []string{"a"}},
		{``, "", []string{""}, []string{"a"}},
		{`~a`, "NONE", []string{"~a"}, []string{"b"}},
		{`a&b`, "COMPLEMENT", []string{"a&b"}, []string{"a"}},
		{`#|a`, "", []string{"a"}, []string{"#", ""}},
		{`#|a`, "NONE", []string{"a", "#"}, nil},
		{`@`, "COMPLEMENT", []string{"@"}, []string{"a"}},
		{`<1-5>`, "NONE", []string{"<1-5>"}, []string{"3"}},
		{`\d\w\S`, "", []string{"1_x"}, []string{"a_x", "1_ "}},
		{`[\D]`, "", []string{"a"}, []string{"1"}},
		{`\.`, "", []string{"."}, []string{"a"}},
		{`[a\-z]`, "", []string{"-", "z"}, []string{"b"}},
		{`[]]`, "", []string{"]"}, []string{"a"}},
		{`a{2}`, "", []string{"aa"}, []string{"a", "aaa"}},
		{`a{2,}`, "", []string{"aa", "aaaa"}, []string{"a"}},
		{`(ab){0}`, "", []string{""}, []string{"ab"}},
		{`~(.*b.*)&..`, "", []string{"ac"}, []string{"ab", "a"}},
	} {
		flags, err := ReadFlags(c.flags)
		if err != nil {
			t.Fatal(err)
		}
		w, err := Regexp(c.text, flags, false, MaxEffort)
		if err != nil {
			if c.yes != nil {
				t.Errorf("%q: %v", c.text, err)
			}
			continue
		}
		for _, text := range c.yes {
			if !w.Meets(text) {
				t.Errorf("%q does not accept %q", c.text, text)
			}
		}
		for _, text := range c.no {
			if w.Meets(text) {
				t.Errorf("%q accepts %q", c.text, text)
			}
		}
	}
}

// FuzzRegexp: no expression takes more than its limit, and errors are exceptions.
func FuzzRegexp(f *testing.F) {
	for _, seed := range []string{`(a|b)*a(a|b){9}`, `~(<1-30>&[^\d])|#@"x"`, `((a{9}){9}){9}`, `a{0,9999}`, `[\w-\\]`, `~~~~a`} {
		f.Add(seed, uint8(AllFlags), true)
	}
	f.Fuzz(func(t *testing.T, text string, flags uint8, fold bool) {
		if len(text) > 1000 {
			return
		}
		w, err := Regexp(text, Flags(flags)&AllFlags, fold, 1000)
		var e *exception.Error
		if err != nil {
			if !errors.As(err, &e) {
				t.Fatal(err)
			}
			return
		}
		if n := len(w.dfa.edges); n > 10*1000 {
			t.Fatalf("%d states", n)
		}
		w.Meets(text)
	})
}
