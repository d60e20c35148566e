package shardtest

import (
	"errors"
	"strings"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Words is a shard.Indexer for tests: the words of a source are the terms of the field
// "word", and each that begins with a plus is a nested child too, with the rest as the
// term of "child". The word "bad!" is an error.
type Words struct{}

var _ shard.Indexer = Words{}

var onWords = segment.Spec{Postings: segment.Docs, Column: segment.Ordinals}

// Into is that of shard.Indexer.
func (Words) Into(b *segment.Builder) func(shard.Row) error {
	return func(row shard.Row) (err error) {
		words := strings.Fields(string(row.Source))
		for _, word := range words {
			if child, is := strings.CutPrefix(word, "+"); is {
				err = errors.Join(err, term(b, "child", child))
				b.EndChild("children")
			}
		}
		for _, word := range words {
			if word == "bad!" {
				err = errors.New("a bad word")
				continue
			}
			err = errors.Join(err, term(b, "word", word))
		}
		b.EndRoot(segment.Identity{Key: row.Key, ID: row.ID, SeqNo: row.SeqNo})
		return err
	}
}

func term(b *segment.Builder, field, text string) error {
	f, err := b.Field(field, onWords)
	if err == nil {
		f.Term([]byte(text))
	}
	return err
}
