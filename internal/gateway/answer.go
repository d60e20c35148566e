package gateway

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// appearance is what a client may ask of the form of every answer.
type appearance struct {
	pretty bool
	yaml   bool
	vendor media       // the media type of a client of Elasticsearch; zero: the usual one
	filter *pathFilter // nil: everything
}

// readAppearance reads the common parameters.
func (c *call) readAppearance() error {
	if len(c.params) > 0 {
		var err error
		if c.look.pretty, err = c.boolean("pretty", false); err != nil {
			return err
		}
		if _, err = c.boolean("human", false); err != nil {
			return err
		}
		if _, err = c.boolean("error_trace", false); err != nil {
			return err
		}
		if paths := c.list("filter_path"); len(paths) > 0 {
			if c.look.filter, err = newPathFilter(paths); err != nil {
				return err
			}
		}
	}
	switch c.text("format", "") {
	case "yaml", "application/yaml":
		c.look.yaml, c.look.vendor = true, media{}
	case "json", "application/json":
		c.look.yaml, c.look.vendor = false, media{}
	default:
		accept := c.r.Header.Get("Accept")
		kind := c.r.Header.Get("Content-Type")
		c.look.yaml = c.look.yaml || strings.HasPrefix(accept, "application/yaml") ||
			(accept == "" || accept == "*/*") && strings.HasPrefix(kind, "application/yaml")
	}
	return nil
}

// larger is how many times the size of an answer all its forms have together, about.
func (a *appearance) larger() int64 {
	switch {
	case a.pretty || a.yaml:
		return 4
	case a.filter != nil:
		return 2
	}
	return 1
}

// json answers with a compact JSON value.
func (c *call) json(status int, body []byte) error {
	c.out = append(c.out[:0], body...)
	return c.send(status)
}

// plain answers with text.
func (c *call) plain(text []byte) error {
	c.out = append(c.out[:0], text...)
	return c.deliver(http.StatusOK, "text/plain; charset=UTF-8")
}

// send answers with what has been appended to c.out, one compact JSON value, in
// the form that the client asked for.
func (c *call) send(status int) error {
	kind := "application/json; charset=UTF-8"
	if c.look.filter != nil {
		var err error
		if c.spare, err = c.look.filter.append(c.spare[:0], c.out); err != nil {
			return err // which is told whole
		}
		c.out, c.spare = c.spare, c.out
	}
	switch {
	case c.look.yaml:
		kind = "application/yaml"
		c.spare = appendYAML(c.spare[:0], c.out)
		c.out, c.spare = c.spare, c.out
	case c.look.pretty:
		c.spare = appendPretty(c.spare[:0], c.out)
		c.out, c.spare = c.spare, c.out
	}
	if c.look.vendor != (media{}) {
		kind = c.look.vendor.contentType()
	}
	return c.deliver(status, kind)
}

// compressFrom is the size from which an answer is compressed for a client that
// takes it so: below, it costs more than it saves.
const compressFrom = 8 << 10

func (c *call) deliver(status int, kind string) error {
	c.answered = true
	header := c.w.Header()
	header.Set("Content-Type", kind)
	if len(c.out) >= compressFrom && strings.Contains(c.r.Header.Get("Accept-Encoding"), "gzip") {
		c.spare = compress(c.spare[:0], c.out)
		c.out, c.spare = c.spare, c.out
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("Content-Length", strconv.Itoa(len(c.out)))
	c.w.WriteHeader(status)
	if c.r.Method == http.MethodHead {
		return nil
	}
	_, _ = c.w.Write(c.out) // the client is gone: there is nobody to tell
	return nil
}

// sink is a byte slice to write to.
type sink struct{ bytes []byte }

func (s *sink) Write(p []byte) (int, error) {
	s.bytes = append(s.bytes, p...)
	return len(p), nil
}

func compress(dst, text []byte) []byte {
	to := sink{dst}
	writer, _ := gzip.NewWriterLevel(&to, gzip.BestSpeed) // the level is valid
	_, _ = writer.Write(text)                             // a sink takes everything
	_ = writer.Close()
	return to.bytes
}
