// Package gcs reads a repository in Google Cloud Storage.
//
// It is a thin client of the JSON API (Google Cloud documentation, "Cloud
// Storage JSON API": objects get, with alt=media for the bytes, and objects
// list): three calls of plain HTTP with tokens of golang.org/x/oauth2. The
// vendor's library would triple the size of the program.
//
// Invariants
//
//  1. Bytes arrive as they are stored: a gzip-encoded object is not decompressed
//     on the way, which would make ranges meaningless.
//  2. Credentials are looked for when the first request needs them, once.
package gcs

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
)

const defaultEndpoint = "https://storage.googleapis.com"

// Open opens a gs location. It is a blob.Opener.
func Open(_ context.Context, location blob.Location) (blob.Bucket, error) {
	if err := location.CheckOptions("endpoint", "anonymous", "user-project"); err != nil {
		return nil, err
	}
	anonymous, err := location.Flag("anonymous")
	if err != nil {
		return nil, err
	}
	// An emulator takes no tokens; giving it real ones would leak them.
	emulator := os.Getenv("STORAGE_EMULATOR_HOST")
	endpoint := location.Option("endpoint", os.Getenv, "STORAGE_EMULATOR_HOST")
	if endpoint == "" {
		endpoint = defaultEndpoint
	} else if !strings.Contains(endpoint, "://") {
		endpoint = "http://" + endpoint
	}
	b := &bucket{
		location: location,
		objects:  strings.TrimSuffix(endpoint, "/") + "/storage/v1/b/" + url.PathEscape(location.Bucket) + "/o",
		project:  location.Options.Get("user-project"),
	}
	if anonymous || (emulator != "" && !location.Options.Has("endpoint")) {
		client := location.NewClient()
		b.client = func() (*http.Client, error) { return client, nil }
	} else {
		b.client = lazyClient(location)
	}
	return b, nil
}

type bucket struct {
	location blob.Location
	objects  string                       // URL of the bucket's objects
	project  string                       // billed for requester-pays buckets, or ""
	client   func() (*http.Client, error) // the same one each time
}

func (b *bucket) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	place := b.location.Place(key)
	return blob.Ranged(place, key, offset, length,
		func() (int64, error) { return b.size(ctx, key) },
		func() (io.ReadCloser, error) {
			response, err := b.do(ctx, b.object(key), url.Values{"alt": {"media"}}, blob.RangeHeader(offset, length))
			if err != nil {
				return nil, err
			}
			if err := blob.CheckContentRange(response.Header.Get("Content-Range"), offset, length); err != nil {
				response.Body.Close() // given up: what Close says adds nothing
				return nil, err
			}
			return blob.Body(ctx, response.Body, place), nil
		})
}

func (b *bucket) Size(ctx context.Context, key string) (int64, error) {
	if err := blob.CheckKey(key); err != nil {
		return 0, fault.At(err, b.location.Place(key))
	}
	size, err := b.size(ctx, key)
	return size, fault.At(err, b.location.Place(key))
}

// object is the part of the API's object resource that is used.
type object struct {
	Name string `json:"name"`
	Size string `json:"size"` // a decimal number: JSON's would lose precision
}

func (o object) bytes() (int64, error) {
	size, err := strconv.ParseInt(o.Size, 10, 64)
	if err != nil || size < 0 {
		return 0, fault.New(fault.Refused, "the store says that %q is %q bytes long", o.Name, o.Size)
	}
	return size, nil
}

func (b *bucket) size(ctx context.Context, key string) (int64, error) {
	var found object
	if err := b.get(ctx, b.object(key), url.Values{"fields": {"name,size"}}, &found); err != nil {
		return 0, err
	}
	return found.bytes()
}

func (b *bucket) List(ctx context.Context, prefix string) ([]blob.Entry, error) {
	if err := blob.CheckPrefix(prefix); err != nil {
		return nil, fault.At(err, b.location.Place(prefix))
	}
	query := url.Values{
		"prefix": {b.location.Key(prefix)}, "delimiter": {"/"}, "maxResults": {"1000"},
		"fields": {"items(name,size),nextPageToken"},
	}
	var entries []blob.Entry
	for {
		var page struct {
			Items         []object `json:"items"`
			NextPageToken string   `json:"nextPageToken"`
		}
		if err := b.get(ctx, b.objects, query, &page); err != nil {
			return nil, fault.At(err, b.location.Place(prefix))
		}
		for _, found := range page.Items {
			size, err := found.bytes()
			if err != nil {
				return nil, fault.At(err, b.location.Place(prefix))
			}
			key := strings.TrimPrefix(found.Name, b.location.Key(""))
			entries = append(entries, blob.Entry{Key: key, Size: size})
		}
		if page.NextPageToken == "" {
			return entries, nil
		}
		query.Set("pageToken", page.NextPageToken)
	}
}

func (b *bucket) object(key string) string {
	return b.objects + "/" + url.PathEscape(b.location.Key(key))
}

// get reads a JSON answer.
func (b *bucket) get(ctx context.Context, address string, query url.Values, into any) error {
	response, err := b.do(ctx, address, query, "")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		return blob.NetworkFailure(ctx, err)
	}
	return nil
}

func (b *bucket) do(ctx context.Context, address string, query url.Values, span string) (*http.Response, error) {
	client, err := b.client()
	if err != nil {
		return nil, err
	}
	if b.project != "" {
		query.Set("userProject", b.project)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"?"+query.Encode(), nil)
	if err != nil {
		return nil, fault.New(fault.Usage, "malformed endpoint")
	}
	if query.Get("alt") == "media" {
		request.Header.Set("Accept-Encoding", "gzip") // invariant 1
	}
	if span != "" {
		request.Header.Set("Range", span)
	}
	response, err := blob.Do(client, request, explain)
	return response, tokenFailure(err)
}

// explain finds the message in the API's error answer, which is JSON, or for
// media requests a line of text.
func explain(body []byte) string {
	var answer struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &answer) == nil {
		return answer.Error.Message
	}
	if line := strings.TrimSpace(string(body)); len(line) < 200 && !strings.HasPrefix(line, "<") {
		return line
	}
	return ""
}
