// Package azure reads a repository in Azure Blob Storage, through the vendor's
// azblob and azidentity.
//
// Invariants
//
//  1. Each call is one request: the library's own retries are switched off,
//     package blob's Retry stands above.
//  2. An answer to a ranged request must carry the range that was asked for.
//  3. The library's error texts are not shown: they hold the request's URL,
//     which a shared access signature makes a secret. The error code is.
package azure

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/reshelve/reshelve/internal/fault"
	contract "github.com/reshelve/reshelve/snapshot/blob"
)

// Open opens an az location. It is a blob.Opener.
func Open(_ context.Context, location contract.Location) (contract.Bucket, error) {
	if err := location.CheckOptions("account", "endpoint", "anonymous"); err != nil {
		return nil, err
	}
	options := &container.ClientOptions{ClientOptions: azcore.ClientOptions{
		Transport: location.NewClient(),
		Retry:     policy.RetryOptions{MaxRetries: -1}, // invariant 1
		Telemetry: policy.TelemetryOptions{ApplicationID: "reshelve"},
	}}
	client, err := connect(location, options)
	if err != nil {
		return nil, fault.At(err, location.String())
	}
	return &bucket{client, location}, nil
}

type bucket struct {
	client   *container.Client
	location contract.Location
}

func (b *bucket) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	place := b.location.Place(key)
	return contract.Ranged(place, key, offset, length,
		func() (int64, error) { return b.size(ctx, key) },
		func() (io.ReadCloser, error) {
			// A count of 0 is the library's way to say "to the end".
			span := blob.HTTPRange{Offset: offset, Count: max(length, 0)}
			answer, err := b.blob(key).DownloadStream(ctx, &blob.DownloadStreamOptions{Range: span})
			if err != nil {
				return nil, failure(ctx, err)
			}
			sent := ""
			if answer.ContentRange != nil {
				sent = *answer.ContentRange
			}
			if err := contract.CheckContentRange(sent, offset, length); err != nil {
				answer.Body.Close() // given up: what Close says adds nothing
				return nil, err
			}
			return contract.Body(ctx, answer.Body, place), nil
		})
}

func (b *bucket) Size(ctx context.Context, key string) (int64, error) {
	if err := contract.CheckKey(key); err != nil {
		return 0, fault.At(err, b.location.Place(key))
	}
	size, err := b.size(ctx, key)
	return size, fault.At(err, b.location.Place(key))
}

func (b *bucket) size(ctx context.Context, key string) (int64, error) {
	properties, err := b.blob(key).GetProperties(ctx, nil)
	if err != nil {
		return 0, failure(ctx, err)
	}
	if properties.ContentLength == nil {
		return 0, fault.New(fault.Refused, "the store does not say how long the blob is")
	}
	return *properties.ContentLength, nil
}

func (b *bucket) blob(key string) *blob.Client {
	return b.client.NewBlobClient(b.location.Key(key))
}

func (b *bucket) List(ctx context.Context, prefix string) ([]contract.Entry, error) {
	place := b.location.Place(prefix)
	if err := contract.CheckPrefix(prefix); err != nil {
		return nil, fault.At(err, place)
	}
	pages := b.client.NewListBlobsHierarchyPager("/", &container.ListBlobsHierarchyOptions{
		Prefix: to.Ptr(b.location.Key(prefix)), MaxResults: to.Ptr[int32](1000),
	})
	var entries []contract.Entry
	for pages.More() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fault.At(failure(ctx, err), place)
		}
		for _, found := range page.Segment.BlobItems {
			if found.Name == nil || found.Properties == nil || found.Properties.ContentLength == nil {
				return nil, fault.At(fault.New(fault.Refused, "the store lists a blob without a name or length"), place)
			}
			key := strings.TrimPrefix(*found.Name, b.location.Key(""))
			entries = append(entries, contract.Entry{Key: key, Size: *found.Properties.ContentLength})
		}
	}
	return entries, nil
}

// failure gives an error of the library its kind.
func failure(ctx context.Context, err error) error {
	var answer *azcore.ResponseError
	if errors.As(err, &answer) {
		switch answer.ErrorCode {
		case "BlobArchived":
			return fault.WithNext(fault.New(fault.Refused, "the blob is archived"), "rehydrate it from its archive tier first")
		case "PublicAccessNotPermitted":
			return fault.WithNext(fault.New(fault.Unauthorised, "%s", answer.ErrorCode), "give credentials instead of anonymous=true")
		}
		var header http.Header
		if answer.RawResponse != nil {
			header = answer.RawResponse.Header
		}
		return contract.StatusFailure(answer.StatusCode, header, answer.ErrorCode)
	}
	// What azcore knows to be hopeless are credentials that it cannot get or use.
	var hopeless interface{ NonRetriable() }
	if errors.As(err, &hopeless) && ctx.Err() == nil {
		err := fault.New(fault.Unauthorised, "no usable Azure credentials: %w", err)
		return fault.WithNext(err, "set AZURE_STORAGE_CONNECTION_STRING, AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, run `az login`, or add ?anonymous=true for a public container")
	}
	return contract.NetworkFailure(ctx, err)
}
