package gateway

import (
	"net/http"
	"strings"
)

// Ender is a handler with requests that last, such as watches: End ends them.
type Ender interface {
	http.Handler
	End()
}

// Offer makes the server answer what is at root and below it by another handler,
// such as the coordination store's of package coord/remote, beside what it answers already. When the server is
// shut down the handler's lasting requests end.
//
// There is no authentication: a server that offers its records must listen on loopback only.
func Offer(server *http.Server, root string, handler Ender) {
	api := server.Handler
	server.RegisterOnShutdown(handler.End)
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rest, ok := strings.CutPrefix(r.URL.Path, root); ok && (rest == "" || rest[0] == '/') {
			handler.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}
