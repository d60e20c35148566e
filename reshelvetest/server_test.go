package reshelvetest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/reshelvetest"
)

// TestStart writes a document and finds it again, in two servers that know nothing of each other.
func TestStart(t *testing.T) {
	for _, title := range []string{"Dune", "Emma"} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			srv := reshelvetest.Start(t)
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, srv.URL+"/books/_doc/1?refresh=true", strings.NewReader(`{"title":"`+title+`"}`))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", "application/json")
			if code, body := answer(t, request); code != http.StatusCreated {
				t.Fatalf("%d %s", code, body)
			}
			request, err = http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/books/_search?q=title:"+title, nil)
			if err != nil {
				t.Fatal(err)
			}
			if code, body := answer(t, request); code != http.StatusOK || !strings.Contains(body, `"hits":{"total":{"value":1,`) {
				t.Errorf("%d %s", code, body)
			}
		})
	}
}

// answer is what a request is answered with.
func answer(t *testing.T, request *http.Request) (code int, body string) {
	t.Helper()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}
