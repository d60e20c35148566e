package proof

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Talk asks servers over HTTP. Connections are kept; a request that was written, even
// in part, is never sent a second time. Safe for concurrent use.
type Talk struct {
	client *http.Client
}

// NewTalk makes a Talk whose requests take no longer than patience.
func NewTalk(patience time.Duration) *Talk {
	return &Talk{&http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}}
}

// Answer is what a server answered.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// String is the answer for people.
func (a Answer) String() string { return fmt.Sprintf("%d %s", a.Status, a.Body) }

// Do sends a request; the body is JSON, or lines of JSON when it ends with a line's
// end. An error means that no whole answer came.
func (t *Talk) Do(ctx context.Context, method, url string, body []byte) (Answer, error) {
	contentType := ""
	switch {
	case bytes.HasSuffix(body, []byte("\n")):
		contentType = "application/x-ndjson"
	case body != nil:
		contentType = "application/json"
	}
	return t.Send(ctx, method, url, contentType, body)
}

// Send is Do with the caller's content type; none when it is empty.
func (t *Talk) Send(ctx context.Context, method, url, contentType string, body []byte) (Answer, error) {
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, method, url, content)
	if err != nil {
		return Answer{}, fmt.Errorf("proof: %w", err)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := t.client.Do(request)
	if err != nil {
		return Answer{}, fmt.Errorf("proof: %w", err)
	}
	defer response.Body.Close()
	answer := Answer{Status: response.StatusCode, Header: response.Header}
	if answer.Body, err = io.ReadAll(response.Body); err != nil {
		return Answer{}, fmt.Errorf("proof: %s %s: the answer breaks off: %w", method, url, err)
	}
	return answer, nil
}

// Close ends the connections that nobody uses.
func (t *Talk) Close() { t.client.CloseIdleConnections() }
