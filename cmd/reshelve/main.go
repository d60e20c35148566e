// Command reshelve changes the shape of a live document index; see package cli
// for its verbs. This file wires the stores that it can read from.
package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // aggregations by time zone, also on machines that have no zone files

	"github.com/reshelve/reshelve/internal/cli"
	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/local"
	"github.com/reshelve/reshelve/internal/coord/opensearch"
	"github.com/reshelve/reshelve/internal/coord/postgres"
	"github.com/reshelve/reshelve/internal/coord/remote"
	"github.com/reshelve/reshelve/internal/gateway"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/internal/store/shard/embedded"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/azure"
	"github.com/reshelve/reshelve/snapshot/blob/folder"
	"github.com/reshelve/reshelve/snapshot/blob/gcs"
	"github.com/reshelve/reshelve/snapshot/blob/s3"
	"github.com/reshelve/reshelve/snapshot/blob/web"
)

var openers = map[string]blob.Opener{
	"file": folder.Open, "s3": s3.Open, "gs": gcs.Open, "az": azure.Open, "http": web.Open, "https": web.Open,
}

var wiring = control.Wiring{Blobs: openers, Folder: openFolder, Front: front, Face: face, Steer: gateway.OfferMovements, Coordinate: coordinate,
	Records: records, Offer: offer, Remote: reached}

// records opens a coordination store that lies beside the targets.
func records(ctx context.Context, at string) (coord.Store, error) {
	if dir, ok := strings.CutPrefix(at, "local:"); ok {
		return local.Open(ctx, dir)
	}
	return postgres.Open(ctx, at, postgres.Options{})
}

// offer answers HTTP for a coordination store alone.
func offer(records coord.Store) *http.Server {
	server := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Minute}
	gateway.Offer(server, remote.Root, remote.NewHandler(records))
	return server
}

// reached opens a coordination store that another process offers.
func reached(ctx context.Context, at control.Reached) (coord.Store, error) {
	return remote.Open(ctx, remote.Options{Address: at.Address, Transport: at.Transport, Place: at.Client.String()})
}

// coordinate opens the coordination store that a cluster offers.
func coordinate(ctx context.Context, at control.Reached) (coord.Store, error) {
	server, err := at.Client.Server(ctx)
	if err != nil {
		return nil, err
	}
	if server.Product == cluster.Reshelve {
		return reached(ctx, at)
	}
	return opensearch.Open(ctx, at.Client, opensearch.Options{})
}

// openFolder opens a data folder: the embedded engine and its coordination store.
func openFolder(ctx context.Context, dir string, o control.FolderOptions) (control.Folder, error) {
	return openFolderWith(ctx, dir, embedded.Options{Memory: o.Memory, Logger: o.Logger, LeaveOut: o.LeaveOut,
		Allow: func(known map[shard.ID]shard.Remains) error { return checkRemains(ctx, dir, known) }})
}

// checkRemains compares what would be left of the documents of a folder with its records.
func checkRemains(ctx context.Context, dir string, known map[shard.ID]shard.Remains) error {
	records, err := local.Open(ctx, dir)
	if err != nil {
		return err
	}
	return errors.Join(store.CheckRemains(ctx, records, known), records.Close())
}

func openFolderWith(ctx context.Context, dir string, o embedded.Options) (control.Folder, error) {
	engine, err := embedded.Open(ctx, dir, o)
	if err != nil {
		return control.Folder{}, err
	}
	records, err := local.Open(ctx, dir)
	if err != nil {
		return control.Folder{}, errors.Join(err, engine.Close())
	}
	return control.Folder{Coord: records, Engine: engine}, nil
}

// limits of what answers HTTP.
func limits(o control.FaceOptions) gateway.Options {
	return gateway.Options{
		BodyBytes: o.BodyBytes, ItemBytes: int(o.ItemBytes), InFlightBytes: o.InFlightBytes,
		Depth: o.Depth, HeaderBytes: int(o.HeaderBytes), BodyTimeout: o.Timeout, Compat: o.Compat,
	}
}

// front serves what answers HTTP.
func front(o control.FaceOptions) *http.Server { return limits(o).HTTP() }

// face puts the HTTP API before a store.
func face(s *store.Store, o control.FaceOptions, movements coord.Store) *http.Server {
	server := gateway.New(s, limits(o)).HTTP()
	gateway.Offer(server, remote.Root, remote.NewHandler(movements))
	return server
}

func main() {
	signal.Ignore(syscall.SIGPIPE) // a write then fails, and its caller can say where it stopped
	stops := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		stops = append(stops, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), stops...)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(cli.Run(ctx, control.New(wiring), os.Args[1:], os.Stdout, os.Stderr))
}
