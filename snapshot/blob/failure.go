package blob

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

// ErrPastEnd is what an adapter's ranged GET returns, wrapped or not, when the
// store says that the range begins past the blob's end (HTTP 416).
var ErrPastEnd = errors.New("range begins past the end of the blob")

// StatusFailure is the error of an HTTP answer that is not a success. detail
// is what the store says about it, without secrets, or "". Retry-After is kept
// for [RetryAfter].
func StatusFailure(status int, header http.Header, detail string) error {
	if status == http.StatusRequestedRangeNotSatisfiable {
		return ErrPastEnd
	}
	text := "HTTP status " + strconv.Itoa(status)
	if name := http.StatusText(status); name != "" {
		text += " " + name
	}
	if detail = strings.TrimSpace(detail); detail != "" {
		text += ": " + detail
	}
	err := fault.New(statusKind(status), "%s", text)
	switch statusKind(status) {
	case fault.Unauthorised:
		return fault.WithNext(err, "check the credentials and that they may read and list the repository")
	case fault.Transient:
		return &delayed{err, parseRetryAfter(header.Get("Retry-After"))}
	}
	return err
}

func statusKind(status int) fault.Kind {
	switch status {
	case http.StatusNotFound, http.StatusGone:
		return fault.NotFound
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return fault.Unauthorised
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fault.Transient
	}
	if status >= 500 {
		return fault.Unavailable
	}
	return fault.Refused
}

// NetworkFailure is the error of a request that got no answer, or of a body
// that broke off. The end of ctx keeps its own kind. What may pass is
// Transient; a name that does not resolve or a certificate that does not
// verify is Unavailable. URLs, which may hold signatures, are taken out.
func NetworkFailure(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var known *fault.Error
	if errors.As(err, &known) {
		return known
	}
	var inURL *url.Error
	for errors.As(err, &inURL) {
		err = inURL.Err
	}
	var name *net.DNSError
	if errors.As(err, &name) && name.IsNotFound {
		return fault.WithNext(fault.New(fault.Unavailable, "%w", err), "check the host name, region or endpoint")
	}
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return fault.WithNext(fault.New(fault.Unavailable, "%w", err), "check the endpoint; if its certificate is to be trusted, set SSL_CERT_FILE to the file of the authority that signed it (PEM), or SSL_CERT_DIR to a folder of such files; "+
			"on macOS and Windows add that to the system's store")
	}
	return fault.New(fault.Transient, "%w", err)
}

// Body gives the errors of a response body their kind and place. It keeps
// io.EOF as it is.
func Body(ctx context.Context, body io.ReadCloser, place string) io.ReadCloser {
	return &classifiedBody{body, ctx, place}
}

type classifiedBody struct {
	io.ReadCloser
	ctx   context.Context // of the request whose body this is
	place string
}

func (b *classifiedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = fault.At(NetworkFailure(b.ctx, err), b.place)
	}
	return n, err
}

// delayed is an error with the time after which the store wants to be asked
// again; 0 when it did not say.
type delayed struct {
	error
	after time.Duration
}

func (d *delayed) Unwrap() error { return d.error }

// RetryAfter is how long the store asked to wait before the next attempt, or 0.
func RetryAfter(err error) time.Duration {
	var d *delayed
	if errors.As(err, &d) {
		return d.after
	}
	return 0
}

// parseRetryAfter reads the header's seconds form (RFC 9110 §10.2.3). The date
// form depends on the clocks of both sides and is not used by object stores.
func parseRetryAfter(value string) time.Duration {
	seconds, err := strconv.ParseUint(value, 10, 20)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
