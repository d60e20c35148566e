package gateway

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/xcontent"
)

// checkContentType refuses a body in a format that is not read, in the server's words.
func (c *call) checkContentType() error {
	if c.r.ContentLength == 0 {
		return nil
	}
	header := c.r.Header.Get("Content-Type")
	if header == "application/json" || header == "application/x-ndjson" { // nearly always
		return nil
	}
	if c.sent.readable() {
		return nil
	}
	media, _, err := mime.ParseMediaType(header)
	switch media {
	case "application/json", "application/x-ndjson", "application/yaml", "application/smile", "application/cbor",
		"application/vnd.opensearch+json", "application/vnd.opensearch+x-ndjson", "application/*":
		return nil
	}
	if header != "" && (err != nil || !strings.Contains(header, "/")) {
		reason := "invalid Content-Type header [" + header + "]"
		cause := exception.New(exception.IllegalArgument, "%s", reason)
		return exception.New(exception.ContentTypeHeader, "java.lang.IllegalArgumentException: %s", reason).CausedBy(cause)
	}
	return c.plainError(http.StatusNotAcceptable, true, "Content-Type header ["+header+"] is not supported")
}

// content reads the body whole, decompressed and as JSON; empty when there is
// none. It is valid until the call ends.
func (c *call) content() ([]byte, error) {
	limit := c.s.options.BodyBytes
	if c.r.ContentLength > limit {
		return nil, c.tooLarge(limit)
	}
	if c.r.ContentLength > c.s.options.InFlightBytes+little { // it is refused after reading anyway
		return nil, c.beyond(c.r.ContentLength)
	}
	if c.r.ContentLength == 0 {
		return nil, nil
	}
	var from io.Reader = c.r.Body
	if c.r.Header.Get("Content-Encoding") == "gzip" {
		reader, err := gzip.NewReader(io.LimitReader(from, limit))
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil, nil // as the server: nothing came out
			}
			return nil, exception.New(exception.OpenSearchParse, "the body is not gzip: %v", err)
		}
		defer reader.Close()
		from = reader
	} else if err := c.hold(min(c.r.ContentLength, foretold)); err != nil {
		return nil, err
	}
	if err := c.fill(from, limit); err != nil {
		return nil, err
	}
	if err := c.translate(limit); err != nil {
		return nil, err
	}
	if depth := c.s.options.Depth; depth < deepest && nesting(c.body, depth) > depth {
		return nil, exception.New(exception.StreamConstraints, "Document nesting depth (%d) exceeds the maximum allowed (%d)", depth+1, depth)
	}
	return c.body, nil
}

// nesting is how deep objects and arrays stand in each other, counted up to limit+1.
func nesting(body []byte, limit int) (most int) {
	depth := 0
	for i := 0; i < len(body) && most <= limit; i++ {
		switch body[i] {
		case '"':
			i = stringEnd(body, i) - 1
		case '{', '[':
			depth++
			most = max(most, depth)
		case '}', ']':
			depth = max(0, depth-1)
		}
	}
	return most
}

// foretold is how much of a body has room before it comes: a length is easily said by
// who sends nothing, and would keep others out.
const foretold = 4 << 10

// fill reads into the call's buffer, which grows with what comes and no faster.
func (c *call) fill(from io.Reader, limit int64) error {
	buffer, known := c.body[:0], int(max(0, c.r.ContentLength))
	for {
		if len(buffer) == cap(buffer) {
			size := max(foretold, 2*cap(buffer))
			if len(buffer) <= known {
				size = min(size, known+1) // one more, so that the end is seen without growing
			}
			grown := make([]byte, len(buffer), size)
			copy(grown, buffer)
			buffer = grown
		}
		n, err := from.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		c.body = buffer
		if int64(len(buffer)) > limit {
			return c.tooLarge(limit)
		}
		if int64(len(buffer)) > c.held {
			if err := c.hold(int64(len(buffer)) - c.held); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return exception.New(exception.OpenSearchParse, "reading the body: %v", err)
		}
	}
}

