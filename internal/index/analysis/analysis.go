package analysis

import (
	"encoding/json"
	"strings"
)

// Token is one term of a text.
type Token struct {
	Term       []byte // UTF-8
	Position   int    // from 0, over all values of a field when Continue is told where to begin
	Length     int    // how many positions it spans; 1 but for graphs
	Start, End int    // bytes of the text that it comes from: before char filters, as far as they tell
	Type       string // "<ALPHANUM>", "word", …, as _analyze tells it
	Keyword    bool   // stemmers left it alone
}

// Analyzer takes texts apart. Safe for concurrent use.
type Analyzer interface {
	// Analyze appends the tokens of text. They are valid as long as text is not changed.
	Analyze(dst []Token, text []byte) []Token
	// Gap is by how many positions the values of one field are apart.
	Gap() int
}

// Normalizer makes one term of a text. Safe for concurrent use.
type Normalizer interface {
	Normalize(dst, text []byte) []byte
}

// Analysis are the analyzers of one index. Immutable, safe for concurrent use.
type Analysis struct{ parts *builder }

// New reads settings of an index: keys with dots ("index.analysis.analyzer.mine.type")
// and their values, a string or a list of strings each. The error is an *exception.Error
// with the server's type and reason.
func New(settings map[string][]string) (*Analysis, error) {
	b := newBuilder(settings)
	if err := b.all(); err != nil {
		return nil, err
	}
	return &Analysis{b}, nil
}

// FromSettings is New for settings as package catalog keeps them: a list is a JSON array of
// strings. A string that looks like one is taken for one, as the catalog does.
func FromSettings(settings map[string]string) (*Analysis, error) {
	all := make(map[string][]string, len(settings))
	for key, value := range settings {
		all[key] = []string{value}
		if strings.HasPrefix(value, "[") {
			var list []string
			if json.Unmarshal([]byte(value), &list) == nil {
				all[key] = list
			}
		}
	}
	return New(all)
}

// Analyzer finds an analyzer by name: of the index, or of the server.
func (a *Analysis) Analyzer(name string) (Analyzer, bool) {
	if c, ok := a.parts.analyzers[name]; ok {
		return c, true
	}
	build, ok := builtin[name]
	if !ok {
		return nil, false
	}
	return build(), true
}

// Normalizer finds a normalizer by name; "default" is none, and leaves texts as they are.
func (a *Analysis) Normalizer(name string) (Normalizer, bool) {
	if n, ok := a.parts.normalizers[name]; ok {
		return n, true
	}
	switch name {
	case "default":
		return &normalizer{}, true
	case "lowercase":
		return lowerNormalizer, true
	}
	return nil, false
}
