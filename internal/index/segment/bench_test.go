//go:build unix

package segment_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// corpus is documents of about 1 KB with 13 fields, already analysed: what a builder gets.
type corpus struct {
	words  [][]byte // by rank of how often they are
	random *random
}

func newCorpus() *corpus {
	c := &corpus{random: newRandom(1)}
	for i := range 50_000 {
		c.words = append(c.words, fmt.Appendf(nil, "w%x", uint64(i)*0x9e3779b1&0xffffff))
	}
	return c
}

// word is one of the vocabulary, by Zipf's law.
func (c *corpus) word() []byte {
	u := float64(c.random.next()>>11) / (1 << 53)
	return c.words[min(len(c.words)-1, int(math.Exp(u*math.Log(float64(len(c.words)))))-1)]
}

// corpusFields are the fields of a builder for a corpus.
type corpusFields struct {
	b                                   *segment.Builder
	body, title                         *segment.FieldBuilder
	tags, author, status, city, country *segment.FieldBuilder
	price, count, rating, stock         *segment.FieldBuilder
	created, updated                    *segment.FieldBuilder
}

func newCorpusFields(t testing.TB) *corpusFields {
	f := &corpusFields{b: segment.NewBuilder()}
	field := func(name string, spec segment.Spec) *segment.FieldBuilder {
		made, err := f.b.Field(name, spec)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	text := segment.Spec{Postings: segment.Positions, Lengths: true}
	word := segment.Spec{Postings: segment.Docs, Column: segment.Ordinals}
	number := segment.Spec{Column: segment.Numbers, Points: true}
	f.body, f.title = field("body", text), field("title", text)
	f.tags, f.author, f.status = field("tags", word), field("author", word), field("status", word)
	f.city, f.country = field("city", word), field("country", word)
	f.price, f.count, f.rating = field("price", number), field("count", number), field("rating", number)
	f.stock, f.created, f.updated = field("stock", number), field("created", number), field("updated", number)
	return f
}

// add writes document i.
func (f *corpusFields) add(c *corpus, i int) {
	for p := range 120 {
		f.body.Token(c.word(), uint32(p))
	}
	f.body.Length(120)
	for p := range 6 {
		f.title.Token(c.word(), uint32(p))
	}
	f.title.Length(6)
	for range 1 + c.random.below(3) {
		f.tags.Term(c.words[c.random.below(200)])
	}
	f.author.Term(c.words[c.random.below(5000)])
	f.status.Term(c.words[c.random.below(5)])
	f.city.Term(c.words[c.random.below(1000)])
	f.country.Term(c.words[c.random.below(100)])
	f.price.Number(int64(math.Float64bits(float64(c.random.below(100000)) / 100)))
	f.count.Number(int64(c.random.below(1000)))
	f.rating.Number(int64(c.random.below(5)))
	f.stock.Number(int64(c.random.below(1 << 20)))
	f.created.Number(1_700_000_000_000 + int64(i)*1000)
	f.updated.Number(1_700_000_000_000 + int64(c.random.below(1<<30))*1000)
	f.b.EndRoot(segment.Identity{Key: routing.Key(c.random.next()), ID: fmt.Sprintf("%016x", c.random.next()), SeqNo: int64(i)})
}

// built are segments of a corpus, by the number of their documents.
var built sync.Map

func corpusSegment(t testing.TB, docs, number int) *segment.Segment {
	key := [2]int{docs, number}
	if s, ok := built.Load(key); ok {
		return s.(*segment.Segment)
	}
	c, f := newCorpus(), newCorpusFields(t)
	c.random.state += uint64(number) * 1 << 40
	for i := range docs {
		f.add(c, number*docs+i)
	}
	data, err := f.b.Build()
	if err != nil {
		t.Fatal(err)
	}
	s, err := segment.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	built.Store(key, s)
	return s
}

// cpu is the time that processors have worked for this process: other than the clock's, it
// is about the same on a machine that is shared.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkWords is what making the words costs, which is part of BenchmarkBuild.
func BenchmarkWords(b *testing.B) {
	c := newCorpus()
	before := cpu()
	for b.Loop() {
		for range 10_000 * 126 {
			c.word()
		}
	}
	b.ReportMetric(float64((cpu()-before).Milliseconds())/float64(b.N)*10, "cpu-ms/100kdocs")
}

func BenchmarkBuild(b *testing.B) {
	c, f := newCorpus(), newCorpusFields(b)
	size, before := 0, cpu()
	b.ReportAllocs()
	for b.Loop() {
		for i := range 10_000 {
			f.add(c, i)
		}
		data, err := f.b.Build()
		if err != nil {
			b.Fatal(err)
		}
		size = len(data)
	}
	b.ReportMetric(float64((cpu()-before).Milliseconds())/float64(b.N)*10, "cpu-ms/100kdocs")
	b.ReportMetric(float64(size)/10_000, "bytes/doc")
}

func BenchmarkMerge(b *testing.B) {
	for _, hidden := range []bool{false, true} {
		b.Run(fmt.Sprintf("masked=%v", hidden), func(b *testing.B) {
			var views []segment.View
			shown := 0
			for i := range 16 {
				v := segment.View{Segment: corpusSegment(b, 5_000, i)}
				if hidden {
					v.Hidden = v.OutOf(routing.Range{From: 0, To: 1<<63 - 1})
				}
				for doc := range segment.Doc(v.Docs()) {
					if v.Shows(doc) {
						shown++
					}
				}
				views = append(views, v)
			}
			b.ReportAllocs()
			before := cpu()
			for b.Loop() {
				var out bytes.Buffer
				if err := segment.Merge(context.Background(), &out, views); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpu()-before).Milliseconds())/float64(b.N)*100_000/float64(shown), "cpu-ms/100kdocs")
		})
	}
}