// little is what a call may hold in the room that is kept for such calls: those who
// ask for much do not keep them out.
const little = 64 << 10

// hold counts bytes as in flight, and refuses when there are too many.
func (c *call) hold(n int64) error {
	if n <= 0 {
		return nil
	}
	now, room := c.s.inFlight.Add(n), c.s.options.InFlightBytes
	c.held += n
	if c.held <= little {
		room += room / 4
	}
	switch {
	case now <= room:
		return nil
	case c.held > room: // by itself: trying again would not help
		return c.beyond(c.held)
	}
	return exception.New(exception.Rejected, "rejected execution: the requests at work hold [%d] bytes, the limit is [%d]",
		now, c.s.options.InFlightBytes)
}

// A source of largeSource bytes or more takes sourceCopies times its size besides the body, on its way
// into the log and into a segment. Smaller ones are not counted.
const (
	largeSource  = 1 << 20
	sourceCopies = 5
)

// holdSource counts the memory that the largest source of a request takes besides the body. A source
// that needs more than all of the room takes all of it.
func (c *call) holdSource(size int) error {
	if size < largeSource {
		return nil
	}
	return c.hold(min(sourceCopies*int64(size), max(0, c.s.options.InFlightBytes-c.held)))
}

// beyond refuses a request that takes so many bytes that it will never have room.
func (c *call) beyond(bytes int64) error {
	return exception.New(exception.IllegalArgument, "the request takes [%d] bytes of memory or more, the limit for all requests at work is [%d]; "+
		"send it in parts, or set --max-in-flight", bytes, c.s.options.InFlightBytes).WithStatus(http.StatusRequestEntityTooLarge)
}

// holdAnswer counts bytes of the answer as in flight, until the client has them. It
// refuses one that has become too large.
func (c *call) holdAnswer(n int64) error {
	err := c.hold(n)
	if err == nil {
		return nil
	}
	return exception.New(exception.CircuitBreaking, "Data too large: the answers of the requests at work hold more than the limit of [%d] bytes; ask for less at a time",
		c.s.options.InFlightBytes).WithStatus(exception.From(err).Status())
}

func (c *call) tooLarge(limit int64) error {
	return exception.New(exception.IllegalArgument, "the body is larger than the limit of [%d] bytes", limit).
		WithStatus(http.StatusRequestEntityTooLarge)
}

// translate makes the body JSON when it came as YAML, SMILE or CBOR.
func (c *call) translate(limit int64) error {
	header := c.r.Header.Get("Content-Type")
	if c.sent.format != "yaml" && c.sent.format != "smile" && c.sent.format != "cbor" && !strings.HasPrefix(header, "application/yaml") && !strings.HasPrefix(header, "application/smile") && !strings.HasPrefix(header, "application/cbor") {
		return nil
	}
	out, err := xcontent.ToJSON(nil, c.body, int(limit))
	if err != nil {
		return exception.New(exception.MapperParsing, "failed to parse").
			CausedBy(exception.New(exception.NotXContent, "%v", err))
	}
	c.body = out
	return nil
}

// required is content that must be there.
func (c *call) required() ([]byte, error) {
	body, err := c.content()
	if err == nil && len(body) == 0 {
		err = exception.New(exception.OpenSearchParse, "request body is required")
	}
	return body, err
}

// contentOrSource is content, or the parameter source in its place. The endpoint
// must know the parameters source and source_content_type.
func (c *call) contentOrSource() ([]byte, error) {
	body, err := c.content()
	if err != nil || len(body) > 0 {
		return body, err
	}
	source, ok := c.has("source")
	if !ok {
		return nil, nil
	}
	switch kind := c.text("source_content_type", ""); kind {
	case "application/json", "application/x-ndjson":
	case "":
		return nil, exception.New(exception.IllegalState, "source and source_content_type parameters are required")
	default:
		return nil, exception.New(exception.IllegalState, "Unknown value for source_content_type [%s]", kind)
	}
	c.body = append(c.body[:0], source...)
	return c.body, nil
}
