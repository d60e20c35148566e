package servers

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

var client = &http.Client{Timeout: 2 * time.Minute}

// Do sends a request with a JSON body (a bulk body when the path says so) and returns the status and the whole answer,
// which is JSON. An error means that no answer came; a status of 400 or more is not an error.
func (s *Server) Do(method, path string, body []byte) (status int, answer []byte, err error) {
	return s.Send(method, path, s.contentType(path), body)
}

// Send is Do with a content type of the caller's; the answer is JSON all the same.
func (s *Server) Send(method, path, contentType string, body []byte) (status int, answer []byte, err error) {
	request, err := http.NewRequest(method, s.URL+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, fmt.Errorf("servers: %s: %w", s.Version, err)
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	if err != nil {
		return 0, nil, fmt.Errorf("servers: %s: answer to %s %s: %w", s.Version, method, path, err)
	}
	return response.StatusCode, answer, nil
}

// contentType is what a body at that path must be called; before 5.6 bulk bodies had no name of their own.
func (s *Server) contentType(path string) string {
	path, _, _ = strings.Cut(path, "?")
	if strings.HasSuffix(path, "_bulk") && !s.Version.Before(5) {
		return "application/x-ndjson"
	}
	return "application/json"
}
