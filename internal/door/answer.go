package door

import (
	"encoding/json"
	"net/http"
	"strings"
)

// exposed are the headers of answers that a page of an allowed origin may read besides the usual ones.
const exposed = "Location, Warning, X-Opaque-Id, Reshelve-Revision, Retry-After"

func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

// answerPreflight allows a page of an allowed origin the method and the headers that it asks for.
func answerPreflight(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Add("Vary", "Access-Control-Request-Method, Access-Control-Request-Headers")
	header.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, DELETE")
	if asked := r.Header.Values("Access-Control-Request-Headers"); len(asked) > 0 {
		header.Set("Access-Control-Allow-Headers", strings.Join(asked, ", "))
	}
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		header.Set("Access-Control-Allow-Private-Network", "true")
	}
	header.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}

func (d *Door) refuseHost(w http.ResponseWriter, r *http.Request) {
	next := "use localhost or an address of loopback"
	if d.hostFlag != "" {
		next += ", or allow the name: " + d.hostFlag + " " + shellSafe(withoutPort(r.Host))
	}
	refuse(w, r, http.StatusMisdirectedRequest, "host_not_allowed_exception", "the request is for the host ["+r.Host+"], which is not a name of this server", next)
}

func (d *Door) refuseOrigin(w http.ResponseWriter, r *http.Request, origin string) {
	page, next := "a page of another origin", "enter the address in the browser, or send the request with another program"
	if origin != "" {
		page = "a page of the origin [" + origin + "]"
	}
	switch {
	case origin == "" || d.originFlag == "":
	case origin == "null":
		next = "serve the page from an address, and allow that with " + d.originFlag + "; null can be the origin of any page"
	default:
		next = "allow its origin: " + d.originFlag + " " + shellSafe(origin)
	}
	refuse(w, r, http.StatusForbidden, "origin_not_allowed_exception", page+" sent the request, which is not allowed", next)
}

// cause is an error in the form of the data API.
type cause struct {
	Type   string `json:"type"`
	Reason string `json:"reason"`
}

// refusal is both an error of the data API and a problem of RFC 9457: it is written before anything knows
// which of the two APIs the request is for.
type refusal struct {
	Error struct {
		RootCause []cause `json:"root_cause"`
		cause
	} `json:"error"`
	Status int    `json:"status"`
	Kind   string `json:"kind"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Next   string `json:"next"`
}

// refuse answers in place of the handler. The body of the request is not read.
func refuse(w http.ResponseWriter, r *http.Request, status int, kind, reason, next string) {
	told := cause{kind, reason + "; " + next}
	answer := refusal{Status: status, Kind: "usage", Title: http.StatusText(status), Detail: reason, Next: next}
	answer.Error.RootCause, answer.Error.cause = []cause{told}, told
	body, _ := json.Marshal(answer) // texts cannot fail
	header := w.Header()
	header.Set("Content-Type", "application/json; charset=UTF-8")
	if strings.HasPrefix(r.URL.Path, "/_reshelve/") {
		header.Set("Content-Type", "application/problem+json")
	}
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Connection", "close")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
}

// shellSafe is a text of a request for a command to paste: without the characters that mean something to a
// shell.
func shellSafe(text string) string {
	safe := func(c rune) rune {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune(".-_:/[]", c) {
			return c
		}
		return -1
	}
	return strings.Map(safe, text)
}
