package blob_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
)

func TestARangeIsBelievedOnlyWhenItIsTheOneAskedFor(t *testing.T) {
	for _, tc := range []struct {
		value          string
		offset, length int64
		ok             bool
	}{
		{"bytes 10-19/100", 10, 10, true},
		{"bytes 10-19/*", 10, 10, true},
		{"bytes 90-99/100", 90, 50, true},
		{"bytes 90-99/100", 90, -1, true},
		{"", 0, -1, true}, // a whole blob is asked for without a range
		{"", 0, 10, false},
		{"bytes 0-9/100", 10, 10, false},
		{"bytes 10-18/100", 10, 10, false}, // shorter than both the range and the blob
		{"bytes 10-20/100", 10, 10, false},
		{"bytes 5-19/100", 10, 10, false},
		{"bytes 10-98/100", 10, -1, false},
		{"bytes 10-19/*", 10, -1, false},
		{"bytes */100", 10, 10, false},
		{"items 10-19/100", 10, 10, false},
	} {
		err := blob.CheckContentRange(tc.value, tc.offset, tc.length)
		if (err == nil) != tc.ok || (err != nil && !fault.Is(err, fault.Refused)) {
			t.Errorf("%q for [%d, +%d): %v", tc.value, tc.offset, tc.length, err)
		}
	}
}

func TestEachStatusHasItsKind(t *testing.T) {
	for status, want := range map[int]fault.Kind{
		400: fault.Refused, 401: fault.Unauthorised, 403: fault.Unauthorised, 404: fault.NotFound, 405: fault.Refused,
		408: fault.Transient, 410: fault.NotFound, 429: fault.Transient, 500: fault.Transient, 501: fault.Unavailable,
		502: fault.Transient, 503: fault.Transient, 504: fault.Transient, 301: fault.Refused,
	} {
		err := blob.StatusFailure(status, http.Header{"Retry-After": {"12"}}, "because")
		if !fault.Is(err, want) || !strings.Contains(err.Error(), fmt.Sprint(status)) || !strings.Contains(err.Error(), "because") {
			t.Errorf("%d: %v %v, want %v", status, fault.KindOf(err), err, want)
		}
		if after := blob.RetryAfter(fault.At(err, "s3://b/k")); (after == 12*time.Second) != (want == fault.Transient) {
			t.Errorf("%d: retry after %v", status, after)
		}
	}
	if err := blob.StatusFailure(416, nil, ""); !errors.Is(err, blob.ErrPastEnd) {
		t.Errorf("416: %v", err)
	}
}

func TestEachNetworkFailureHasItsKindAndNoSecret(t *testing.T) {
	inURL := func(err error) error {
		return &url.Error{Op: "Get", URL: "https://host/container/blob?sig=hunter2", Err: err}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tc := range []struct {
		name string
		ctx  context.Context
		err  error
		want fault.Kind
	}{
		{"reset", t.Context(), inURL(io.ErrUnexpectedEOF), fault.Transient},
		{"twice wrapped", t.Context(), inURL(inURL(io.ErrUnexpectedEOF)), fault.Transient},
		{"timeout", t.Context(), inURL(&net.OpError{Op: "read", Err: context.DeadlineExceeded}), fault.Transient},
		{"no such host", t.Context(), inURL(&net.DNSError{Err: "no such host", IsNotFound: true}), fault.Unavailable},
		{"certificate", t.Context(), inURL(&tls.CertificateVerificationError{Err: errors.New("expired")}), fault.Unavailable},
		{"known", t.Context(), inURL(fault.New(fault.Unauthorised, "no credentials")), fault.Unauthorised},
		{"cancelled", cancelled, inURL(io.ErrUnexpectedEOF), fault.Interrupted},
	} {
		err := blob.NetworkFailure(tc.ctx, tc.err)
		if !fault.Is(err, tc.want) {
			t.Errorf("%s: %v %v, want %v", tc.name, fault.KindOf(err), err, tc.want)
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error holds a secret: %v", tc.name, err)
		}
	}
}
