package gateway

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/reshelve/reshelve/internal/control"
)

type upkeep struct{ Body *control.Upkeep }

// indexNamed is a request that names an index.
type indexNamed struct {
	Index string `path:"index" doc:"Its name"`
}

// offerUpkeep adds the operations that check and rebuild indices.
func (s steering) offerUpkeep(api huma.API) {
	for _, u := range []struct{ verb, begins, tells string }{
		{control.CheckIndex, "Compare the documents of an index with those that searches find, one by one, while it answers; joins a comparison that is running",
			"The last comparison since the start of this server, and how far it is"},
		{control.RebuildIndex, "Index all documents of an index again, while it answers: searches use the old segments of a shard until its new ones are ready; joins a rebuild that is running",
			"The last rebuild since the start of this server, and how far it is"},
	} {
		path := indicesPath + "/{index}/" + u.verb
		huma.Register(api, huma.Operation{OperationID: u.verb + "Index", Method: http.MethodPost, Path: path, DefaultStatus: http.StatusAccepted,
			Summary: u.begins, Errors: []int{404, 500, 503}}, answering(u.verb, s.service.BeginUpkeep))
		huma.Register(api, huma.Operation{OperationID: u.verb + "OfIndex", Method: http.MethodGet, Path: path,
			Summary: u.tells, Errors: []int{404, 500, 503}}, answering(u.verb, s.service.Upkeep))
	}
}

func answering(verb string, do func(ctx context.Context, index, verb string) (*control.Upkeep, error)) func(context.Context, *indexNamed) (*upkeep, error) {
	return func(ctx context.Context, in *indexNamed) (*upkeep, error) {
		told, err := do(ctx, in.Index, verb)
		if err != nil {
			return nil, problemOf(err)
		}
		return &upkeep{told}, nil
	}
}
