package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
)

// checksum sums what a reader delivered, in the order in which it did: the CRC-32 (IEEE) over id, line feed, source, line
// feed of every document. ReadShard.java computes the same.
type checksum struct {
	content
	ordered hash.Hash32
}

func newChecksum() checksum { return checksum{ordered: crc32.NewIEEE()} }

// delivered runs Reshelve's command over a shard and sums the documents that it prints.
func delivered(ctx context.Context, argv []string) (checksum, error) {
	sum := newChecksum()
	child, err := start(ctx, argv, false)
	if err != nil {
		return sum, err
	}
	err = sum.addLines(child.output)
	_, closed := io.Copy(io.Discard, child.output) // so that it can end even when a line was refused
	_, stop := child.finish()
	return sum, errors.Join(err, closed, child.output.Close(), stop)
}

func (c *checksum) addLines(from io.Reader) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 1<<16), 1<<20)
	for lines.Scan() {
		id, source, err := cutLine(lines.Bytes())
		if err != nil {
			return err
		}
		c.add(source)
		for _, part := range [][]byte{id, newline, source, newline} {
			c.ordered.Write(part) // a hash does not fail
		}
	}
	return lines.Err()
}

var newline = []byte{'\n'}

// cutLine takes the id and the source out of a line that Reshelve printed. The ids here need no escapes.
func cutLine(line []byte) (id, source []byte, err error) {
	_, rest, found := bytes.Cut(line, []byte(`"_id":"`))
	id, rest, found2 := bytes.Cut(rest, []byte(`"`))
	_, rest, found3 := bytes.Cut(rest, []byte(`"_source":`))
	source, closed := bytes.CutSuffix(rest, []byte("}"))
	if !found || !found2 || !found3 || !closed {
		return nil, nil, fmt.Errorf("not a line of a document: %.200q", line)
	}
	return id, source, nil
}

// check proves that both readers deliver what was sent to the server, and returns how many bytes of files Java asked for.
func (b *bench) check(ctx context.Context, s shard) (javaRead int64, err error) {
	ours, err := delivered(ctx, b.cat(s))
	if err != nil {
		return 0, err
	}
	if ours.content != s.Content {
		return 0, fmt.Errorf("%s: the server was sent %+v, Reshelve delivered %+v", s, s.Content, ours.content)
	}
	_, passes, err := b.java[s.family.server].run(ctx, s.directory(), "check", 1, 0)
	if err != nil {
		return 0, err
	}
	if sum := uint64(ours.ordered.Sum32()); passes[0].Sum != sum || passes[0].Documents != ours.Documents {
		return 0, fmt.Errorf("%s: Java delivered %d documents with checksum %08x, Reshelve %d with %08x",
			s, passes[0].Documents, passes[0].Sum, ours.Documents, sum)
	}
	return passes[0].Read, nil
}
