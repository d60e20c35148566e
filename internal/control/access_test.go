package control_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
)

// TestTheTargetIsToldWhoWeAre, with what the environment holds, and errors show no secret.
func TestTheTargetIsToldWhoWeAre(t *testing.T) {
	var told []string
	guard := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		told = append(told, r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer guard.Close()
	for _, tc := range []struct{ name, value, header string }{
		{"API_KEY", "c2VjcmV0", "ApiKey c2VjcmV0"},
		{"BEARER", "secret", "Bearer secret"},
		{"PASSWORD", "secret", "Basic Zm9vOnNlY3JldA=="},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.name == "PASSWORD" {
				t.Setenv("RESHELVE_TARGET_USER", "foo")
			}
			t.Setenv("RESHELVE_TARGET_"+tc.name, tc.value)
			c := control.New(control.Wiring{})
			for name, verb := range map[string]func() error{
				"movement ls":  func() error { _, err := c.Movements(t.Context(), guard.URL); return err },
				"index ls":     func() error { _, err := c.ListIndices(t.Context(), guard.URL, ""); return err },
				"index delete": func() error { return c.DeleteIndex(t.Context(), guard.URL, "books") },
			} {
				told = nil
				err := verb()
				if !fault.Is(err, fault.Unauthorised) || strings.Contains(err.Error()+fault.Next(err), tc.value) {
					t.Errorf("%s: %v", name, err)
				}
				if len(told) == 0 || told[0] != tc.header {
					t.Errorf("%s: it is told %q", name, told)
				}
			}
		})
	}
	t.Setenv("RESHELVE_TARGET_INSECURE", "yes")
	if _, err := control.New(control.Wiring{}).Movements(t.Context(), guard.URL); !fault.Is(err, fault.Usage) {
		t.Errorf("%v", err)
	}
}
