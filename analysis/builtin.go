package analysis

import (
	"math"
	"strings"
	"unicode"
)

var builtin = map[string]*chain{
	"standard":   {tokenizer: standard{max: 255, lower: true}, gap: 100},
	"simple":     {tokenizer: newRuns(unicode.IsLetter, math.MaxInt, true), gap: 100},
	"whitespace": {tokenizer: newRuns(func(r rune) bool { return !isSpace(r) }, 255, false), gap: 100},
	"keyword":    {tokenizer: whole{}, gap: 100},
	"stop":       {tokenizer: newRuns(unicode.IsLetter, math.MaxInt, true), filters: []filter{englishStop}, gap: 100},
}

var englishStop = stopWords("a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with")

func isAnalysis(key string) bool {
	return strings.HasPrefix(strings.TrimPrefix(key, "index."), "analysis.")
}
