package corpus

import "math/rand/v2"

// Vocabulary is the number of words.
const Vocabulary = 50_000

// Word is the word of a rank, from 0 to Vocabulary-1: lower case, the common ones short.
func Word(rank int) string { return words[rank] }

var words = func() []string {
	random := rand.New(rand.NewPCG(7, 7))
	pick := func(letters string) byte { return letters[random.IntN(len(letters))] }
	seen := map[string]bool{}
	all := make([]string, 0, Vocabulary)
	for len(all) < Vocabulary {
		var w []byte
		for syllables := min(1+len(all)/200, 2) + random.IntN(1+min(2, len(all)/1000)); syllables > 0; syllables-- {
			w = append(w, pick("bcdfghjklmnprstvwz"), pick("aeiou"))
			if random.IntN(3) == 0 {
				w = append(w, pick("lmnrst"))
			}
		}
		if !seen[string(w)] {
			seen[string(w)] = true
			all = append(all, string(w))
		}
	}
	return all
}()

// cumulated are the shares of the ranks up to each, of 1 in all; starts finds the
// first rank to look at for each 65,536th of it.
var cumulated, starts = func() (sums []float64, starts []int32) {
	total := 0.0
	for rank := range Vocabulary {
		total += 1 / (float64(rank) + 2.7)
		sums = append(sums, total)
	}
	at := 0
	for i := range sums {
		sums[i] /= total
	}
	for part := range 1 << 16 {
		for sums[at] < float64(part)/(1<<16) {
			at++
		}
		starts = append(starts, int32(at))
	}
	return sums, starts
}()

// draw is a rank, as likely as it occurs.
func draw(random *rand.Rand) int {
	u := random.Float64()
	rank := int(starts[int(u*(1<<16))])
	for cumulated[rank] < u {
		rank++
	}
	return rank
}
