package gateway

import (
	"net/http"
	"time"

	"github.com/reshelve/reshelve/internal/control"
)

// Options are the limits of a server. The zero value of a field is its default.
type Options struct {
	Name    string         // of the node; "reshelve"
	Cluster string         // name of the cluster; "reshelve"
	Version string         // of this program, in the answer to GET /; "dev"
	Compat  control.Compat // whose clients are accepted; those of OpenSearch

	BodyBytes     int64 // of one request, as sent and after decompression; 100 MiB
	ItemBytes     int   // of one source in a bulk request; BodyBytes
	InFlightBytes int64 // of bodies and answers of all requests at work, and a quarter more for small ones; 512 MiB
	Depth         int   // of nested objects and arrays in bodies; 1000, which it cannot exceed
	HeaderBytes   int   // 64 KiB

	HeaderTimeout time.Duration // to read the headers of a request; 30 s
	BodyTimeout   time.Duration // to read a request; 5 min
	IdleTimeout   time.Duration // of a connection between requests; 10 min
}

// deepest is the depth that every parser of JSON here takes at most.
const deepest = 1000

func orDefault[T comparable](value *T, byDefault T) {
	var zero T
	if *value == zero {
		*value = byDefault
	}
}

func (o Options) withDefaults() Options {
	orDefault(&o.Name, "reshelve")
	orDefault(&o.Cluster, "reshelve")
	orDefault(&o.Version, "dev")
	orDefault(&o.Compat, control.CompatOpenSearch)
	orDefault(&o.BodyBytes, 100<<20)
	orDefault(&o.ItemBytes, int(o.BodyBytes))
	orDefault(&o.InFlightBytes, 512<<20)
	orDefault(&o.Depth, deepest)
	orDefault(&o.HeaderBytes, 64<<10)
	orDefault(&o.HeaderTimeout, 30*time.Second)
	orDefault(&o.BodyTimeout, 5*time.Minute)
	orDefault(&o.IdleTimeout, 10*time.Minute)
	return o
}

// HTTP is a server of package net/http with these limits and no handler. The caller serves and shuts it down.
func (o Options) HTTP() *http.Server {
	o = o.withDefaults()
	return &http.Server{
		MaxHeaderBytes:    o.HeaderBytes,
		ReadHeaderTimeout: o.HeaderTimeout,
		ReadTimeout:       o.BodyTimeout,
		WriteTimeout:      2 * o.BodyTimeout, // from the headers to the answer's last byte
		IdleTimeout:       o.IdleTimeout,
	}
}

// HTTP is a server of package net/http with this handler and its limits. The
// caller serves and shuts it down.
func (s *Server) HTTP() *http.Server {
	server := s.options.HTTP()
	server.Handler = s
	return server
}
