package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

const (
	bodiesAtWork = 4 * coord.MaxValue // bytes of values that changes hold at the same time
	mostWatches  = 1024
)

// Handler offers a store by HTTP. Safe for concurrent use.
type Handler struct {
	store   coord.Store
	life    *coord.Life
	bodies  *semaphore.Weighted
	watches *semaphore.Weighted
	alive   time.Duration // between two signs of life
}

// NewHandler makes one. The store outlives it.
func NewHandler(s coord.Store) *Handler {
	return &Handler{store: s, life: coord.NewLife(), alive: Silence / 3,
		bodies: semaphore.NewWeighted(bodiesAtWork), watches: semaphore.NewWeighted(mostWatches)}
}

// End ends the watches, which would otherwise keep a server from shutting down.
func (h *Handler) End() { h.life.End() }

// ServeHTTP answers one request at Root or below it.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, ok := strings.CutPrefix(r.URL.Path, Root)
	if !ok {
		tell(w, fault.New(fault.NotFound, "nothing is at %s", r.URL.Path))
		return
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		tell(w, fault.New(fault.Usage, "the parameters cannot be read: %w", err))
		return
	}
	switch r.Method + " " + path {
	case "GET ", "GET /":
		answer(w, greeting{protocol}, nil)
	case "GET /record":
		err = h.get(w, r, query.Get("key"))
	case "PUT /record":
		err = h.put(w, r, query.Get("key"))
	case "DELETE /record":
		err = h.remove(w, r, query.Get("key"))
	case "GET /records":
		err = h.list(w, r, query.Get("prefix"))
	case "GET /watch":
		err = h.watch(w, r, query)
	case "GET /revision":
		revision, failed := h.store.Revision(r.Context())
		answer(w, revisionAnswer{revision}, failed)
	case "GET /time":
		now, failed := h.store.Now(r.Context())
		answer(w, timeAnswer(now), failed)
	default:
		err = fault.New(fault.Refused, "%s %s is not of protocol %d", r.Method, path, protocol)
	}
	if err != nil {
		tell(w, err)
	}
}

// tell answers with an error.
func tell(w http.ResponseWriter, err error) {
	p := problemOf(err)
	body, _ := json.Marshal(p) // strings and numbers cannot fail
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	_, _ = w.Write(body)
}

// answer answers with JSON, or the error.
func answer(w http.ResponseWriter, what any, err error) {
	if err != nil {
		tell(w, err)
		return
	}
	body, _ := json.Marshal(what)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

func (h *Handler) get(w http.ResponseWriter, r *http.Request, key string) error {
	record, err := h.store.Get(r.Context(), key)
	if err != nil {
		return err
	}
	w.Header().Set(revisionHeader, strconv.FormatInt(record.Revision, 10))
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(record.Value)))
	_, _ = w.Write(record.Value)
	return nil
}

func (h *Handler) put(w http.ResponseWriter, r *http.Request, key string) error {
	value, done, err := h.body(w, r)
	if err != nil {
		return err
	}
	defer done()
	var revision int64
	if r.Header.Get("If-None-Match") == "*" {
		revision, err = h.store.Create(r.Context(), key, value)
	} else if revision, err = quoted(r); err == nil {
		revision, err = h.store.Swap(r.Context(), key, revision, value)
	}
	if err != nil {
		return err
	}
	w.Header().Set(revisionHeader, strconv.FormatInt(revision, 10))
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// body reads the whole value; the caller calls done when it holds it no more.
func (h *Handler) body(w http.ResponseWriter, r *http.Request) (value []byte, done func(), err error) {
	size := r.ContentLength
	if size < 0 || size > coord.MaxValue {
		size = coord.MaxValue
	}
	if err := h.bodies.Acquire(r.Context(), size); err != nil {
		return nil, nil, err
	}
	done = func() { h.bodies.Release(size) }
	value, err = io.ReadAll(http.MaxBytesReader(w, r.Body, coord.MaxValue))
	if err == nil {
		return value, done, nil
	}
	done()
	var long *http.MaxBytesError
	if errors.As(err, &long) {
		return nil, nil, fault.New(fault.Limit, "a value is longer than %d bytes", coord.MaxValue)
	}
	return nil, nil, fault.New(fault.Unavailable, "the value did not arrive whole: %w", err)
}

func (h *Handler) remove(w http.ResponseWriter, r *http.Request, key string) error {
	revision, err := quoted(r)
	if err == nil {
		err = h.store.Delete(r.Context(), key, revision)
	}
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// quoted is the revision that a change quotes.
func quoted(r *http.Request) (int64, error) {
	text := strings.Trim(r.Header.Get("If-Match"), `"`)
	revision, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		err = fault.New(fault.Usage, "a change needs If-None-Match: * or If-Match with a revision, not %q", text)
	}
	return revision, err
}

func (h *Handler) list(w http.ResponseWriter, r *http.Request, prefix string) error {
	records, err := h.store.List(r.Context(), prefix)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", linesType)
	buffer := bufio.NewWriterSize(w, 64<<10)
	lines := json.NewEncoder(buffer)
	for _, record := range records {
		if lines.Encode(lineOf(record, false)) != nil {
			return nil // who asked has gone
		}
	}
	n := len(records)
	_ = lines.Encode(line{End: &n})
	_ = buffer.Flush()
	return nil
}

// watch streams until the watch, the client or the handler ends.
func (h *Handler) watch(w http.ResponseWriter, r *http.Request, query url.Values) error {
	after, err := strconv.ParseInt(query.Get("after"), 10, 64)
	if err != nil {
		return fault.New(fault.Usage, "%q is no revision", query.Get("after"))
	}
	ctx, done, err := h.life.Begin(r.Context())
	if err != nil {
		return err
	}
	defer done()
	if !h.watches.TryAcquire(1) {
		return fault.New(fault.Limit, "%d watches are served already", mostWatches)
	}
	defer h.watches.Release(1)
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // the server's is for requests that end; a writer without one has none
	w.Header().Set("Content-Type", linesType)
	stream := &stream{w: w, control: control}
	ctx, cancel := context.WithCancel(ctx)
	var living sync.WaitGroup
	defer living.Wait()
	defer cancel()
	if stream.say([]byte("\n")) != nil {
		return nil
	}
	living.Go(func() { stream.live(ctx, cancel, h.alive) })
	for event, err := range h.store.Watch(ctx, query.Get("prefix"), after) {
		last := lineOf(event.Record, event.Deleted)
		if err != nil {
			if ended := h.life.Ended(r.Context()); ended != nil {
				err = ended
			}
			last = line{Problem: problemOf(err)}
		}
		text, _ := json.Marshal(last)
		if stream.say(append(text, '\n')) != nil {
			return nil
		}
	}
	return nil
}

// stream is the answer of a watch, to which two write.
type stream struct {
	mu      sync.Mutex
	w       io.Writer
	control *http.ResponseController
}

// say writes lines, and fails when the client does not take them within Silence.
func (s *stream) say(text []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.control.SetWriteDeadline(time.Now().Add(Silence))
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	return s.control.Flush()
}

// live gives signs of life until ctx ends; a client that is gone ends the watch.
func (s *stream) live(ctx context.Context, gone context.CancelFunc, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if s.say([]byte("\n")) != nil {
				gone()
				return
			}
		}
	}
}
