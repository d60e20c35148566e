package migrate

import (
	"context"
	"encoding/binary"
	"maps"
	"time"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/snapshot"
)

// readBefore reads what the older snapshot held of the documents that are to be written again. What an attempt before
// has read of it is not read again.
func (c *comparing) readBefore(ctx context.Context) error {
	if c.older == nil {
		return nil
	}
	return c.parts(ctx, known, c.knownPart)
}

// knownPart is readBefore for a shard, from a mark on: the comparison has checked what it reads.
func (c *comparing) knownPart(ctx context.Context, n int, from mark) error {
	var printer document.Fingerprinter
	was, read, marked := map[uint64]*before{}, int64(0), time.Now()
	take := func(at mark) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.was == nil {
			c.was = map[uint64]*before{}
		}
		maps.Copy(c.was, was)
		c.Read += read
		c.Marks[known][n], c.dirty = at, true
		was, read, marked = map[uint64]*before{}, 0, time.Now()
	}
	return c.shardOf(ctx, reconcile.Before, n, from, func(docs *snapshot.Documents) error {
		for docs.Next() {
			doc := docs.Document()
			if time.Since(marked) > markAfter {
				take(mark{Position: doc.Position.Number})
			}
			read++
			key := printer.Key(doc.ID, doc.Routing)
			if _, compared := c.run.Saw(key); !compared || doc.Versions == nil {
				continue
			}
			if kept, _ := c.shape(doc, nil); kept {
				was[key] = &before{content: contentOf(printer.Of(doc.ID, doc.Routing, doc.Source)), version: doc.Versions.Version}
			}
		}
		if docs.Err() == nil { // else shardOf reports it
			take(mark{Ended: true})
		}
		return nil
	})
}

// wasBytes is the length of one document of those in a record: its key, its content and its version.
const wasBytes = 3 * 8

// appendWas writes down what the older snapshot held.
func appendWas(dst []byte, was map[uint64]*before) []byte {
	for key, b := range was {
		dst = binary.BigEndian.AppendUint64(dst, key)
		dst = binary.BigEndian.AppendUint64(dst, b.content)
		dst = binary.BigEndian.AppendUint64(dst, uint64(b.version))
	}
	return dst
}

// readWas is the inverse of appendWas.
func readWas(text []byte) (map[uint64]*before, error) {
	if len(text)%wasBytes != 0 {
		return nil, fault.New(fault.Corrupt, "what the older snapshot held takes %d bytes, which is no multiple of %d", len(text), wasBytes)
	}
	was := map[uint64]*before{}
	for ; len(text) > 0; text = text[wasBytes:] {
		was[binary.BigEndian.Uint64(text)] = &before{content: binary.BigEndian.Uint64(text[8:]), version: int64(binary.BigEndian.Uint64(text[16:]))}
	}
	return was, nil
}
