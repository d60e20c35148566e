package peers

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// Conn is one kept connection to a peer. It is used by one goroutine at a time.
type Conn struct {
	net.Conn
	in   *bufio.Reader
	body []byte
}

// Dial connects to a peer.
func Dial(url string) (*Conn, error) {
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		return nil, err
	}
	return &Conn{Conn: c, in: bufio.NewReaderSize(c, 64<<10)}, nil
}

// Request is a whole request, ready to be written.
func Request(method, path, contentType string, body []byte) []byte {
	head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n", method, path, len(body))
	if contentType != "" {
		head += "Content-Type: " + contentType + "\r\n"
	}
	return append([]byte(head+"\r\n"), body...)
}

var colon, contentLength = []byte(":"), []byte("Content-Length")

// Do writes a request and reads the answer, which is valid until the next call.
func (c *Conn) Do(request []byte) (status int, body []byte, err error) {
	if _, err := c.Write(request); err != nil {
		return 0, nil, err
	}
	line, err := c.in.ReadSlice('\n')
	if err != nil || len(line) < 12 {
		return 0, nil, fmt.Errorf("status line %q: %w", line, err)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, nil, err
	}
	length := -1
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, nil, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, colon)
		if bytes.EqualFold(name, contentLength) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, nil, err
			}
		}
	}
	if length < 0 {
		return 0, nil, fmt.Errorf("an answer without a length")
	}
	if cap(c.body) < length {
		c.body = make([]byte, length)
	}
	c.body = c.body[:length]
	_, err = io.ReadFull(c.in, c.body)
	return status, c.body, err
}

// Must is Do for requests that have to succeed, in JSON.
func (c *Conn) Must(method, path, body string) error {
	status, answer, err := c.Do(Request(method, path, "application/json", []byte(body)))
	if err == nil && status >= 300 {
		err = fmt.Errorf("%s %s: %d %s", method, path, status, answer)
	}
	return err
}
