package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

// longest is how long one call takes at most, whatever its context.
const longest = 2 * time.Minute

// Options say where the store is.
type Options struct {
	Address   string            // "http://127.0.0.1:9200"
	Transport http.RoundTripper // how it is reached, whatever the address: by a socket, say; nil: by TCP
	Place     string            // what errors name; the address
}

// Store is a coord.Store. Make it with Open.
type Store struct {
	base  *url.URL
	http  *http.Client
	place string
	own   bool // the transport is
	life  *coord.Life
	clock coord.Asked
	quiet time.Duration // after which a watch is over
}

// Open asks who is there. A server without a coordination store, or with one of
// another protocol, is fault.Refused.
func Open(ctx context.Context, o Options) (*Store, error) {
	base, err := url.Parse(strings.TrimSuffix(o.Address, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		err := fault.New(fault.Usage, "%q is no address of a store", o.Address)
		return nil, fault.WithNext(err, "write http://HOST:PORT")
	}
	s := &Store{base: base, http: &http.Client{Transport: o.Transport, CheckRedirect: stay}, place: o.Place, life: coord.NewLife(), quiet: Silence}
	if o.Transport == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost = 16
		s.http.Transport, s.own = transport, true
	}
	if s.place == "" {
		s.place = base.Redacted()
	}
	var told greeting
	err = s.ask(ctx, "", &told)
	if err == nil && told.Protocol != protocol {
		err = fault.At(fault.New(fault.Refused, "its coordination store speaks protocol %d; this program speaks %d", told.Protocol, protocol), s.place)
		err = fault.WithNext(err, "run the same version on both sides")
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// stay lets a redirect be the answer: what is asked, and the records, are for the address that was named.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Close ends the store and its watches.
func (s *Store) Close() error {
	s.life.End()
	if s.own {
		s.http.CloseIdleConnections()
	}
	return nil
}

// Get is coord.Store's.
func (s *Store) Get(ctx context.Context, key string) (coord.Record, error) {
	if err := coord.CheckKey(key); err != nil {
		return coord.Record{}, err
	}
	record := coord.Record{Key: key}
	err := s.call(ctx, http.MethodGet, "/record", url.Values{"key": {key}}, nil, nil, func(r *http.Response) (err error) {
		if record.Value, err = whole(r); err == nil {
			record.Revision, err = revisionOf(r)
		}
		return err
	})
	if err != nil {
		return coord.Record{}, err
	}
	return record, nil
}

// whole reads a value.
func whole(r *http.Response) ([]byte, error) {
	value, err := io.ReadAll(io.LimitReader(r.Body, coord.MaxValue+1))
	if err == nil && len(value) > coord.MaxValue {
		err = fault.New(fault.Limit, "the value is longer than %d bytes", coord.MaxValue)
	}
	return value, err
}

func revisionOf(r *http.Response) (int64, error) {
	return strconv.ParseInt(r.Header.Get(revisionHeader), 10, 64)
}

// Create is coord.Store's.
func (s *Store) Create(ctx context.Context, key string, value []byte) (int64, error) {
	w := coord.Write{Op: coord.OpCreate, Key: key, Value: value}
	return s.change(ctx, w, http.MethodPut, http.Header{"If-None-Match": {"*"}})
}

// Swap is coord.Store's.
func (s *Store) Swap(ctx context.Context, key string, revision int64, value []byte) (int64, error) {
	w := coord.Write{Op: coord.OpSwap, Key: key, Revision: revision, Value: value}
	return s.change(ctx, w, http.MethodPut, quoting(revision))
}

// Delete is coord.Store's.
func (s *Store) Delete(ctx context.Context, key string, revision int64) error {
	w := coord.Write{Op: coord.OpDelete, Key: key, Revision: revision}
	_, err := s.change(ctx, w, http.MethodDelete, quoting(revision))
	return err
}

func quoting(revision int64) http.Header {
	return http.Header{"If-Match": {`"` + strconv.FormatInt(revision, 10) + `"`}}
}

func (s *Store) change(ctx context.Context, w coord.Write, method string, header http.Header) (revision int64, err error) {
	if err := w.Check(); err != nil {
		return 0, err
	}
	err = s.call(ctx, method, "/record", url.Values{"key": {w.Key}}, header, w.Value, func(r *http.Response) (err error) {
		if w.Op != coord.OpDelete {
			revision, err = revisionOf(r)
		}
		return err
	})
	return revision, err
}

// List is coord.Store's.
func (s *Store) List(ctx context.Context, prefix string) (records []coord.Record, err error) {
	err = s.call(ctx, http.MethodGet, "/records", url.Values{"prefix": {prefix}}, nil, nil, func(r *http.Response) error {
		lines := json.NewDecoder(r.Body)
		for {
			var l line
			if err := lines.Decode(&l); err != nil {
				return err
			}
			if l.End != nil {
				if *l.End != len(records) {
					return fault.New(fault.Unavailable, "%d of %d records arrived", len(records), *l.End)
				}
				return nil
			}
			records = append(records, l.event().Record)
		}
	})
	if err != nil {
		return nil, err
	}
	return records, nil
}

// Revision is coord.Store's.
func (s *Store) Revision(ctx context.Context) (int64, error) {
	var told revisionAnswer
	err := s.ask(ctx, "/revision", &told)
	return told.Revision, err
}

// Now is coord.Store's: that of the store behind the other process, with what asking
// took.
func (s *Store) Now(ctx context.Context) (coord.Time, error) {
	var told timeAnswer
	from := time.Now()
	if err := s.ask(ctx, "/time", &told); err != nil {
		return coord.Time{}, err
	}
	return s.clock.Answered(coord.Time(told), from), nil
}

// ask reads a small answer in JSON.
func (s *Store) ask(ctx context.Context, path string, into any) error {
	return s.call(ctx, http.MethodGet, path, nil, nil, nil, func(r *http.Response) error {
		return json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(into)
	})
}

// call makes a request and lets read read the answer. What fails on the way is
// fault.Unavailable.
func (s *Store) call(ctx context.Context, method, path string, query url.Values, header http.Header, body []byte, read func(*http.Response) error) error {
	ctx, done, err := s.life.Begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	within, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	response, err := s.send(within, method, path, query, header, body)
	if err != nil {
		return s.explain(ctx, err)
	}
	defer response.Body.Close()
	return s.explain(ctx, read(response))
}

// send makes a request; an answer that is no success is an error.
func (s *Store) send(ctx context.Context, method, path string, query url.Values, header http.Header, body []byte) (*http.Response, error) {
	u := s.base.JoinPath(Root + path)
	u.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fault.Wrap(fault.Usage, err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	response, err := s.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode < 300 {
		return response, nil
	}
	defer response.Body.Close()
	told, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err != nil {
		return nil, err
	}
	return nil, refused(response.StatusCode, told)
}

// explain gives an error from below its kind and place. Ctx is the caller's.
func (s *Store) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ended := s.life.Ended(ctx); ended != nil {
		return ended
	}
	var known *fault.Error
	if errors.As(err, &known) {
		return fault.At(err, s.place)
	}
	var of *url.Error
	if errors.As(err, &of) { // it names the whole address, the key in it
		err = of.Err
	}
	err = fault.At(fault.New(fault.Unavailable, "%w", err), s.place)
	return fault.WithNext(err, "see whether reshelve serve runs there")
}
