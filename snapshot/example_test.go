package snapshot_test

import (
	"context"
	"fmt"
	"log"

	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/folder"
)

// Read the documents of one shard of the newest successful snapshot in a folder.
func Example() {
	ctx := context.Background()
	bucket, err := blob.Open(ctx, "../testdata/repositories/elasticsearch-7.10.2-basic/repo", map[string]blob.Opener{"file": folder.Open})
	if err != nil {
		log.Fatal(err)
	}
	repo, err := snapshot.Open(ctx, bucket)
	if err != nil {
		log.Fatal(err)
	}
	snap, err := repo.Find(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	index, err := snap.Index(ctx, "empty-hall")
	if err != nil {
		log.Fatal(err)
	}
	shard, err := index.Shard(ctx, 0)
	if err != nil {
		log.Fatal(err)
	}
	docs, err := shard.Documents(ctx, snapshot.ReadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer docs.Close()
	for docs.Next() {
		doc := docs.Document() // a view, valid until Next
		fmt.Printf("%s %s, %d bytes\n", doc.Position, doc.ID, len(doc.Source))
	}
	if err := docs.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// empty-hall/0/0 1, 472 bytes
	// empty-hall/0/1 2, 109 bytes
	// empty-hall/0/2 x, 2 bytes
}
