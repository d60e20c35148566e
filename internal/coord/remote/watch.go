package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

// longestLine bounds a line of a watch: a value in base64 and its key.
const longestLine = coord.MaxValue/3*4 + 8*coord.MaxKey + 1024

// Watch is coord.Store's.
func (s *Store) Watch(ctx context.Context, prefix string, after int64) iter.Seq2[coord.Event, error] {
	return func(yield func(coord.Event, error) bool) {
		ctx, done, err := s.life.Begin(ctx)
		if err == nil {
			defer done()
			err = s.explain(ctx, s.watch(ctx, prefix, after, yield))
		}
		if err != nil {
			yield(coord.Event{}, err)
		}
	}
}

// watch yields events until an error; nil when the consumer stops.
func (s *Store) watch(ctx context.Context, prefix string, after int64, yield func(coord.Event, error) bool) error {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(s.quiet, func() {
		cancel(fault.New(fault.Unavailable, "it has said nothing for %s", s.quiet))
	})
	defer silent.Stop()
	query := url.Values{"prefix": {prefix}, "after": {strconv.FormatInt(after, 10)}}
	response, err := s.send(within, http.MethodGet, "/watch", query, nil, nil)
	if err != nil {
		return because(within, err)
	}
	defer response.Body.Close()
	lines := bufio.NewReaderSize(response.Body, 64<<10)
	for {
		text, err := readLine(lines)
		if err != nil {
			return because(within, err)
		}
		if len(text) == 0 {
			silent.Reset(s.quiet)
			continue
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return err
		}
		if l.Problem != nil {
			return l.Problem.fault()
		}
		if err := s.life.Ended(ctx); err != nil {
			return err
		}
		silent.Stop() // while the consumer has it
		if !yield(l.event(), nil) {
			return nil
		}
		silent.Reset(s.quiet)
	}
}

// because is why the context has ended, if it was that.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// readLine reads a line without its end.
func readLine(r *bufio.Reader) (text []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > longestLine:
			return nil, fault.New(fault.Limit, "a line is longer than %d bytes", longestLine)
		case err == nil:
			return text[:len(text)-1], nil
		case err == io.EOF:
			return nil, io.ErrUnexpectedEOF // a watch ends with a line that says why
		case err != bufio.ErrBufferFull:
			return nil, err
		}
	}
}
