// Package s3 reads a repository in Amazon S3 or a store that speaks its
// protocol, through minio-go.
//
// Invariants
//
//  1. Each call is one request: the library's own retries are switched off,
//     package blob's Retry stands above.
//  2. An answer to a ranged request must carry the range that was asked for.
//  3. Without credentials a request fails and says where they were looked for;
//     unsigned requests are sent only with anonymous=true.
package s3

import (
	"context"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
)

// Open opens an s3 location. It is a blob.Opener.
func Open(_ context.Context, location blob.Location) (blob.Bucket, error) {
	err := location.CheckOptions("region", "endpoint", "path-style", "anonymous", "requester-pays", "profile")
	if err != nil {
		return nil, err
	}
	requesterPays, err := location.Flag("requester-pays")
	if err != nil {
		return nil, err
	}
	host, options, err := clientOptions(location)
	if err != nil {
		return nil, err
	}
	client, err := minio.New(host, options)
	if err != nil {
		return nil, fault.New(fault.Usage, "%w", err)
	}
	client.SetAppInfo("reshelve", "1")
	return &bucket{minio.Core{Client: client}, location, options.Region, requesterPays}, nil
}

// clientOptions are the library's options, and the host to talk to.
func clientOptions(location blob.Location) (string, *minio.Options, error) {
	anonymous, err := location.Flag("anonymous")
	if err != nil {
		return "", nil, err
	}
	pathStyle, err := location.Flag("path-style")
	if err != nil {
		return "", nil, err
	}
	options := &minio.Options{
		Transport:  location.NewTransport(),
		Region:     location.Option("region", os.Getenv, "AWS_REGION", "AWS_DEFAULT_REGION"),
		MaxRetries: 1, // invariant 1: it counts attempts
	}
	if pathStyle {
		options.BucketLookup = minio.BucketLookupPath
	} else if location.Options.Has("path-style") {
		options.BucketLookup = minio.BucketLookupDNS
	}
	options.Creds = identity(anonymous, location.Options.Get("profile"), options.Region)
	host, secure, err := endpoint(location.Option("endpoint", os.Getenv, "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"))
	options.Secure = secure
	return host, options, err
}

// endpoint takes "https://host:port", or "host:port" for the same, apart.
func endpoint(address string) (host string, secure bool, err error) {
	if address == "" {
		return "s3.amazonaws.com", true, nil
	}
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", false, fault.WithNext(fault.New(fault.Usage, "malformed S3 endpoint"), "write it as https://HOST:PORT or http://HOST:PORT")
	}
	return u.Host, u.Scheme == "https", nil
}

type bucket struct {
	client        minio.Core
	location      blob.Location
	region        string // as configured, or ""
	requesterPays bool
}

func (b *bucket) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	place := b.location.Place(key)
	return blob.Ranged(place, key, offset, length,
		func() (int64, error) { return b.size(ctx, key) },
		func() (io.ReadCloser, error) {
			options := b.options()
			if span := blob.RangeHeader(offset, length); span != "" {
				options.Set("Range", span)
			}
			body, _, header, err := b.client.GetObject(ctx, b.location.Bucket, b.location.Key(key), options)
			if err != nil {
				return nil, b.failure(ctx, err)
			}
			if err := blob.CheckContentRange(header.Get("Content-Range"), offset, length); err != nil {
				body.Close() // given up: what Close says adds nothing
				return nil, err
			}
			return blob.Body(ctx, body, place), nil
		})
}

func (b *bucket) Size(ctx context.Context, key string) (int64, error) {
	if err := blob.CheckKey(key); err != nil {
		return 0, fault.At(err, b.location.Place(key))
	}
	size, err := b.size(ctx, key)
	return size, fault.At(err, b.location.Place(key))
}

func (b *bucket) size(ctx context.Context, key string) (int64, error) {
	info, err := b.client.StatObject(ctx, b.location.Bucket, b.location.Key(key), b.options())
	if err != nil {
		return 0, b.failure(ctx, err)
	}
	return info.Size, nil
}

func (b *bucket) options() minio.GetObjectOptions {
	var options minio.GetObjectOptions
	if b.requesterPays {
		options.Set("x-amz-request-payer", "requester")
	}
	return options
}

func (b *bucket) List(ctx context.Context, prefix string) ([]blob.Entry, error) {
	place := b.location.Place(prefix)
	if err := blob.CheckPrefix(prefix); err != nil {
		return nil, fault.At(err, place)
	}
	options := minio.ListObjectsOptions{Prefix: b.location.Key(prefix)}
	if b.requesterPays {
		options.Set("x-amz-request-payer", "requester")
	}
	var entries []blob.Entry
	for found := range b.client.ListObjectsIter(ctx, b.location.Bucket, options) {
		if found.Err != nil {
			return nil, fault.At(b.failure(ctx, found.Err), place)
		}
		// A name that ends with the delimiter stands for what is below it.
		if strings.HasSuffix(found.Key, "/") {
			continue
		}
		key := strings.TrimPrefix(found.Key, b.location.Key(""))
		entries = append(entries, blob.Entry{Key: key, Size: found.Size})
	}
	// The iterator of an ended context may just stop.
	if err := context.Cause(ctx); err != nil {
		return nil, fault.At(err, place)
	}
	return entries, nil
}

// failure gives an error of the library its kind.
func (b *bucket) failure(ctx context.Context, err error) error {
	answer := minio.ToErrorResponse(err)
	if answer.StatusCode == 0 {
		return blob.NetworkFailure(ctx, err)
	}
	switch answer.Code {
	case "AuthorizationHeaderMalformed", "InvalidRegion", "PermanentRedirect", "IllegalLocationConstraintException":
		return b.wrongRegion(answer)
	case "InvalidObjectState":
		return fault.WithNext(fault.New(fault.Refused, "the object is archived"), "restore it from its archive tier first")
	case "RequestTimeTooSkewed":
		return fault.WithNext(fault.New(fault.Unauthorised, "%s", answer.Code), "set this machine's clock")
	}
	return blob.StatusFailure(answer.StatusCode, nil, answer.Code)
}

// wrongRegion: without a configured region the library has now learned the
// right one, so that the next attempt can succeed.
func (b *bucket) wrongRegion(answer minio.ErrorResponse) error {
	if b.region == "" && answer.Region != "" {
		return fault.New(fault.Transient, "the bucket is in region %q", answer.Region)
	}
	err := fault.New(fault.Refused, "wrong region (%s)", answer.Code)
	if answer.Region != "" {
		return fault.WithNext(err, "say region=%s in the location", answer.Region)
	}
	return fault.WithNext(err, "say the bucket's region in the location, as region=NAME")
}
