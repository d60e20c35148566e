package blob

import (
	"context"
	"io"
	"io/fs"
	"math/bits"
	"sync"
)

// ReadAheadPolicy bounds the read-ahead of one stream. The zero value of a
// field is its default. With the defaults, 50 ms of latency per request leave
// room for about 1 GB/s, for 12 MiB of memory.
type ReadAheadPolicy struct {
	First   int64 // bytes of the first piece, a power of two; 256 KiB
	Largest int64 // bytes of the largest piece, First times a power of two; 2 MiB
	Buffers int   // pieces held in memory at once; 6
	Ahead   int64 // bytes asked for ahead of the reader, at most; 48 MiB
}

func (p ReadAheadPolicy) withDefaults() ReadAheadPolicy {
	setDefault(&p.First, 256<<10)
	setDefault(&p.Largest, 2<<20)
	setDefault(&p.Buffers, 6)
	setDefault(&p.Ahead, 48<<20)
	return p
}

// ReadAhead hides the latency of b: a range longer than two first pieces is
// fetched by parallel sub-ranges ahead of the reader and delivered in order.
//
// The first piece is read straight from its response, so the first bytes come
// after one request. The distance that is asked ahead then grows fourfold each
// time the reader has to wait for a piece, and is at most three times what it
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

// pieced is a stream that is fetched in pieces. Offsets are those of the blob.
type pieced struct {
	*readAhead
	ctx    context.Context // ends with the stream
	cancel context.CancelFunc
	key    string

	head  io.ReadCloser // the first piece's response, nil when it is consumed
	queue []*piece      // asked for and not consumed, in order
	ring  []*piece      // the last pieces asked for; a new one takes over the buffer of the one in its place

	begin int64 // of the range
	pos   int64 // the reader's
	next  int64 // the first byte not asked for
	end   int64 // of the range; negative while unknown
	step  int64 // length of the next piece
	ahead int64 // distance from pos that is asked for, before the other bounds

	fetching sync.WaitGroup
	err      error // the stream's end, once it is known
}

// piece is a sub-range on its way to the reader.
type piece struct {
	offset, length int64
	turn           <-chan struct{} // closed when the piece may take a buffer
	arrived        chan struct{}   // closed when data and err are set
	consumed       chan struct{}   // closed when the buffer is free again
	buffer         *[]byte
	data           []byte // not yet read
	err            error  // behind data; io.EOF when the blob ends in the piece
}

func (s *pieced) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for s.err == nil {
		n, err := s.read(p)
		s.pos += int64(n)
		if err != nil {
			s.err = err
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, s.err
}

// read reads from the head or the first piece of the queue; 0 without error
// means that it has to be called again.
func (s *pieced) read(p []byte) (int, error) {
	if s.head != nil {
		return s.readHead(p)
	}
	if s.end < 0 {
		size, err := s.Size(s.ctx, s.key)
		if err != nil {
			return 0, err
		}
		s.end = max(size, s.pos)
	}
	if s.pos == s.end {
		return 0, io.EOF
	}
	s.ask()
	first := s.queue[0]
	if err := s.await(first); err != nil {
		return 0, err
	}
	n := copy(p, first.data)
	first.data = first.data[n:]
	if len(first.data) == 0 {
		s.queue = s.queue[1:]
		s.release(first)
		return n, first.err
	}
	return n, nil
}

func (s *pieced) readHead(p []byte) (int, error) {
	if s.end >= 0 {
		s.ask()
	}
	n, err := s.head.Read(p)
	if err != io.EOF {
		return n, err
	}
	s.head.Close() // consumed: what Close says adds nothing
	s.head = nil
	if s.pos+int64(n) < s.begin+s.policy.First {
		return n, io.EOF // the blob ends in the first piece
	}
	return n, nil
}

// await waits for a piece, and widens the distance when it has to.
func (s *pieced) await(p *piece) error {
	select {
	case <-p.arrived:
		return nil
	default:
	}
	s.ahead = min(4*s.ahead, s.policy.Ahead)
	s.ask()
	select {
	case <-p.arrived:
		return nil
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
}

// ask sends for the pieces that the distance allows, and for one at least when
// the reader has nothing else to read.
func (s *pieced) ask() {
	limit := s.pos + min(s.ahead, 3*(s.pos-s.begin))
	for s.next < s.end {
		length := min(s.step, s.end-s.next)
		needed := s.head == nil && len(s.queue) == 0
		if s.next+length > limit && !needed {
			return
		}
		s.send(length)
		s.step = min(2*s.step, s.policy.Largest)
	}
}

func (s *pieced) send(length int64) {
	p := &piece{offset: s.next, length: length, arrived: make(chan struct{}), consumed: make(chan struct{})}
	if before := s.ring[0]; before != nil {
		p.turn = before.consumed
	}
	copy(s.ring, s.ring[1:])
	s.ring[len(s.ring)-1] = p
	s.queue = append(s.queue, p)
	s.next += length
	s.fetching.Go(func() { s.fetch(p) })
}

// fetch runs in a goroutine for each piece.
func (s *pieced) fetch(p *piece) {
	defer close(p.arrived)
	body, err := s.Bucket.Open(s.ctx, s.key, p.offset, p.length)
	if err != nil {
		p.err = err
		return
	}
	defer body.Close()
	if p.turn != nil {
		select {
		case <-p.turn:
		case <-s.ctx.Done():
			p.err = context.Cause(s.ctx)
			return
		}
	}
	p.buffer = s.take(p.length)
	n, err := io.ReadFull(body, (*p.buffer)[:p.length])
	p.data = (*p.buffer)[:n]
	if err == io.ErrUnexpectedEOF { // said by ReadFull: the body ended in peace
		err = io.EOF
	}
	p.err = err
}

// release gives a consumed piece's buffer back.
func (s *pieced) release(p *piece) {
	s.give(p.buffer)
	p.buffer, p.data = nil, nil
	close(p.consumed)
}

// Close ends the requests on their way and waits until they have.
func (s *pieced) Close() error {
	s.err = fs.ErrClosed
	s.cancel()
	if s.head != nil {
		s.head.Close() // given up: what Close says adds nothing
		s.head = nil
	}
	s.fetching.Wait()
	for _, p := range s.queue {
		s.give(p.buffer)
	}
	s.queue, s.ring = nil, nil
	return nil
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
	if buffer != nil {
		r.free[r.class(int64(len(*buffer)))].Put(buffer)
	}
}
