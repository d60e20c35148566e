package main

import (
	"context"
	"os"
	"time"

	"github.com/reshelve/reshelve/internal/testing/bench/peers"
)

// theirs is what OpenSearch offers.
type theirs struct {
	documents int
	blocked   time.Duration // writes, for a _split
	copied    time.Duration // into another index, by a client
}

func measureTheirs(ctx context.Context, dir string, documents int, watch *peers.Run, warm int) (t theirs, err error) {
	t.documents = documents
	peers.Progress("OpenSearch, %d documents", documents)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return t, err
	}
	p := peers.OpenSearch("2.19.0", dir)
	if _, err := p.Start(ctx, peers.Request("GET", "/", "", nil), nil); err != nil {
		return t, err
	}
	defer p.Stop()
	if err := watch.WarmUp(ctx, p, warm); err != nil {
		return t, err
	}
	if err := create(p, index, 1); err != nil {
		return t, err
	}
	if _, err := p.Load(index, 0, documents, 2); err != nil {
		return t, err
	}
	c, err := peers.Dial(p.URL)
	if err != nil {
		return t, err
	}
	defer c.Close()
	if err := c.Must("POST", "/"+index+"/_refresh", ""); err != nil {
		return t, err
	}
	err = watch.Warm(p.Name+", copying", func(i int) (float64, error) {
		if i > 0 {
			if err := c.Must("DELETE", "/"+shaped, ""); err != nil {
				return 0, err
			}
		}
		if err := create(p, shaped, 2); err != nil {
			return 0, err
		}
		began := time.Now()
		err := copied(p, index, shaped)
		t.copied = time.Since(began) // the last one counts
		return t.copied.Seconds(), err
	})
	if err != nil {
		return t, err
	}
	began := time.Now()
	if err := c.Must("PUT", "/"+index+"/_settings", `{"index.blocks.write":true}`); err != nil {
		return t, err
	}
	if err := c.Must("POST", "/"+index+"/_split/halves", `{"settings":{"index.number_of_shards":2,"index.number_of_replicas":0}}`); err != nil {
		return t, err
	}
	err = c.Must("GET", "/_cluster/health/halves?wait_for_status=green&timeout=120s", "")
	t.blocked = time.Since(began)
	return t, err
}
