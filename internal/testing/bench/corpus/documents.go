package corpus

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"
)

// The numbers of values that the keywords have: branch, subject and author.
const (
	Branches = 10
	Subjects = 1000
	Authors  = 100_000
)

// Index is the body that makes the index, settings and mappings: one shard, no replicas.
const Index = `{"settings":{"number_of_shards":1,"number_of_replicas":0},"mappings":{"properties":{
"title":{"type":"text"},"body":{"type":"text"},"branch":{"type":"keyword"},"subject":{"type":"keyword"},"author":{"type":"keyword"},
"pages":{"type":"long"},"copies":{"type":"long"},"price":{"type":"double"},"rating":{"type":"double"},
"added":{"type":"date"},"lent":{"type":"date"},"available":{"type":"boolean"},"reserved":{"type":"boolean"}}}}`

// first is the day of the earliest date; the latest is ten years later.
var first = time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)

const tenYears = 3652 * 24 * 60 * 60

// Source is document number n: JSON of 13 fields, about 1 KB.
func Source(n int) []byte { return appendSource(nil, n) }

func appendSource(b []byte, n int) []byte {
	random := rand.New(rand.NewPCG(uint64(n), 1))
	b = append(b, `{"title":"`...)
	b = appendText(b, random, 45)
	b = append(b, `","body":"`...)
	b = appendText(b, random, 710)
	date := func() []byte {
		return first.Add(time.Duration(random.IntN(tenYears))*time.Second).AppendFormat(nil, time.RFC3339)
	}
	return fmt.Appendf(b, `","branch":"branch-%d","subject":"subject-%d","author":"author-%d","pages":%d,"copies":%d,"price":%.2f,"rating":%.3f,`+
		`"added":"%s","lent":"%s","available":%t,"reserved":%t}`,
		random.IntN(Branches), random.IntN(Subjects), random.IntN(Authors), 20+random.IntN(980), random.IntN(50),
		random.Float64()*10_000, random.Float64()*5, date(), date(), random.IntN(2) == 0, random.IntN(10) == 0)
}

// appendText appends sentences of at least so many bytes in all.
func appendText(b []byte, random *rand.Rand, length int) []byte {
	left := 0 // words of the sentence
	for end := len(b) + length; len(b) < end; left-- {
		word := words[draw(random)]
		if left > 0 {
			b = append(append(b, ' '), word...)
			continue
		}
		if left = 5 + random.IntN(15); len(b) > 0 && b[len(b)-1] != '"' {
			b = append(b, ". "...)
		}
		b = append(append(b, word[0]-'a'+'A'), word[1:]...)
	}
	return append(b, '.')
}

// Bulk is the body of a bulk request of the documents [from, to), whose ids are
// their numbers.
func Bulk(from, to int) []byte {
	var b []byte
	for n := from; n < to; n++ {
		b = append(b, `{"index":{"_id":"`...)
		b = strconv.AppendInt(b, int64(n), 10)
		b = append(b, "\"}}\n"...)
		b = append(appendSource(b, n), '\n')
	}
	return b
}
