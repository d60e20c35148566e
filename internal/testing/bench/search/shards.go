package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/testing/bench/corpus"
	"github.com/reshelve/reshelve/internal/testing/bench/peers"
)

// shape is an index with the same documents as the others, in other shards.
type shape struct {
	name  string
	kinds []kind
	taken map[string][]peers.Taken
}

// shards measures what a search costs by how many shards the documents are in: of indices
// that were made with so many, and of those that were split into so many. All are in one
// server and take turns.
func (b *bench) shards(ctx context.Context, binary, dir, numbers string, some []string) error {
	p := peers.Reshelve(binary, filepath.Join(dir, "shards"))
	if err := os.MkdirAll(p.Dir, 0o755); err != nil {
		return err
	}
	if _, err := p.Start(ctx, peers.Request("GET", "/", "", nil), nil); err != nil {
		return err
	}
	defer p.Stop()
	shapes := []*shape{{name: "one"}}
	for n := range strings.SplitSeq(numbers, ",") {
		shapes = append(shapes, &shape{name: "made-" + n}, &shape{name: "split-" + n})
	}
	for _, s := range shapes {
		s.kinds, s.taken = kinds(s.name, some), map[string][]peers.Taken{}
		if err := b.shaped(ctx, p, s.name); err != nil {
			return err
		}
	}
	for round := range b.rounds + 1 { // the first makes warm
		for i, k := range b.kinds {
			for at := range shapes {
				s := shapes[(at+round)%len(shapes)]
				t, err := measure(p, s.kinds[i], b.long)
				if err != nil {
					return err
				}
				if round > 0 {
					s.taken[k.name] = append(s.taken[k.name], t)
				}
			}
		}
	}
	b.shardsTable(shapes)
	return nil
}

// shaped makes and loads an index: with one shard, with many, or with one that is split then.
func (b *bench) shaped(ctx context.Context, p *peers.Peer, name string) error {
	how, n, _ := strings.Cut(name, "-")
	body := corpus.Index
	if how == "made" {
		body = strings.Replace(body, `"number_of_shards":1`, `"number_of_shards":`+n, 1)
		if body == corpus.Index {
			return fmt.Errorf("the index of the corpus has no number of shards to replace: %.200s", body)
		}
	}
	err := p.Concurrently(1, func(c *peers.Conn) error { return c.Must("PUT", "/"+name, body) })
	if err != nil {
		return err
	}
	if _, err := p.Load(name, 0, b.documents, 4); err != nil {
		return err
	}
	if err := order(p, "POST", "/"+name+"/_refresh"); err != nil {
		return err
	}
	if how == "split" {
		if err := split(p, name, n); err != nil {
			return err
		}
	}
	return p.Settle(ctx, 5*time.Minute)
}

// split splits the only shard of an index, and waits until that is finished.
func split(p *peers.Peer, index, into string) error {
	id, err := p.Begin(fmt.Sprintf(`{"kind":"split","index":%q,"shard":0,"into":%s,"pauseBudget":"10s"}`, index, into))
	if err != nil {
		return err
	}
	return p.Ended(id, new(any))
}

// shardsTable has a row for each kind of search: the median of each shape, and its ratio to one shard.
func (b *bench) shardsTable(shapes []*shape) {
	fmt.Printf("| search of %d documents, p50", b.documents)
	for _, s := range shapes {
		fmt.Printf(" | %s", strings.Replace(s.name, "-", " with ", 1))
	}
	fmt.Printf(" |\n|---%s|\n", strings.Repeat("|---:", len(shapes)))
	for _, k := range b.kinds {
		one := peers.P50(shapes[0].taken[k.name])
		fmt.Printf("| %s", k.name)
		for i, s := range shapes {
			took := peers.P50(s.taken[k.name])
			fmt.Printf(" | %s", peers.Short(took))
			if i > 0 {
				fmt.Printf(" (%.2f×)", took.Seconds()/one.Seconds())
			}
		}
		fmt.Println(" |")
	}
}
