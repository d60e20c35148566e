package gcs

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
)

// readOnly is the narrowest scope that reads and lists objects.
const readOnly = "https://www.googleapis.com/auth/devstorage.read_only"

// lazyClient looks for the application default credentials at its first call.
// The tokens are fetched when requests need them, renewed in time, and not
// bound to one request's context: the next request wants them too.
func lazyClient(location blob.Location) func() (*http.Client, error) {
	return sync.OnceValues(func() (*http.Client, error) {
		client := location.NewClient()
		ctx := context.WithValue(context.Background(), oauth2.HTTPClient, &http.Client{Transport: blob.NewTransport()})
		credentials, err := google.FindDefaultCredentials(ctx, readOnly)
		if err != nil {
			err := fault.New(fault.Unauthorised, "no usable Google credentials: %w", err)
			return nil, fault.WithNext(err, "set GOOGLE_APPLICATION_CREDENTIALS, run `gcloud auth application-default login`, or add ?anonymous=true for a public bucket")
		}
		client.Transport = &oauth2.Transport{Source: credentials.TokenSource, Base: client.Transport}
		return client, nil
	})
}

// tokenFailure tells a token that the identity service refused from a request
// that the store did not answer.
func tokenFailure(err error) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) || fault.Is(err, fault.Interrupted) {
		return err
	}
	var answer struct {
		Error string `json:"error"` // a code such as invalid_grant, RFC 6749 §5.2
	}
	// Without one the status has to do; the rest of the body may hold anything.
	if json.Unmarshal(refused.Body, &answer) != nil || answer.Error == "" {
		answer.Error = http.StatusText(refused.Response.StatusCode)
	}
	err = fault.New(fault.Unauthorised, "the identity service gave no token: %s", answer.Error)
	return fault.WithNext(err, "renew the Google credentials")
}