// oftenest are terms of the body by how many docs they have.
func oftenest(s *segment.Segment) segment.Entry {
	var best segment.Entry
	for t := s.Field("body").From(nil); t.Valid(); t.Next() {
		if e := t.Entry(); e.Docs > best.Docs && e.Docs < uint32(s.Docs()/2) {
			best = e
		}
	}
	return best
}

func BenchmarkBlock(b *testing.B) {
	s := corpusSegment(b, 100_000, 0)
	f, e := s.Field("body"), oftenest(s)
	for _, with := range []segment.Postings{segment.Docs, segment.Frequencies} {
		b.Run(fmt.Sprint(with), func(b *testing.B) {
			var p *segment.PostingsIterator
			n := 0
			for b.Loop() {
				p = f.Postings(e, with, p)
				for docs, _ := p.Block(); len(docs) > 0; docs, _ = p.Block() {
					n += len(docs)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/doc")
		})
	}
}

func BenchmarkNext(b *testing.B) {
	s := corpusSegment(b, 100_000, 0)
	f, e := s.Field("body"), oftenest(s)
	var p *segment.PostingsIterator
	n := 0
	for b.Loop() {
		p = f.Postings(e, segment.Docs, p)
		for doc := p.Next(); doc != segment.End; doc = p.Next() {
			n++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/doc")
}

func BenchmarkPositions(b *testing.B) {
	s := corpusSegment(b, 100_000, 0)
	f, e := s.Field("body"), oftenest(s)
	var p *segment.PostingsIterator
	var places []uint32
	n := 0
	for b.Loop() {
		p = f.Postings(e, segment.Positions, p)
		for doc := p.Next(); doc != segment.End; doc = p.Next() {
			places = p.Positions(places[:0])
			n++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/doc")
}

func BenchmarkAdvance(b *testing.B) {
	s := corpusSegment(b, 100_000, 0)
	f, e := s.Field("body"), oftenest(s)
	for _, by := range []segment.Doc{10, 100, 1000, 10_000} {
		b.Run(fmt.Sprint(by), func(b *testing.B) {
			var p *segment.PostingsIterator
			n := 0
			for b.Loop() {
				p = f.Postings(e, segment.Docs, p)
				for doc := p.Next(); doc != segment.End; doc = p.Advance(doc + by) {
					n++
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/step")
		})
	}
}

func BenchmarkBound(b *testing.B) {
	s := corpusSegment(b, 100_000, 0)
	f, e := s.Field("body"), oftenest(s)
	var p *segment.PostingsIterator
	n := 0
	for b.Loop() {
		p = f.Postings(e, segment.Frequencies, p)
		for doc := segment.Doc(0); ; n++ {
			last, _ := p.Bound(doc)
			if last == segment.End {
				break
			}
			doc = last + 1
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/block")
}

// BenchmarkView reads a list and a column in a view that owns one eighth of the keys.
func BenchmarkView(b *testing.B) {
	s := corpusSegment(b, 100_000, 0)
	f, e := s.Field("body"), oftenest(s)
	b.Run("OutOf", func(b *testing.B) {
		for b.Loop() {
			s.OutOf(routing.Range{From: 0, To: 1<<61 - 1})
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*s.Docs()), "ns/doc")
	})
	v := segment.View{Segment: s, Hidden: s.OutOf(routing.Range{From: 0, To: 1<<61 - 1})}
	c := s.Field("updated").Numbers()
	b.Run("Read", func(b *testing.B) {
		var p *segment.PostingsIterator
		var left []segment.Doc
		n, has := make([]int64, 128), make([]bool, 128)
		all := 0
		for b.Loop() {
			p = f.Postings(e, segment.Docs, p)
			for docs, _ := p.Block(); len(docs) > 0; docs, _ = p.Block() {
				left = left[:0]
				for _, doc := range docs {
					if v.Shows(doc) {
						left = append(left, doc)
					}
				}
				c.Read(left, n[:len(left)], has[:len(left)])
				all += len(docs)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(all), "ns/doc")
	})
}

func BenchmarkReadColumn(b *testing.B) {
	s := corpusSegment(b, 100_000, 0)
	var docs []segment.Doc
	for doc := range segment.Doc(s.Docs()) {
		docs = append(docs, doc)
	}
	n, ords, has := make([]int64, 1024), make([]uint32, 1024), make([]bool, 1024)
	for _, every := range []int{1, 7} {
		var asked []segment.Doc
		for i := 0; i < len(docs); i += every {
			asked = append(asked, docs[i])
		}
		for _, name := range []string{"price", "count", "created"} {
			c := s.Field(name).Numbers()
			b.Run(fmt.Sprintf("%s/%d", name, every), func(b *testing.B) {
				for b.Loop() {
					for left := asked; len(left) > 0; left = left[min(1024, len(left)):] {
						k := min(1024, len(left))
						c.Read(left[:k], n[:k], has[:k])
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(asked)), "ns/doc")
			})
		}
		c := s.Field("author").Ordinals()
		b.Run(fmt.Sprintf("author/%d", every), func(b *testing.B) {
			for b.Loop() {
				for left := asked; len(left) > 0; left = left[min(1024, len(left)):] {
					k := min(1024, len(left))
					c.Read(left[:k], ords[:k], has[:k])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(asked)), "ns/doc")
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	s := corpusSegment(b, 100_000, 0)
	var ids [][]byte
	f := s.Field("_id")
	for doc := segment.Doc(0); int(doc) < s.Docs(); doc += 97 {
		ids = append(ids, []byte(s.ID(doc)))
	}
	i := 0
	b.Run("term", func(b *testing.B) {
		for b.Loop() {
			if _, ok := f.Lookup(ids[i%len(ids)]); !ok {
				b.Fatal("lost")
			}
			i++
		}
	})
	b.Run("id of doc", func(b *testing.B) {
		for b.Loop() {
			_ = s.ID(segment.Doc(i * 7919 % s.Docs()))
			i++
		}
	})
}

func BenchmarkWithin(b *testing.B) {
	s := corpusSegment(b, 100_000, 0)
	into := segment.NewBits(s.Docs())
	for _, name := range []string{"updated", "created"} {
		p := s.Field(name).Points()
		least, greatest, _ := s.Field(name).Numbers().Bounds()
		half := least + (greatest-least)/2
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p.Within(least, half, into)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*p.Count(least, half)), "ns/point")
		})
	}
}
