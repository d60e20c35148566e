package gatewaytest

import (
	"context"
	"log/slog"
	"net/http"
	"testing"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/coord/remote"
	"github.com/reshelve/reshelve/internal/gateway"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/shard"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/folder"
)

// Serve serves an engine until the test ends, and closes it then, with handlers around what answers.
// It gives the URL.
func Serve(t testing.TB, engine shard.Engine, around ...func(http.Handler) http.Handler) (url string) {
	t.Helper()
	c := control.New(control.Wiring{
		Blobs: map[string]blob.Opener{"file": folder.Open},
		Folder: func(context.Context, string, control.FolderOptions) (control.Folder, error) {
			return control.Folder{Coord: memory.New(), Engine: engine}, nil
		},
		Front: func(control.FaceOptions) *http.Server { return gateway.Options{}.HTTP() },
		Face: func(s *store.Store, _ control.FaceOptions, movements coord.Store) *http.Server {
			server := gateway.New(s, gateway.Options{}).HTTP()
			gateway.Offer(server, remote.Root, remote.NewHandler(movements))
			return server
		},
		Steer: func(server *http.Server, d *control.MovementService) {
			gateway.OfferMovements(server, d)
			for _, a := range around {
				server.Handler = a(server.Handler)
			}
		},
	})
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- c.Serve(ctx, control.ServeRequest{Data: t.TempDir(), Listen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler),
			Allow: control.Allowed{Repositories: []string{"/"}}},
			func(s control.Serving) { ready <- s.Address })
	}()
	select {
	case url = <-ready:
	case err := <-ended:
		stop()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return url
}
