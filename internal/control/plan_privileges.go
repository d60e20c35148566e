package control

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// tellsRights asks an Elasticsearch with security, which tells in one answer what these
// credentials may do; told is false where none does.
func (l *looking) tellsRights(ctx context.Context, created, there []string) (told bool, err error) {
	server, err := l.side.client.Server(ctx)
	if err != nil || server.Product != cluster.Elasticsearch || len(created)+len(there) == 0 {
		return false, err
	}
	type asked struct {
		Names      []string `json:"names"`
		Privileges []string `json:"privileges"`
	}
	const aliases = "indices:admin/aliases" // the documents go through one of the movement's own
	var all []asked
	if len(created) > 0 {
		all = append(all, asked{created, []string{"create_index", "index", "read", "maintenance", aliases}})
	}
	if len(there) > 0 {
		all = append(all, asked{there, []string{"index", "read", "maintenance", aliases}})
	}
	var through []string
	for _, name := range slices.Concat(created, there) {
		through = append(through, migrate.AliasPattern(name))
	}
	all = append(all, asked{through, []string{"index", aliases}})
	body, err := json.Marshal(map[string]any{"index": all})
	if err != nil {
		return false, fault.Wrap(fault.Bug, err)
	}
	answer, err := l.side.client.Send(ctx, cluster.Request{Method: http.MethodPost, Path: []string{"_security", "user", "_has_privileges"}, Body: body, Harmless: true})
	if fault.Is(err, fault.Unauthorised) {
		return true, l.lacks("tell who we are", err)
	}
	if err != nil {
		if _, other := tellable(err); other != nil {
			return false, other
		}
		return false, nil // there is no security
	}
	var has struct {
		User  string                     `json:"username"`
		Index map[string]map[string]bool `json:"index"`
	}
	if err := json.Unmarshal(answer.Body, &has); err != nil {
		return false, fault.New(fault.Corrupt, "the answer about rights is not understood: %w", err)
	}
	lacking := map[string][]string{} // the indices that lack the same rights
	for _, name := range slices.Sorted(maps.Keys(has.Index)) {
		var missing []string
		for _, privilege := range slices.Sorted(maps.Keys(has.Index[name])) {
			if !has.Index[name][privilege] {
				missing = append(missing, privilege)
			}
		}
		if len(missing) > 0 {
			key := strings.Join(missing, ", ")
			lacking[key] = append(lacking[key], name)
		}
	}
	for _, missing := range slices.Sorted(maps.Keys(lacking)) {
		l.refuse("give the user these privileges (manage has "+aliases+"), or name other credentials", "user %s lacks %s for %s", has.User, missing, listed(lacking[missing]))
	}
	return true, nil
}
