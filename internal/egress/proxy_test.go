package egress

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/reshelve/reshelve/internal/egress/egresstest"
	"github.com/reshelve/reshelve/internal/fault"
)

// TestNamesAreCheckedBeforeAProxyGetsThem: what is refused without a proxy is refused with one, which hears nothing.
func TestNamesAreCheckedBeforeAProxyGetsThem(t *testing.T) {
	var heard atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { heard.Add(1) }))
	defer proxy.Close()
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	choose := func(r *http.Request) (*url.URL, error) {
		if r.URL.Hostname() == "localhost" { // as the environment's are chosen
			return nil, nil
		}
		return at, nil
	}
	for _, tc := range []struct {
		host, leads string // leads "": nowhere
		wary        bool
		says        string // "": the proxy gets it
	}{
		{"backups.example", "192.0.2.7", true, ""},
		{"backups.example", "192.0.2.7", false, ""},
		{"backups.example", "127.0.0.1", false, ""},
		{"backups.example", "127.0.0.1", true, "this machine"},
		{"backups.example", "::1", true, "this machine"},
		{"backups.example", "169.254.169.254", true, "credentials"},
		{"backups.example", "169.254.169.254", false, "credentials"},
		{"backups.example", "fd00:ec2::254", true, "credentials"},
		{"backups.example", "0.0.0.0", true, "no host"},
		{"backups.example", "", true, "not known here"},
		{"backups.example", "", false, ""}, // the operator has named it
		{"169.254.169.254", "", true, ""},  // and means it
	} {
		resolver := &net.Resolver{PreferGo: true, Dial: egresstest.Nowhere}
		if tc.leads != "" {
			resolver = egresstest.Names(t, tc.leads)
		}
		client := http.Client{Transport: &http.Transport{Proxy: proxies(choose, resolver, tc.wary), DisableKeepAlives: true}}
		for range 2 {
			before := heard.Load()
			answer, err := client.Get("http://" + tc.host + ":9200/")
			if err == nil {
				answer.Body.Close()
			}
			reached := heard.Load() > before
			if tc.says == "" && (err != nil || !reached) || tc.says != "" && (reached || !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), tc.says) || fault.Next(err) == "") {
				t.Errorf("%s that leads to %q, wary %v: %v, the proxy is reached: %v", tc.host, tc.leads, tc.wary, err, reached)
			}
		}
	}
}
