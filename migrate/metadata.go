package migrate

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/translate"
)

// indexBody is the request that makes an index on the target.
func (t *turn) indexBody(ctx context.Context, index Index) (json.RawMessage, error) {
	idx, err := t.snapshot.Index(ctx, index.Source)
	if err != nil {
		return nil, err
	}
	server, err := t.target.Server(ctx)
	if err != nil {
		return nil, err
	}
	from := translate.Server{Product: "elasticsearch"}
	major, _, _ := strings.Cut(t.plan.Version, ".")
	from.Major, _ = strconv.Atoi(major)
	route := translate.Route{From: from, To: translate.Server{Product: string(server.Product), Major: server.Version.Major, Minor: server.Version.Minor}}
	body, err := route.Index(translate.Index{Name: index.Target, Settings: idx.Setting, Mappings: idx.Mappings, Types: idx.Types, Aliases: idx.Aliases})
	return body.JSON, err
}
