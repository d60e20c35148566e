package azure_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/azure"
	"github.com/reshelve/reshelve/snapshot/blob/blobtest"
)

var openers = map[string]blob.Opener{"az": azure.Open}

// The contract is held in the module e2e, against an emulator. Here are the
// answers that it does not give.

func serve(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	forget(t)
	t.Setenv("AZURE_STORAGE_SAS_TOKEN", "sv=2020&sig=hunter2")
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return "az://bucket/prefix?endpoint=" + server.URL + "/account"
}

func forget(t *testing.T) {
	t.Helper()
	for _, name := range []string{"ACCOUNT", "KEY", "SAS_TOKEN", "CONNECTION_STRING"} {
		t.Setenv("AZURE_STORAGE_"+name, "")
	}
}

func TestEachAnswerHasItsKind(t *testing.T) {
	for _, tc := range []struct {
		status int
		code   string
		want   fault.Kind
		says   string
	}{
		{404, "BlobNotFound", fault.NotFound, "BlobNotFound"},
		{404, "ContainerNotFound", fault.NotFound, "ContainerNotFound"},
		{403, "AuthenticationFailed", fault.Unauthorised, "AuthenticationFailed"},
		{409, "PublicAccessNotPermitted", fault.Unauthorised, "PublicAccessNotPermitted"},
		{409, "BlobArchived", fault.Refused, "archived"},
		{503, "ServerBusy", fault.Transient, "ServerBusy"},
		{206, "", fault.Refused, "ranges"}, // without its Content-Range
	} {
		requests := 0
		location := serve(t, func(w http.ResponseWriter, r *http.Request) {
			requests++
			w.Header().Set("x-ms-error-code", tc.code)
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(tc.status)
			if tc.status < 300 {
				fmt.Fprint(w, "0123456789")
			}
		})
		bucket, err := blob.Open(t.Context(), location, openers)
		if err != nil {
			t.Fatal(err)
		}
		_, err = blobtest.Read(t.Context(), bucket, "k", 5, 10)
		if !fault.Is(err, tc.want) || !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), "az://bucket/prefix/k: ") || requests != 1 {
			t.Errorf("%d %s: %v %v after %d requests; want %v", tc.status, tc.code, fault.KindOf(err), err, requests, tc.want)
		}
		if after := blob.RetryAfter(err); (after == 2*time.Second) != (tc.want == fault.Transient) {
			t.Errorf("%s: retry after %v", tc.code, after)
		}
		if strings.Contains(err.Error()+fault.Next(err), "hunter2") {
			t.Errorf("%s: the error holds a secret: %v", tc.code, err)
		}
	}
}

func TestASignatureStaysOutOfNetworkErrors(t *testing.T) {
	serve(t, nil)
	bucket, err := blob.Open(t.Context(), "az://bucket/prefix?endpoint=http://127.0.0.1:1", openers)
	if err != nil {
		t.Fatal(err)
	}
	_, err = bucket.Size(t.Context(), "k")
	if !fault.Is(err, fault.Transient) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v %v", fault.KindOf(err), err)
	}
}

func TestWhatIsMissingOrMalformedIsSaid(t *testing.T) {
	for _, tc := range []struct{ location, variable, value, says string }{
		{"az://bucket/", "", "", "no storage account"},
		{"az://bucket/?endpoint=http://host/account", "AZURE_STORAGE_KEY", "aHVudGVyMg==", "no storage account"},
		{"az://bucket/?account=a", "AZURE_STORAGE_KEY", "hunter2 is no base64", "AZURE_STORAGE_KEY is malformed"},
		{"az://bucket/", "AZURE_STORAGE_CONNECTION_STRING", "hunter2", "AZURE_STORAGE_CONNECTION_STRING is malformed"},
		{"az://bucket/?endpoint=http://host?sig=hunter2", "", "", "endpoint"},
		{"az://bucket/?key=hunter2", "", "", `no parameter "key"`},
		{"az://bucket/?anonymous=hunter2", "", "", "anonymous"},
	} {
		forget(t)
		if tc.variable != "" {
			t.Setenv(tc.variable, tc.value)
		}
		_, err := blob.Open(t.Context(), tc.location, openers)
		if !fault.Is(err, fault.Usage) || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error()+fault.Next(err), "hunter2") {
			t.Errorf("%s %s: %v %v; want %q", tc.location, tc.variable, fault.KindOf(err), err, tc.says)
		}
	}
}
