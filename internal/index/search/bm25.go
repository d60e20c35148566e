package search

import (
	"math"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// The parameters of BM25, which the server has too.
const (
	bm25K1 float32 = 1.2
	bm25B  float32 = 0.75
)

// bm25 scores the frequencies of one term, of terms that count as one, or of a phrase.
// Formula and precision are those of Lucene's BM25Similarity; the factor k1 + 1, which
// Lucene has dropped, is in the scores of OpenSearch 2 (LegacyBM25Similarity). Products are
// rounded on their own: a fused operation would give other digits.
type bm25 struct {
	weight  float32
	inverse *[256]float32 // by rounded length
}

// idf is the inverse document frequency of a term that n of the docs with the field have.
func idf(docs, n int64) float32 {
	return float32(math.Log(1 + (float64(docs)-float64(n)+0.5)/(float64(n)+0.5)))
}

// weigh is the weight of a leaf.
func weigh(boost, idf float32) float32 {
	return float32(boost*float32(1+bm25K1)) * idf
}

// inverses are 1 / (k1 · (1 − b + b · length / average)) by rounded length.
func inverses(docs, frequencies int64) *[256]float32 {
	average := float32(float64(frequencies) / float64(max(docs, 1)))
	var t [256]float32
	for i := range t {
		part := float32(bm25B*float32(segment.Length(byte(i)))) / average
		t[i] = 1 / float32(bm25K1*((1-bm25B)+part))
	}
	return &t
}

// score is the score of a frequency in a doc of a rounded length. It falls with neither a
// greater frequency nor a shorter length.
func (s *bm25) score(frequency float32, length byte) float32 {
	return s.weight - s.weight/(1+float32(frequency*s.inverse[length]))
}

// most is the greatest score of some impacts.
func (s *bm25) most(impacts []segment.Impact) float32 {
	most := float32(0)
	for _, i := range impacts {
		most = max(most, s.score(float32(i.Frequency), i.Length))
	}
	return most
}

// roundUp is a score that no sum of n parts, whose exact sum is not greater, can exceed.
func roundUp(sum float64, n int) float32 {
	up := float32(sum * (1 + float64(n)*1e-15))
	if float64(up) < sum {
		up = math.Nextafter32(up, math.MaxFloat32)
	}
	return up
}
