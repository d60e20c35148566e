package gateway

import (
	"net/http"
	"strings"

	"github.com/reshelve/reshelve/coord"
	"github.com/reshelve/reshelve/coord/remote"
)

// OfferCoordination makes the server offer a coordination store below
// remote.Root, beside what it answers already; see package coord/remote. When the
// server is shut down its watches end. The store outlives the server.
//
// Whoever reaches the server may read and change every record: it must listen on loopback only.
func OfferCoordination(server *http.Server, records coord.Store) {
	handler, api := remote.NewHandler(records), server.Handler
	server.RegisterOnShutdown(handler.End)
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rest, ok := strings.CutPrefix(r.URL.Path, remote.Root); ok && (rest == "" || rest[0] == '/') {
			handler.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}
