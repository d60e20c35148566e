package s3_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/blobtest"
	"github.com/reshelve/reshelve/snapshot/blob/s3"
)

var openers = map[string]blob.Opener{"s3": s3.Open}

// The contract is held in the module e2e, against a real server. Here are the
// answers that such a server does not give.

func serve(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return "s3://bucket/prefix?path-style&endpoint=" + server.URL
}

func open(t *testing.T, location string) blob.Bucket {
	t.Helper()
	bucket, err := blob.Open(t.Context(), location, openers)
	if err != nil {
		t.Fatal(err)
	}
	return bucket
}

func TestEachAnswerHasItsKind(t *testing.T) {
	for _, tc := range []struct {
		status         int
		code, region   string // of the answer
		parameters     string
		want           fault.Kind
		says, proposes string
	}{
		{404, "NoSuchKey", "", "&region=r", fault.NotFound, "NoSuchKey", ""},
		{404, "NoSuchBucket", "", "&region=r", fault.NotFound, "NoSuchBucket", ""},
		{403, "AccessDenied", "", "&region=r", fault.Unauthorised, "AccessDenied", "credentials"},
		{403, "InvalidObjectState", "", "&region=r", fault.Refused, "archived", "restore"},
		{403, "RequestTimeTooSkewed", "", "&region=r", fault.Unauthorised, "RequestTimeTooSkewed", "clock"},
		{503, "SlowDown", "", "&region=r", fault.Transient, "SlowDown", ""},
		{500, "InternalError", "", "&region=r", fault.Transient, "InternalError", ""},
		{400, "AuthorizationHeaderMalformed", "eu-west-1", "&region=r", fault.Refused, "region", "region=eu-west-1"},
		{400, "AuthorizationHeaderMalformed", "eu-west-1", "", fault.Transient, "eu-west-1", ""},
		{301, "PermanentRedirect", "", "&region=r", fault.Refused, "region", "region=NAME"},
	} {
		location := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("location") {
				fmt.Fprint(w, `<LocationConstraint>us-west-2</LocationConstraint>`)
				return
			}
			w.WriteHeader(tc.status)
			fmt.Fprintf(w, `<Error><Code>%s</Code><Message>m</Message><Region>%s</Region></Error>`, tc.code, tc.region)
		})
		_, err := blobtest.Read(t.Context(), open(t, location+tc.parameters), "k", 5, 10)
		if !fault.Is(err, tc.want) || !strings.Contains(err.Error(), tc.says) || !strings.Contains(fault.Next(err), tc.proposes) {
			t.Errorf("%d %s: %v %v (%s); want %v", tc.status, tc.code, fault.KindOf(err), err, fault.Next(err), tc.want)
		}
		if text := err.Error() + fault.Next(err); !strings.Contains(text, "s3://bucket/prefix/k: ") || strings.Contains(text, "hunter2") {
			t.Errorf("%d %s: place or secret: %v", tc.status, tc.code, err)
		}
	}
}

func TestOneCallIsOneRequest(t *testing.T) {
	requests := 0
	location := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	bucket := open(t, location+"&region=r")
	if _, err := bucket.Size(t.Context(), "k"); !fault.Is(err, fault.Transient) || requests != 1 {
		t.Errorf("%v after %d requests", err, requests)
	}
}

func TestWhatTheParametersSayIsSent(t *testing.T) {
	var seen *http.Request
	location := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = r
		w.Header().Set("Last-Modified", "Sat, 21 Nov 2026 13:00:00 GMT")
		w.Header().Set("Content-Range", "bytes 5-9/10")
		w.WriteHeader(http.StatusPartialContent)
		fmt.Fprint(w, "56789")
	})
	got, err := blobtest.Read(t.Context(), open(t, location+"&region=eu-x&requester-pays"), "a b+c%", 5, 100)
	if err != nil || string(got) != "56789" {
		t.Fatalf("%q, %v", got, err)
	}
	if signed := seen.Header.Get("Authorization"); seen.URL.Path != "/bucket/prefix/a b+c%" || seen.Header.Get("Range") != "bytes=5-104" ||
		seen.Header.Get("X-Amz-Request-Payer") != "requester" || !strings.Contains(signed, "/eu-x/s3/") {
		t.Errorf("sent %s %v", seen.URL.Path, seen.Header)
	}
	if _, err := blobtest.Read(t.Context(), open(t, location+"&region=eu-x&anonymous"), "k", 5, 100); err != nil || seen.Header.Get("Authorization") != "" {
		t.Errorf("anonymous: %v, signed %q", err, seen.Header.Get("Authorization"))
	}
}

func TestAnAnswerThatIsNotTheRangeIsRefused(t *testing.T) {
	for name, header := range map[string]string{"ignores ranges": "", "another range": "bytes 0-9/100"} {
		location := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Last-Modified", "Sat, 21 Nov 2026 13:00:00 GMT")
			if header != "" {
				w.Header().Set("Content-Range", header)
			}
			fmt.Fprint(w, "0123456789")
		})
		if got, err := blobtest.Read(t.Context(), open(t, location+"&region=r"), "k", 5, 10); !fault.Is(err, fault.Refused) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestAWrongParameterIsWrongUsage(t *testing.T) {
	for _, parameters := range []string{
		"?secret=hunter2", "?anonymous=maybe", "?path-style=maybe", "?requester-pays=2", "?endpoint=ftp://host",
		"?endpoint=http://id:hunter2@host", "?endpoint=http://host/path", "?endpoint=%3A%2F%2F",
	} {
		_, err := blob.Open(t.Context(), "s3://bucket/"+parameters, openers)
		if !fault.Is(err, fault.Usage) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", parameters, err)
		}
	}
}
