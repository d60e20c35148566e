package document_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/document"
)

func printOf(source string) document.Fingerprint {
	return new(document.Fingerprinter).Of([]byte("id"), nil, []byte(source))
}

// formula is the formula of Fingerprint, computed another way: through a tree.
func formula(id, routing, source []byte) document.Fingerprint {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(id)))
	head = append(head, id...)
	head = binary.BigEndian.AppendUint32(head, uint32(len(routing)))
	head = append(head, routing...)
	key := sha256.Sum256(head)
	body := append([]byte("r"), source...)
	if text, ok := canonicalText(source); ok {
		body = []byte("j" + text)
	}
	content := sha256.Sum256(append(head, body...))
	return document.Fingerprint{Key: binary.BigEndian.Uint64(key[:8]), Content: [16]byte(content[:])}
}

// canonicalText is the canonical source by encoding/json's tokens; not for lone surrogates.
func canonicalText(source []byte) (string, bool) {
	if !json.Valid(source) {
		return "", false
	}
	d := json.NewDecoder(bytes.NewReader(source))
	d.UseNumber()
	text, err := value(d)
	if err != nil {
		return "", false
	}
	_, err = d.Token()
	return text, err == io.EOF
}

func value(d *json.Decoder) (string, error) {
	token, err := d.Token()
	if err != nil {
		return "", err
	}
	switch token := token.(type) {
	case json.Delim:
		type member struct{ name, value string }
		var members []member
		var values []string
		for d.More() {
			name := ""
			if token == '{' {
				key, err := d.Token()
				if err != nil {
					return "", err
				}
				name = quoted(key.(string))
			}
			v, err := value(d)
			if err != nil {
				return "", err
			}
			members = append(members, member{name, v})
			values = append(values, v)
		}
		if _, err := d.Token(); err != nil {
			return "", err
		}
		if token == '[' {
			return "[" + strings.Join(values, ",") + "]", nil
		}
		slices.SortStableFunc(members, func(a, b member) int {
			return strings.Compare(a.name[1:len(a.name)-1], b.name[1:len(b.name)-1])
		})
		for i, m := range members {
			values[i] = m.name + ":" + m.value
		}
		return "{" + strings.Join(values, ",") + "}", nil
	case string:
		return quoted(token), nil
	case json.Number:
		return token.String(), nil
	case nil:
		return "null", nil
	}
	return fmt.Sprint(token), nil
}

func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func TestDocumentsThatAreTheSame(t *testing.T) {
	for _, same := range [][]string{
		{`{"a":1,"b":[1,{"c":2,"d":null}]}`, "\n{ \"b\" : [ 1 , {\"d\":null,\t\"c\":2} ] ,\r\"a\":1}\n\n"},
		{`{"é/\"\\":"\n😀"}`, `{"\u00e9\/\u0022\u005C":"\u000a\ud83d\uDE00"}`},
		{`{}`, ` { } `},
		{`[]`, ` [ ] `},
		{`{"a":1,"a":2,"b":3}`, `{"a":1,"b":3,"a":2}`},
		{`{"a":1,"ab":2,"a!":3,"":4}`, `{"a!":3,"":4,"ab":2,"a":1}`},
		{`"\ud800"`, `"\uD800"`},
		{`{"k9":0,"k8":0,"k7":0,"k6":0,"k5":0,"k4":0,"k3":0,"k2":0,"k1":0,"k0":0,"j9":0,"j8":0,"j7":0,"j6":0,"j5":0,"j4":0,"a":1,"a":2}`,
			`{"a":1,"k9":0,"k8":0,"k7":0,"k6":0,"k5":0,"k4":0,"k3":0,"k2":0,"k1":0,"k0":0,"j9":0,"j8":0,"j7":0,"a":2,"j6":0,"j5":0,"j4":0}`},
	} {
		for _, s := range same[1:] {
			if printOf(s) != printOf(same[0]) {
				t.Errorf("%s and %s differ", s, same[0])
			}
		}
	}
}

