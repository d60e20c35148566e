package main

import (
	"context"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/reshelve/reshelve/internal/testing/servers"
)

const (
	bulkBytes = 8 << 20 // of one request
	senders   = 2
)

// content is what a shard holds, whatever the order of the documents.
type content struct {
	Documents   int64
	SourceBytes int64
	SourceSum   uint64 // the sum of the sources' CRC-32 (IEEE), so that order does not matter
}

// add counts one more document.
func (c *content) add(source []byte) {
	c.Documents++
	c.SourceBytes += int64(len(source))
	c.SourceSum += uint64(crc32.ChecksumIEEE(source))
}

// fill sends documents in bulk requests until their sources make up size bytes; ids are the server's, as with logs.
func fill(ctx context.Context, server *servers.Server, index string, d *documents, size int64) (sent content, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	bodies := make(chan []byte)
	var sending sync.WaitGroup
	for range senders {
		sending.Go(func() {
			for body := range bodies {
				if err := sendBulk(server, index, body); err != nil {
					cancel(err)
				}
			}
		})
	}
	for sent.SourceBytes < size && ctx.Err() == nil {
		body := bulkBody(d, min(bulkBytes, size-sent.SourceBytes), &sent)
		select {
		case bodies <- body:
		case <-ctx.Done():
		}
	}
	close(bodies)
	sending.Wait()
	return sent, context.Cause(ctx)
}

// bulkBody makes one request's body with size bytes of sources and counts its documents in sent.
func bulkBody(d *documents, size int64, sent *content) (body []byte) {
	for end := sent.SourceBytes + size; sent.SourceBytes < end; {
		body = append(body, "{\"index\":{}}\n"...)
		start := len(body)
		body = d.appendNext(body)
		sent.add(body[start:])
		body = append(body, '\n')
	}
	return body
}

func sendBulk(server *servers.Server, index string, body []byte) error {
	status, answer, err := server.Do("POST", "/"+index+"/_bulk?filter_path=errors", body)
	if err != nil {
		return err
	}
	if status != 200 || string(answer) != `{"errors":false}` {
		return fmt.Errorf("bulk request into %s: status %d: %.500s", index, status, answer)
	}
	return nil
}
