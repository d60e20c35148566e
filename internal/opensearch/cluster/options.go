package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/egress"
	"github.com/reshelve/reshelve/internal/fault"
)

// Options say how a cluster is reached. The zero value of a field is its default.
type Options struct {
	URL         string // https://HOST:PORT with an optional path; a user in it becomes Credentials' own
	Credentials Credentials
	// CredentialsFrom are the variables or flags that Credentials are read from, for advice; "": the options of a program.
	CredentialsFrom string
	TLS             TLS

	// Transport is how the cluster is reached, whatever the address: within the
	// process, or through a fault injector. TLS does not count then.
	Transport http.RoundTripper
	Place     string // what errors name; "": the URL without credentials

	// Wary says that somebody else than the operator has named the URL: a name in it that leads to
	// this machine is refused when it is dialled.
	Wary bool

	UserAgent string
	Compress  bool          // gzip in both directions: less network for more processor
	Timeout   time.Duration // of one request, 2 minutes
	Soon      time.Duration // how long Open tries an address whose port is refused or whose host is not known; 0: as Patience says
	Silence   time.Duration // how long Open waits for the first answer; 0: as Timeout and Patience say
	Patience  time.Duration // how long a request that fails in passing is tried again: 1 minute; negative: never
}

// Credentials are who we say we are: at most one kind. They are never printed.
type Credentials struct {
	User, Password string // basic
	APIKey         string // as the cluster gave it out, encoded
	Bearer         string
	AWS            *AWS // a request signature
}

// String hides what is secret; so do the other ways of printing.
func (c Credentials) String() string {
	switch {
	case c.User != "":
		return "user " + c.User + " with a password"
	case c.APIKey != "":
		return "an API key"
	case c.Bearer != "":
		return "a bearer token"
	case c.AWS != nil:
		return "AWS signatures for " + c.AWS.Region
	}
	return "no credentials"
}

// GoString is String, for %#v.
func (c Credentials) GoString() string { return c.String() }

// LogValue is String, for package slog.
func (c Credentials) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalJSON is String: records hold no credentials.
func (c Credentials) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "%q", c.String()), nil }

// check refuses two kinds at once: which one counted would be a guess.
func (c Credentials) check() error {
	kinds := 0
	for _, given := range []bool{c.User != "" || c.Password != "", c.APIKey != "", c.Bearer != "", c.AWS != nil} {
		if given {
			kinds++
		}
	}
	if kinds > 1 {
		return fault.New(fault.Usage, "several kinds of credentials: give a user, an API key, a bearer token or AWS signatures")
	}
	return nil
}

// TLS says whom we trust and who we are to the other side.
type TLS struct {
	CA       string // file of PEM certificates that are trusted instead of the system's
	Cert     string // file of our own certificate, with Key
	Key      string
	CAFrom   string // the variable or flag that names CA, for advice; "": the option of a program
	Insecure bool   // any certificate is taken: whoever answers reads all documents and credentials
}

// config reads the files.
func (t TLS) config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: t.Insecure} //nolint:gosec // only when the user says so
	if t.CA != "" {
		text, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fault.At(fault.Wrap(fault.Usage, err), "the trusted certificates")
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fault.At(fault.New(fault.Usage, "holds no PEM certificate"), t.CA)
		}
	}
	if t.Cert != "" || t.Key != "" {
		own, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fault.At(fault.Wrap(fault.Usage, err), "the client certificate")
		}
		config.Certificates = []tls.Certificate{own}
	}
	return config, nil
}

// address takes a user out of a URL, which then may be shown.
func (o *Options) address() (*url.URL, error) {
	u, err := url.Parse(strings.TrimSuffix(o.URL, "/"))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		shown := o.URL
		if u != nil {
			shown = u.Redacted()
		} else if i := strings.LastIndexByte(shown, '@'); i >= 0 {
			shown = "…" + shown[i:]
		}
		err := fault.New(fault.Usage, "%q is no address of a store", shown)
		return nil, fault.WithNext(err, "write http://HOST:PORT, or the path of a data folder")
	}
	if u.User != nil {
		if o.Credentials != (Credentials{}) {
			return nil, fault.New(fault.Usage, "the address %s has a user, and there are other credentials", u.Redacted())
		}
		o.Credentials.User = u.User.Username()
		o.Credentials.Password, _ = u.User.Password()
		u.User = nil
	}
	u.RawQuery, u.Fragment = "", ""
	if strings.Contains(u.Path, "/_") { // an index or an API of the server: no proxy has such paths
		err := fault.New(fault.Usage, "%q is the address of something in a store, and not of the store", u.Redacted())
		return nil, fault.WithNext(err, "write %s", bare(u))
	}
	return u, nil
}

// bare is an address without its path, which few servers have: those behind a proxy.
func bare(u *url.URL) string { return u.Scheme + "://" + u.Host }

// transport is the house's own: enough idle connections for a writer's requests.
func (o *Options) transport() (http.RoundTripper, error) {
	if o.Transport != nil {
		return o.Transport, nil
	}
	config, err := o.TLS.config()
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy: egress.Proxy(dialer, o.Wary), DialContext: egress.Dial(dialer, o.Wary), TLSClientConfig: config, TLSHandshakeTimeout: 15 * time.Second,
		MaxIdleConnsPerHost: 64, IdleConnTimeout: 50 * time.Second, // shorter than the 60 s of common load balancers
		DisableCompression: !o.Compress, WriteBufferSize: 64 << 10, ReadBufferSize: 64 << 10,
	}, nil
}