func TestDocumentsThatDiffer(t *testing.T) {
	deep := func(n int, s string) string { return strings.Repeat("[", n) + s + strings.Repeat("]", n) }
	sources := []string{
		``, ` `, `null`, `true`, `false`, `1`, `1.0`, `1e0`, `"1"`, `""`, `{}`, `[]`, `[null]`, `[[]]`, `[{}]`, `[1,2]`, `[2,1]`, `[12]`,
		`{"a":1}`, `{"a":"1"}`, `{"a":1,"a":2}`, `{"a":2,"a":1}`, `{"a":{"b":1}}`, `{"a":{},"b":1}`, `{"a":1,"b":1}`, `{"a,b":1}`,
		`{"a":"\\"}`, `{"a":"\""}`, `{"a":"\\\""}`, `{"a":"\\n"}`, `{"a":"\n"}`, `{"a":" "}`, `{"a":""}`,
		`{"a":"\ud800"}`, `{"a":"\udc00"}`, `{"a":"\ud800\u0000"}`, `{"a":"\ud800\udc00"}`, `{"a":"\u0000"}`,
		// What is no JSON differs by its bytes.
		`{"a":1`, `{"a":1 `, `{"a":1}}`, `{"a":1}{}`, `{"a":1,}`, `{"a" 1}`, `{1:1}`, `[1,]`, `[,1]`, `[1}`, `{]`, `"a`, `"\x"`, `"\u12"`, `"\`, `tru`, `nul`, `truex`, `+1`, `{"a"}`, `{"a":}`, `{,}`,
		deep(1000, ""), deep(1001, ""), deep(1001, " "),
	}
	seen := map[document.Fingerprint]string{}
	for _, s := range sources {
		f := printOf(s)
		if other, ok := seen[f]; ok {
			t.Errorf("%.40s and %.40s are the same", s, other)
		}
		seen[f] = s
	}
	f := new(document.Fingerprinter)
	body := []byte(`{"a":1}`)
	one := f.Of([]byte("ab"), []byte("c"), body)
	for _, other := range []document.Fingerprint{f.Of([]byte("a"), []byte("bc"), body), f.Of([]byte("abc"), nil, body), f.Of([]byte("ab"), []byte("d"), body)} {
		if one.Key == other.Key || one.Content == other.Content {
			t.Error("id and routing run into each other")
		}
	}
	if f.Of([]byte("ab"), nil, body) != f.Of([]byte("ab"), []byte{}, body) {
		t.Error("no routing and an empty one differ")
	}
}

// TestTheFormulaStays: what has been written down by one release is compared by another.
//
//	printf '\0\0\0\2id\0\0\0\0j{"a":1,"b":"\303\251"}' | sha256sum
func TestTheFormulaStays(t *testing.T) {
	if got, want := printOf(` {"b":"\u00e9", "a":1}`).String(), "b894088f0dbc77af:b0351070dd3ffef6a1b9e72d4a259039"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// shuffled writes a document again in another of its forms.
func shuffled(r *rand.Rand, b *strings.Builder, v any) {
	blank := func() { b.WriteString([]string{"", " ", "\n", "\t\r "}[r.IntN(4)]) }
	blank()
	defer blank()
	switch v := v.(type) {
	case map[string]any:
		var names []string
		for name := range v {
			names = append(names, name)
		}
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		b.WriteByte('{')
		for i, name := range names {
			if i > 0 {
				b.WriteByte(',')
			}
			shuffled(r, b, name)
			b.WriteByte(':')
			shuffled(r, b, v[name])
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			shuffled(r, b, e)
		}
		b.WriteByte(']')
	case string:
		b.WriteByte('"')
		for _, c := range v {
			switch {
			case c > 0xffff || r.IntN(3) > 0 && c >= ' ' && c != '"' && c != '\\':
				b.WriteRune(c)
			default:
				fmt.Fprintf(b, `\u%04x`, c)
			}
		}
		b.WriteByte('"')
	default:
		text, _ := json.Marshal(v)
		b.Write(text)
	}
}

func FuzzFingerprint(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":[true,null,"x"]}`, `{"b":1,"a":{"d":"é\n😀\ud800","c":-1.5e+3}}`, `[]`, `{"a":1,"a":2}`, `"`, `{"a":"\u00e9\/"}`, `{`} {
		f.Add([]byte("id"), []byte(""), []byte(s), uint64(1))
	}
	reused := new(document.Fingerprinter)
	f.Fuzz(func(t *testing.T, id, routing, source []byte, seed uint64) {
		got := reused.Of(id, routing, source)
		if got != new(document.Fingerprinter).Of(id, routing, source) {
			t.Fatalf("%q: memory of the one before shows", source)
		}
		lone := bytes.Contains(bytes.ToLower(source), []byte(`\ud`)) || !bytes.Equal(bytes.ToValidUTF8(source, nil), source)
		if json.Valid(source) && !lone && got != formula(id, routing, source) {
			t.Fatalf("%q is not what the formula says", source)
		}
		if changed := append([]byte("["), source...); reused.Of(id, routing, append(changed, ']')) == got {
			t.Fatalf("%q is what it is in an array", source)
		}
		d := json.NewDecoder(bytes.NewReader(source))
		d.UseNumber()
		var tree any
		if !json.Valid(source) || lone || d.Decode(&tree) != nil {
			return
		}
		plain, _ := json.Marshal(tree) // duplicates are gone, and keys sorted
		var b strings.Builder
		shuffled(rand.New(rand.NewPCG(seed, seed)), &b, tree)
		if reused.Of(id, routing, plain) != reused.Of(id, routing, []byte(b.String())) {
			t.Fatalf("%s and %s differ", plain, b.String())
		}
	})
}

