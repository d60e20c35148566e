package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// words of the texts, drawn with a skew as words are.
var words = func() (w []string) {
	random := rand.New(rand.NewPCG(7, 7))
	for range 5000 {
		letters := make([]byte, 3+random.IntN(7))
		for i := range letters {
			letters[i] = byte('a' + random.IntN(26))
		}
		w = append(w, string(letters))
	}
	return w
}()

// source is document number n: 13 fields, about 1 KB.
func source(n int) []byte {
	random := rand.New(rand.NewPCG(uint64(n), 1))
	text := func(length int) string {
		var b []byte
		for len(b) < length {
			b = append(append(b, words[int(float64(len(words))*random.Float64()*random.Float64())]...), ' ')
		}
		return string(b[:len(b)-1])
	}
	return fmt.Appendf(nil, `{"title":%q,"body":%q,"author":"author-%d","status":"%s","shelf":"shelf-%d","year":%d,"price":%.2f,"rating":%.3f,`+
		`"available":%t,"added":"2026-%02d-%02dT%02d:%02d:%02dZ","isbn":"978-%010d","copies":%d,"place":"%s"}`,
		text(50), text(640), random.IntN(5000), []string{"lent", "shelved", "lost"}[random.IntN(3)], random.IntN(200), 1900+random.IntN(126),
		random.Float64()*100, random.Float64()*5, random.IntN(2) == 0, 1+random.IntN(12), 1+random.IntN(28), random.IntN(24), random.IntN(60),
		random.IntN(60), random.Int64N(1e10), random.IntN(50), text(30))
}

// mappings are those of the 13 fields, the same for both peers.
const mappings = `{"settings":{"number_of_shards":1,"number_of_replicas":0},"mappings":{"properties":{
"title":{"type":"text"},"body":{"type":"text"},"author":{"type":"keyword"},"status":{"type":"keyword"},"shelf":{"type":"keyword"},
"year":{"type":"integer"},"price":{"type":"double"},"rating":{"type":"float"},"available":{"type":"boolean"},"added":{"type":"date"},
"isbn":{"type":"keyword"},"copies":{"type":"integer"},"place":{"type":"text"}}}}`

// bulkBody is a bulk request of the documents [from, to).
func bulkBody(from, to int) []byte {
	var b []byte
	for n := from; n < to; n++ {
		b = append(b, `{"index":{"_id":"`...)
		b = strconv.AppendInt(b, int64(n), 10)
		b = append(b, "\"}}\n"...)
		b = append(append(b, source(n)...), '\n')
	}
	return b
}
