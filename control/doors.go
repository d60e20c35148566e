package control

import (
	"net"
	"net/http"

	"github.com/reshelve/reshelve/door"
)

// answering is a server behind its door. Whatever this program serves, it serves by one.
type answering struct{ *http.Server }

// behind puts the door before all that a server answers; what is offered later is not behind it.
func behind(d *door.Door, server *http.Server) answering {
	server.Handler = d.Around(server.Handler)
	server.DisableGeneralOptionsHandler = true // it would answer OPTIONS * before any handler
	return answering{server}
}

// behindOwn is behind for a server that only this machine's processes reach, by a file.
func behindOwn(server *http.Server) answering {
	d, _ := door.New(door.Policy{}) // nothing in it can be wrong
	return behind(d, server)
}

// on answers what comes to a listener, until it is closed.
func (a answering) on(listener net.Listener) error { return a.Serve(listener) }
