package control

import (
	"net"
	"net/http"

	"github.com/reshelve/reshelve/internal/door"
)

// guarded is a server behind a door. This program serves nothing without one.
type guarded struct{ *http.Server }

// guard puts a door before the handler that a server has now. A handler that it gets later is not behind it.
func guard(d *door.Door, server *http.Server) guarded {
	server.Handler = d.Wrap(server.Handler)
	server.DisableGeneralOptionsHandler = true // it would answer OPTIONS * before any handler
	return guarded{server}
}

// guardLocal is guard for a server that only processes of this machine can reach, through a socket in a folder.
func guardLocal(server *http.Server) guarded {
	d, _ := door.New(door.Policy{}) // an empty policy is never malformed
	return guard(d, server)
}

// serve answers the connections of a listener, until it is closed.
func (g guarded) serve(listener net.Listener) error { return g.Serve(listener) }