// TestTheWorstDocument: what is nested or escaped without end takes no time without end.
func TestTheWorstDocument(t *testing.T) {
	f := new(document.Fingerprinter)
	f.Of(nil, nil, []byte(`"`+strings.Repeat(`\n`, 1<<20)+`"`))
	f.Of(nil, nil, []byte(strings.Repeat(`{"b":`, 1000)+`1`+strings.Repeat(`,"a":0}`, 1000)))
	f.Of(nil, nil, []byte(strings.Repeat(`[`, 1<<20)))
}

func benchmark(b *testing.B, source []byte) {
	f := new(document.Fingerprinter)
	id := []byte("AVx9_document-42")
	b.SetBytes(int64(len(source)))
	b.ReportAllocs()
	for b.Loop() {
		f.Of(id, nil, source)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "docs/s")
}

func BenchmarkFingerprint(b *testing.B) {
	small := `{"title":"The Left Hand of Darkness","author":{"name":"Ursula K. Le Guin","born":1929},"year":1969,"tags":["novel","science fiction"],"price":12.5,"in_stock":true,"isbn":"978-0441478125"}`
	log := `{"@timestamp":"2026-03-01T03:00:00.000Z","host":{"name":"web-17","ip":"10.2.3.4"},"message":"` + strings.Repeat("GET /shelves/42/books?author=leguin HTTP/1.1 ", 12) + `","status":200,"bytes":5120,"agent":"curl/8.5","geo":{"lat":52.5,"lon":13.4},"labels":{"env":"prod","team":"search","app":"shop"},"duration":0.0123,"request":{"method":"GET","headers":{"accept":"*/*","host":"example.org"}}}`
	sorted, _ := canonicalText([]byte(log))
	b.Run("small", func(b *testing.B) { benchmark(b, []byte(small)) })
	b.Run("log", func(b *testing.B) { benchmark(b, []byte(log)) })
	b.Run("sorted", func(b *testing.B) { benchmark(b, []byte(sorted)) })
	b.Run("large", func(b *testing.B) { benchmark(b, []byte("["+strings.Repeat(log+",", 99)+log+"]")) })
}
