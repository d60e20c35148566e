package blob

import (
	"context"
	"io"
	"math/bits"
	"sync"
)

// ReadAheadPolicy bounds the read-ahead of one stream. The zero value of a
// field is its default. With the defaults, 50 ms of latency per request leave
// room for about 2 GB/s, for 12 MiB of memory.
type ReadAheadPolicy struct {
	First   int64 // bytes of the first piece, a power of two; 256 KiB
	Largest int64 // bytes of the largest piece, First times a power of two; 2 MiB
	Buffers int   // pieces held in memory at once; 6
	Ahead   int64 // bytes asked for ahead of the reader, at most; 96 MiB
}

func (p ReadAheadPolicy) withDefaults() ReadAheadPolicy {
	setDefault(&p.First, 256<<10)
	setDefault(&p.Largest, 2<<20)
	setDefault(&p.Buffers, 6)
	setDefault(&p.Ahead, 96<<20)
	return p
}

// ReadAhead hides the latency of b: a range longer than two first pieces is
// fetched by parallel sub-ranges ahead of the reader and delivered in order.
//
// The first piece is read straight from its response, so the first bytes come
// after one request. The distance that is asked ahead then grows eightfold each
// time the reader has to wait for a piece, and is at most seven times what it
// has consumed: a reader that stops early has cost little, one that is slower
// than the store causes no rush. Memory is needed only for pieces that have
// arrived, not for those still on their way; a request whose buffer is not free
// yet waits with its body unread.
//
// When length is negative, a blob longer than the first piece costs one Size.
func ReadAhead(b Bucket, policy ReadAheadPolicy) Bucket {
	policy = policy.withDefaults()
	classes := bits.Len64(uint64(policy.Largest / policy.First))
	return &readAhead{Bucket: b, policy: policy, free: make([]sync.Pool, classes)}
}

type readAhead struct {
	Bucket
	policy ReadAheadPolicy
	free   []sync.Pool // of *[]byte; class c holds buffers of First<<c bytes
}

func (r *readAhead) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if length >= 0 && length <= 2*r.policy.First {
		return r.Bucket.Open(ctx, key, offset, length)
	}
	ctx, cancel := context.WithCancel(ctx)
	head, err := r.Bucket.Open(ctx, key, offset, r.policy.First)
	if err != nil {
		cancel()
		return nil, err
	}
	s := &pieced{
		readAhead: r, ctx: ctx, cancel: cancel, key: key, head: head,
		begin: offset, pos: offset, next: offset + r.policy.First, end: -1,
		step: r.policy.First, ahead: r.policy.First,
		ring: make([]*piece, r.policy.Buffers),
	}
	if length >= 0 {
		s.end = offset + length
	}
	return s, nil
}

func (r *readAhead) class(length int64) int {
	return bits.Len64(uint64((length - 1) / r.policy.First))
}

func (r *readAhead) take(length int64) *[]byte {
	class := r.class(length)
	if buffer, ok := r.free[class].Get().(*[]byte); ok {
		return buffer
	}
	buffer := make([]byte, r.policy.First<<class)
	return &buffer
}

func (r *readAhead) give(buffer *[]byte) {
	r.free[r.class(int64(len(*buffer)))].Put(buffer)
}
