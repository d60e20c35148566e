// Package web reads a repository from a web server, by ranged GET requests.
//
// Elasticsearch's own "url" repositories are served so. Such a server has no
// listing: the reader finds everything through index.latest.
//
// Invariants
//
//  1. A ranged request is believed only when its answer is 206 and its
//     Content-Range begins at the byte that was asked for.
//  2. A server that ignores ranges is read only where that costs little: a
//     whole file, or a file up to a megabyte. Otherwise it is refused, and the
//     error says so.
//  3. The Authorization header goes to the location's scheme, host and port only: a redirect
//     that leads elsewhere goes without it, and is not followed where a record or an order by
//     HTTP has named the location.
//
// Absent on purpose: scraping of directory pages (no two servers agree), and
// signed URLs in the location (their query string is a secret).
package web

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
)

// wholeAtMost is the size of a file, in bytes, up to which a range is cut out
// of the whole when the server ignores ranges.
const wholeAtMost = 1 << 20

// Open opens an http or https location. It is a blob.Opener.
func Open(_ context.Context, location blob.Location) (blob.Bucket, error) {
	if err := location.CheckOptions(); err != nil {
		return nil, err
	}
	client := location.NewClient()
	if within := client.CheckRedirect; !location.Wary { // what the operator has named may lead on
		client.CheckRedirect = func(next *http.Request, before []*http.Request) error {
			if within(next, before) != nil {
				next.Header.Del("Authorization")
			}
			if len(before) >= blob.MostRedirects {
				return http.ErrUseLastResponse
			}
			return nil
		}
	}
	return &bucket{client: client, location: location, authorization: os.Getenv("RESHELVE_HTTP_AUTHORIZATION")}, nil
}

type bucket struct {
	client        *http.Client
	location      blob.Location
	authorization string // a secret; "" for none
}

func (b *bucket) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	place := b.location.Place(key)
	return blob.Ranged(place, key, offset, length,
		func() (int64, error) { return b.size(ctx, key) },
		func() (io.ReadCloser, error) {
			response, err := b.do(ctx, http.MethodGet, key, blob.RangeHeader(offset, length))
			if err != nil {
				return nil, err
			}
			body, err := cut(response, offset, length)
			if err != nil {
				response.Body.Close() // given up: what Close says adds nothing
				return nil, err
			}
			return blob.Body(ctx, body, place), nil
		})
}

// cut makes the asked range of an answer that may hold more.
func cut(response *http.Response, offset, length int64) (io.ReadCloser, error) {
	if coding := response.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		err := fault.New(fault.Unavailable, "the server encodes its answer (%s), which was not asked for", coding)
		return nil, fault.WithNext(err, "switch compression off for this path")
	}
	body, size := response.Body, response.ContentLength
	if response.StatusCode == http.StatusPartialContent {
		if err := blob.CheckContentRange(response.Header.Get("Content-Range"), offset, length); err != nil {
			return nil, err
		}
		return limited(body, length), nil
	}
	wanted := offset == 0 && (length < 0 || (size >= 0 && size <= length))
	small := size >= 0 && size <= wholeAtMost
	if !wanted && !small {
		return nil, blob.CheckContentRange("", offset, length)
	}
	if _, err := io.CopyN(io.Discard, body, offset); err != nil && err != io.EOF {
		return nil, fault.New(fault.Transient, "%w", err)
	}
	return limited(body, length), nil
}

func limited(body io.ReadCloser, length int64) io.ReadCloser {
	if length < 0 {
		return body
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(body, length), body}
}

func (b *bucket) Size(ctx context.Context, key string) (int64, error) {
	if err := blob.CheckKey(key); err != nil {
		return 0, fault.At(err, b.location.Place(key))
	}
	size, err := b.size(ctx, key)
	return size, fault.At(err, b.location.Place(key))
}

// size asks by HEAD, and by a GET for the first byte where the server has no
// HEAD or says no length in it.
func (b *bucket) size(ctx context.Context, key string) (int64, error) {
	response, err := b.do(ctx, http.MethodHead, key, "")
	if err == nil {
		response.Body.Close() // a HEAD's body is empty
		if response.ContentLength >= 0 {
			return response.ContentLength, nil
		}
	} else if !fault.Is(err, fault.Refused) && !fault.Is(err, fault.Unavailable) {
		return 0, err
	}
	response, err = b.do(ctx, http.MethodGet, key, "bytes=0-0")
	if err == blob.ErrPastEnd {
		return 0, nil // a blob without a first byte
	}
	if err != nil {
		return 0, err
	}
	response.Body.Close() // its headers say it all
	if _, total, ok := strings.Cut(response.Header.Get("Content-Range"), "/"); ok {
		if size, err := strconv.ParseInt(total, 10, 64); err == nil && size >= 0 {
			return size, nil
		}
	}
	if response.StatusCode == http.StatusOK && response.ContentLength >= 0 {
		return response.ContentLength, nil
	}
	return 0, fault.New(fault.Refused, "the server does not say how long the file is")
}

// List is refused.
func (b *bucket) List(context.Context, string) ([]blob.Entry, error) {
	err := fault.New(fault.Refused, "a web server cannot list its files")
	return nil, fault.At(fault.WithNext(err, "read from the folder or the bucket behind it"), b.location.String())
}

func (b *bucket) do(ctx context.Context, method, key, span string) (*http.Response, error) {
	address := url.URL{Scheme: b.location.Scheme, Host: b.location.Bucket, Path: "/" + b.location.Key(key)}
	request, err := http.NewRequestWithContext(ctx, method, address.String(), nil)
	if err != nil {
		return nil, fault.New(fault.Usage, "malformed address")
	}
	if span != "" {
		request.Header.Set("Range", span)
	}
	if b.authorization != "" {
		request.Header.Set("Authorization", b.authorization)
	}
	return blob.Do(b.client, request, nil)
}
