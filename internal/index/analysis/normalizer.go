package analysis

import "sync"

// normalizer is a chain whose tokenizer leaves the text whole.
type normalizer struct{ chain chain }

var lowerNormalizer = &normalizer{chain{tokenizer: whole{}, filters: []filter{lowercase}}}

// Normalize is what Normalizer tells.
func (n *normalizer) Normalize(dst, text []byte) []byte {
	if len(n.chain.filters) == 0 && len(n.chain.charFilters) == 0 {
		return append(dst, text...)
	}
	tokens := scratch.Get().(*[]Token)
	defer scratch.Put(tokens)
	*tokens = n.chain.Analyze((*tokens)[:0], text)
	for i := range *tokens {
		dst = append(dst, (*tokens)[i].Term...)
		(*tokens)[i] = Token{}
	}
	return dst
}

var scratch = sync.Pool{New: func() any { return new([]Token) }}
