package shardtest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Agree checks a reader of a shard that is indexed by Words: each document that its scan
// finds is shown by exactly one view, under its id and its words and by walking all
// roots, and nothing else is. It reads every page of what is shown.
func Agree(ctx context.Context, r shard.Reader) error {
	if err := r.Lacks(); err != nil {
		return err
	}
	rows := map[shard.Ref]shard.Row{}
	for row, err := range r.Scan(ctx, everything) {
		if err != nil {
			return err
		}
		if !row.Deleted {
			row.Source = bytes.Clone(row.Source)
			rows[row.Ref] = row
		}
	}
	return segment.Guard(func() error { return agree(r.Views(), rows) })
}

func agree(views []segment.View, rows map[shard.Ref]shard.Row) error {
	seen := map[shard.Ref]bool{}
	words := map[string]int{} // how many documents have each
	for _, row := range rows {
		for _, word := range wordsOf(row) {
			words[word]++
		}
	}
	for i, v := range views {
		if v.Hidden != nil && v.Hidden.Len() != v.Docs() {
			return fmt.Errorf("view %d hides some of %d docs, but has %d", i, v.Hidden.Len(), v.Docs())
		}
		if err := agreeRoots(v, rows, seen); err != nil {
			return fmt.Errorf("view %d of %d: %w", i, len(views), err)
		}
		if err := countWords(v, words); err != nil {
			return fmt.Errorf("view %d of %d: %w", i, len(views), err)
		}
	}
	for ref, row := range rows {
		if !seen[ref] {
			return fmt.Errorf("document %q of number %d is shown by none of %d views", ref.ID, row.SeqNo, len(views))
		}
		if err := foundOnce(views, ref); err != nil {
			return err
		}
	}
	for word, n := range words {
		if n != 0 {
			return fmt.Errorf("the word %q is found in %d documents too few", word, n)
		}
	}
	return nil
}

func wordsOf(row shard.Row) []string {
	words := slices.DeleteFunc(strings.Fields(string(row.Source)), func(word string) bool { return word == "bad!" })
	slices.Sort(words)
	return slices.Compact(words)
}

// agreeRoots walks all docs of a view.
func agreeRoots(v segment.View, rows map[shard.Ref]shard.Row, seen map[shard.Ref]bool) error {
	for doc := range segment.Doc(v.Docs()) {
		if v.Shows(doc) != v.Shows(v.Root(doc)) {
			return fmt.Errorf("doc %d is not shown as its root is", doc)
		}
		if !v.IsRoot(doc) || !v.Shows(doc) {
			continue
		}
		ref := shard.Ref{Key: v.Key(doc), ID: v.ID(doc)}
		row, is := rows[ref]
		switch {
		case !is:
			return fmt.Errorf("document %q of number %d is shown, and is not there", ref.ID, v.SeqNo(doc))
		case row.SeqNo != v.SeqNo(doc):
			return fmt.Errorf("document %q is shown as of number %d, and is of %d", ref.ID, v.SeqNo(doc), row.SeqNo)
		case seen[ref]:
			return fmt.Errorf("document %q is shown twice", ref.ID)
		}
		seen[ref] = true
		if n, expected := int(doc-v.FirstChild(doc)), strings.Count(" "+string(row.Source), " +"); n != expected {
			return fmt.Errorf("document %q has %d children, expected %d", ref.ID, n, expected)
		}
	}
	return nil
}

// countWords takes the documents that a view finds by their words from those expected.
func countWords(v segment.View, words map[string]int) error {
	f := v.Field("word")
	if f == nil {
		return nil
	}
	var docs *segment.PostingsIterator
	for t := f.From(nil); t.Valid(); t.Next() {
		docs = f.Postings(t.Entry(), segment.Docs, docs)
		for doc := docs.Next(); doc != segment.End; doc = docs.Next() {
			if v.Shows(doc) {
				words[string(t.Term())]--
			}
		}
		if n := words[string(t.Term())]; n < 0 {
			return fmt.Errorf("the word %q is found in %d documents too many", t.Term(), -n)
		}
	}
	return nil
}

// foundOnce looks a document up by its id, in both ways.
func foundOnce(views []segment.View, ref shard.Ref) error {
	byTerm, byID := 0, 0
	for _, v := range views {
		if f := v.Field("_id"); f != nil {
			if e, is := f.Lookup([]byte(ref.ID)); is {
				docs := f.Postings(e, segment.Docs, nil)
				for doc := docs.Next(); doc != segment.End; doc = docs.Next() {
					if v.Shows(doc) && v.Key(doc) == ref.Key {
						byTerm++
					}
				}
			}
		}
		for doc := range v.FindID(ref.ID) {
			if v.Shows(doc) && v.Key(doc) == ref.Key {
				byID++
			}
		}
	}
	if byTerm != 1 || byID != 1 {
		return fmt.Errorf("document %q is found %d times by the term of its id, and %d times by its id", ref.ID, byTerm, byID)
	}
	return nil
}
