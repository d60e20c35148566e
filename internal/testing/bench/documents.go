package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// documents makes one endless, seeded sequence of JSON sources: the same seed and shape give the same bytes.
type documents struct {
	random *rand.Rand
	words  [][]byte
	draw   []uint16 // indices into words; a common word stands here more often
	stock  [][]byte // sentences that are used again, as texts and logs do
	shape  shape
	number int
}

// shape is the kind of document: articles of about 2.4 KB or log lines of about 300 B.
type shape string

const (
	articles shape = "2.4 KB"
	logLines shape = "300 B"
)

const (
	vocabulary = 12000
	stock      = 400
)

func newDocuments(s shape) *documents {
	d := &documents{random: rand.New(rand.NewPCG(20260807, uint64(len(s)))), shape: s}
	for range vocabulary {
		d.words = append(d.words, d.newWord())
	}
	zipf := rand.NewZipf(d.random, 1.25, 4, vocabulary-1)
	d.draw = make([]uint16, 1<<16)
	for i := range d.draw {
		d.draw[i] = uint16(zipf.Uint64())
	}
	for range stock {
		d.stock = append(d.stock, d.appendSentence(nil))
	}
	return d
}

// newWord invents a word of one to four syllables.
func (d *documents) newWord() []byte {
	const onset, nucleus, coda = "bcdfghklmnprstvw", "aeiouaeioy", "  nrstlm"
	var word []byte
	for range 1 + d.random.IntN(3) + d.random.IntN(2) {
		word = append(word, onset[d.random.IntN(len(onset))], nucleus[d.random.IntN(len(nucleus))])
		if c := coda[d.random.IntN(len(coda))]; c != ' ' {
			word = append(word, c)
		}
	}
	return word
}

// appendNext appends the next document's source to dst.
func (d *documents) appendNext(dst []byte) []byte {
	d.number++
	if d.shape == logLines {
		return d.appendLogLine(dst)
	}
	return d.appendArticle(dst)
}

func (d *documents) appendArticle(dst []byte) []byte {
	r := d.random
	dst = append(dst, `{"@timestamp":"`...)
	dst = d.appendTime(dst)
	dst = append(dst, `","url":"https://www.example.org/`...)
	dst = d.appendWords(dst, 4, '-')
	dst = fmt.Appendf(dst, `-%06d","title":"`, d.number)
	dst = d.appendWords(dst, 5+r.IntN(6), ' ')
	dst = append(dst, `","author":{"name":"`...)
	dst = d.appendWords(dst, 2, ' ')
	dst = fmt.Appendf(dst, `","id":%d},"section":"`, 1000+r.IntN(9000))
	dst = append(dst, d.words[r.IntN(40)]...)
	dst = append(dst, `","tags":["`...)
	for range r.IntN(6) {
		dst = append(d.appendWords(dst, 1, ' '), `","`...)
	}
	dst = append(d.appendWords(dst, 1, ' '), `"],"language":"en","body":"`...)
	for range 8 + r.IntN(16) {
		if r.IntN(2) == 0 {
			dst = append(dst, d.stock[min(r.IntN(stock), r.IntN(stock))]...)
		} else {
			dst = d.appendSentence(dst)
		}
	}
	dst = fmt.Appendf(dst, `","location":{"lat":%.6f,"lon":%.6f}`, r.Float64()*180-90, r.Float64()*360-180)
	dst = fmt.Appendf(dst, `,"metrics":{"views":%d,"shares":%d,"comments":%d,"score":%.5f}`,
		r.IntN(1e6), r.IntN(1e4), r.IntN(500), r.Float64())
	dst = fmt.Appendf(dst, `,"related":["%016x","%016x","%016x"],"published":%t}`, r.Uint64(), r.Uint64(), r.Uint64(), r.IntN(9) > 0)
	return dst
}

func (d *documents) appendSentence(dst []byte) []byte {
	start := len(dst)
	dst = d.appendWords(dst, 8+d.random.IntN(17), ' ')
	dst[start] -= 'a' - 'A'
	if d.random.IntN(3) == 0 {
		dst = fmt.Appendf(dst, ", %d", d.random.IntN(10000))
	}
	return append(dst, '.', ' ')
}

func (d *documents) appendLogLine(dst []byte) []byte {
	r := d.random
	dst = append(dst, `{"@timestamp":"`...)
	dst = d.appendTime(dst)
	dst = append(dst, `","level":"`...)
	dst = append(dst, [...]string{"INFO", "INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR"}[r.IntN(7)]...)
	dst = append(dst, `","service":"`...)
	dst = append(dst, d.words[r.IntN(24)]...)
	dst = fmt.Appendf(dst, `","host":"node-%02d","trace":"%016x","client":"10.%d.%d.%d","method":"`,
		r.IntN(64), r.Uint64(), r.IntN(4), r.IntN(256), r.IntN(256))
	dst = append(dst, [...]string{"GET", "GET", "GET", "POST", "PUT", "DELETE"}[r.IntN(6)]...)
	dst = append(dst, `","path":"/`...)
	dst = d.appendWords(dst, 2, '/')
	dst = fmt.Appendf(dst, `/%d","status":%d,"bytes":%d,"ms":%.3f,"message":"`,
		r.IntN(100000), [...]int{200, 200, 200, 201, 204, 304, 404, 500}[r.IntN(8)], r.IntN(200000), r.ExpFloat64()*40)
	message := d.stock[min(r.IntN(stock), r.IntN(stock), r.IntN(stock))]
	dst = append(dst, message[:min(len(message), 64)]...)
	return fmt.Appendf(dst, `%d"}`, r.IntN(1000))
}

// appendTime appends a moment that grows with the document's number.
func (d *documents) appendTime(dst []byte) []byte {
	millisecond := d.number*37 + d.random.IntN(37)
	second, minute := millisecond/1000, millisecond/60000
	return fmt.Appendf(dst, "2026-%02d-%02dT%02d:%02d:%02d.%03dZ", 1+minute/1440/28%12, 1+minute/1440%28,
		minute/60%24, minute%60, second%60, millisecond%1000)
}

func (d *documents) appendWords(dst []byte, n int, separator byte) []byte {
	for i := range n {
		if i > 0 {
			dst = append(dst, separator)
		}
		dst = append(dst, d.words[d.draw[d.random.Uint32()&0xffff]]...)
	}
	return dst
}

// parseSize reads "1G", "100M", "64K" or a number of bytes; the units are powers of 1024.
func parseSize(text string) (int64, error) {
	factor, digits := int64(1), text
	if n := len(text); n > 0 {
		switch text[n-1] {
		case 'K':
			factor, digits = 1<<10, text[:n-1]
		case 'M':
			factor, digits = 1<<20, text[:n-1]
		case 'G':
			factor, digits = 1<<30, text[:n-1]
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || n > 1<<40/factor {
		return 0, fmt.Errorf("size %q is not a number with K, M or G after it, such as 1G", text)
	}
	return n * factor, nil
}
