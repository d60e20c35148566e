package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/reshelve/reshelve/internal/testing/bench/corpus"
	"github.com/reshelve/reshelve/internal/testing/bench/peers"
)

// kind is one sort of search: a list of requests that differ in words and numbers.
type kind struct {
	name     string
	clients  int
	requests [][]byte
}

// asked is how many different searches there are of a kind.
const asked = 200

// kinds are those whose names hold one of the parts, all if there is no part.
func kinds(index string, parts []string) (all []kind) {
	for _, k := range []struct {
		name, path string
		body       func(d *dice) string
	}{
		{"match, two words", "_search", func(d *dice) string {
			return `{"query":` + d.match() + `}`
		}},
		{"bool: match, term, range", "_search", func(d *dice) string {
			return `{"query":{"bool":{"must":[` + d.match() + `],"filter":[{"term":{"branch":"` + d.branch() + `"}},` + d.pages(500) + `]}}}`
		}},
		{"term", "_search", func(d *dice) string {
			return `{"query":{"term":{"subject":"` + d.subject() + `"}}}`
		}},
		{"match_phrase, two words", "_search", func(d *dice) string {
			return fmt.Sprintf(`{"query":{"match_phrase":{"body":"%s %s"}}}`, d.word(0, 100), d.word(0, 100))
		}},
		{"sort by a number, range", "_search", func(d *dice) string {
			return `{"query":` + d.pages(300) + `,"sort":[{"price":"` + d.order() + `"}]}`
		}},
		{"terms of 1,000, all documents", "_search?request_cache=false", func(d *dice) string {
			return fmt.Sprintf(`{"size":0,"aggs":{"subjects":{"terms":{"field":"subject","size":%d}}}}`, 10+d.IntN(20))
		}},
		{"terms of 1,000, of a match", "_search?request_cache=false", func(d *dice) string {
			return `{"size":0,"query":` + d.match() + `,"aggs":{"subjects":{"terms":{"field":"subject","size":10}}}}`
		}},
		{"date_histogram by month, range", "_search?request_cache=false", func(d *dice) string {
			return `{"size":0,"query":` + d.pages(500) + `,"aggs":{"months":{"date_histogram":{"field":"added","calendar_interval":"month"}}}}`
		}},
		{"count of a range", "_count", func(d *dice) string {
			return `{"query":` + d.pages(500) + `}`
		}},
	} {
		d := &dice{rand.New(rand.NewPCG(3, uint64(len(k.name))))}
		made := kind{name: k.name, clients: 1}
		for range asked {
			made.requests = append(made.requests, peers.Request("POST", "/"+index+"/"+k.path, "application/json", []byte(k.body(d))))
		}
		if all = append(all, made); strings.HasPrefix(k.name, "match, ") {
			all = append(all, kind{name: k.name + ", 8 clients", clients: 8, requests: made.requests})
		}
	}
	return chosen(all, parts)
}

func chosen(all []kind, parts []string) (some []kind) {
	for _, k := range all {
		for _, part := range parts {
			if strings.Contains(k.name, part) {
				some = append(some, k)
				break
			}
		}
	}
	return some
}

// dice draws what differs between searches of a kind.
type dice struct{ *rand.Rand }

// word is one with a rank in [from, to).
func (d *dice) word(from, to int) string { return corpus.Word(from + d.IntN(to-from)) }

// match asks for a frequent word, in a thirtieth of the documents or more, and one
// of the middle, in about a thousandth.
func (d *dice) match() string {
	return fmt.Sprintf(`{"match":{"body":"%s %s"}}`, d.word(20, 300), d.word(300, 10_000))
}

func (d *dice) branch() string  { return fmt.Sprintf("branch-%d", d.IntN(corpus.Branches)) }
func (d *dice) subject() string { return fmt.Sprintf("subject-%d", d.IntN(corpus.Subjects)) }

// pages is a range with so many of the 980 values that there are.
func (d *dice) pages(many int) string {
	from := 20 + d.IntN(980-many)
	return fmt.Sprintf(`{"range":{"pages":{"gte":%d,"lt":%d}}}`, from, from+many)
}

func (d *dice) order() string { return []string{"asc", "desc"}[d.IntN(2)] }
