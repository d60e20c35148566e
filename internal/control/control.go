package control

import (
	"context"
	"log/slog"
	"net/http"
	"os"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/snapshot/blob"
)

// Wiring are the adapters that a program brings. What a program does not use may
// be nil.
type Wiring struct {
	// Blobs are the stores of repositories, by the scheme of a location; see package blob.
	Blobs map[string]blob.Opener
	// Folder opens the data folder of a store; see [Folder].
	Folder func(ctx context.Context, dir string, o FolderOptions) (Folder, error)
	// Coordinate opens the coordination store that a cluster offers.
	Coordinate func(ctx context.Context, at Reached) (coord.Store, error)
	// Records opens a coordination store that lies beside all targets: "local:DIR" or a URL of
	// PostgreSQL. Offer answers HTTP for one, and Remote opens one that is offered so.
	Records func(ctx context.Context, at string) (coord.Store, error)
	Offer   func(coord.Store) *http.Server
	Remote  func(ctx context.Context, at Reached) (coord.Store, error)
	// Front is a server of HTTP with the limits of a face, and without a handler.
	Front func(o FaceOptions) *http.Server
	// Face answers HTTP for a store, and offers the records of its movements.
	Face func(s *store.Store, o FaceOptions, movements coord.Store) *http.Server
	// Steer lets a server take orders for movements too; nil: none does.
	Steer func(server *http.Server, d *MovementService)
}

// Reached is a cluster, and how it was reached.
type Reached struct {
	Client    *cluster.Client
	Address   string
	Transport http.RoundTripper // whatever the address; nil: TCP
}

// Folder is an open data folder.
type Folder struct {
	Coord  coord.Store
	Engine shard.Engine
}

// FolderOptions of opening a folder.
type FolderOptions struct {
	Memory int64 // bytes that the engine may use for caches and recent writes
	Logger *slog.Logger
	// LeaveOut is the damaged end of a log, NAME:OFFSET, that is given up.
	LeaveOut string

	maxSource int64 // bytes of a document; 0: any number
}

// Control answers requests. It is safe for concurrent use and needs no Close.
type Control struct {
	wiring  Wiring
	permits *permits // nil: it does what the operator asks for; see [Control.bound]
	contact contact  // with what has never answered
}

// New makes a Control.
func New(w Wiring) *Control { return &Control{wiring: w} }

// repository opens the repository at location.
func (c *Control) repository(ctx context.Context, location string) (*snapshot.Repository, error) {
	parsed, err := c.located(location)
	if err != nil {
		return nil, err
	}
	bucket, err := blob.OpenLocation(ctx, parsed, c.wiring.Blobs)
	if err != nil {
		return nil, err
	}
	stacked, _ := blob.Stack(bucket, blob.StackPolicy{Retry: blob.RetryPolicy{Contact: c.contact.bucket()}})
	repo, err := snapshot.Open(ctx, stacked)
	if fault.Is(err, fault.NotFound) {
		err = fault.At(err, location)
	}
	return repo, err
}

// located reads the location of a repository, and refuses one that the operator has not allowed.
func (c *Control) located(location string) (blob.Location, error) {
	parsed, err := blob.ParseLocation(location)
	if err == nil {
		err = c.permits.repository(location, &parsed)
	}
	if err == nil && isHostPort(location) {
		if _, missing := os.Stat(location); os.IsNotExist(missing) {
			err = fault.New(fault.Usage, "%q is neither a repository's URL nor a folder", location)
			err = fault.WithNext(err, "to migrate from a cluster: reshelve migrate --from-cluster http://%s; a repository is s3://…, gs://…, az://…, http://%s/PATH or a folder", location, location)
		}
	}
	if err == nil {
		err = parsed.CheckScheme(c.wiring.Blobs)
	}
	return parsed, err
}

// find opens the repository and finds the snapshot by name or UUID; the newest
// successful one when name is empty.
func (c *Control) find(ctx context.Context, location, name string) (*snapshot.Snapshot, error) {
	repo, err := c.repository(ctx, location)
	if err != nil {
		return nil, err
	}
	return repo.Find(ctx, name)
}
