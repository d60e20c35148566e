package blob

import (
	"context"
	"io"
	"io/fs"
	"sync"
)

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
	turn           <-chan *[]byte // brings the buffer of a consumed piece; nil for the first ones
	arrived        chan struct{}  // closed when data and err are set
	consumed       chan *[]byte   // hands the buffer to the piece whose turn it is then
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
	s.ahead = min(8*s.ahead, s.policy.Ahead)
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
	limit := s.pos + min(s.ahead, 7*(s.pos-s.begin))
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
	p := &piece{offset: s.next, length: length, arrived: make(chan struct{}), consumed: make(chan *[]byte, 1)}
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
	if p.buffer, err = s.bufferFor(p); err != nil {
		p.err = err
		return
	}
	n, err := io.ReadFull(body, (*p.buffer)[:p.length])
	p.data = (*p.buffer)[:n]
	if err == io.ErrUnexpectedEOF { // said by ReadFull: the body ended in peace
		err = io.EOF
	}
	p.err = err
}

// bufferFor waits for the piece's turn: there are never more buffers than the
// policy says. A buffer that is too small for a grown piece is exchanged.
func (s *pieced) bufferFor(p *piece) (*[]byte, error) {
	if p.turn == nil {
		return s.take(p.length), nil
	}
	select {
	case buffer := <-p.turn:
		if int64(len(*buffer)) >= p.length {
			return buffer, nil
		}
		s.give(buffer)
		return s.take(p.length), nil
	case <-s.ctx.Done():
		return nil, context.Cause(s.ctx)
	}
}

// release hands a consumed piece's buffer on. A piece without one has failed,
// and the stream with it.
func (s *pieced) release(p *piece) {
	if p.buffer != nil {
		p.consumed <- p.buffer
	}
	p.buffer, p.data = nil, nil
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
		if p.buffer != nil {
			s.give(p.buffer)
		}
	}
	for _, p := range s.ring {
		if p != nil && len(p.consumed) > 0 {
			s.give(<-p.consumed)
		}
	}
	s.queue, s.ring = nil, nil
	return nil
}
