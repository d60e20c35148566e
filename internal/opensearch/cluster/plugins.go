package cluster

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// Plugins are the plugins and modules of the nodes that hold data, by the names of the nodes.
func (c *Client) Plugins(ctx context.Context) (map[string][]string, error) {
	type named struct {
		Name string `json:"name"`
	}
	var answer struct {
		Nodes map[string]struct {
			Name             string
			Roles            []string
			Plugins, Modules []named
		}
	}
	params := url.Values{"filter_path": {"nodes.*.name,nodes.*.roles,nodes.*.plugins.name,nodes.*.modules.name"}}
	if err := c.get(ctx, []string{"_nodes", "plugins"}, params, false, &answer); err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for id, n := range answer.Nodes {
		holds := func(role string) bool { return role == "data" || len(role) > 5 && role[:5] == "data_" }
		if n.Roles != nil && !slices.ContainsFunc(n.Roles, holds) {
			continue
		}
		names := []string{}
		for _, p := range append(n.Plugins, n.Modules...) {
			names = append(names, p.Name)
		}
		if n.Name == "" {
			n.Name = id
		}
		all[n.Name] = names
	}
	return all, nil
}

// Tries asks whether the server would make an index with these settings and this mapping, by simulating a template,
// which makes nothing. With tried, err is the server's reason for refusing such an index; without, the server cannot be
// asked, and err is the failure of the request, if any.
func (c *Client) Tries(ctx context.Context, settings, mapping json.RawMessage) (tried bool, err error) {
	template := map[string]json.RawMessage{}
	if settings != nil {
		template["settings"] = settings
	}
	if mapping != nil {
		template["mappings"] = mapping
	}
	body, err := json.Marshal(map[string]any{"index_patterns": []string{"reshelve-looks-whether-it-takes-this"}, "priority": 2147483646, "template": template})
	if err != nil {
		return false, fault.Wrap(fault.Bug, err)
	}
	_, err = c.Send(ctx, Request{Method: http.MethodPost, Path: []string{"_index_template", "_simulate"}, Body: body, Harmless: true})
	switch {
	case err == nil:
		return true, nil
	case exception.Is(err, exception.IllegalArgument), exception.Is(err, exception.InvalidIndexTemplate), exception.Is(err, exception.MapperParsing):
		return true, err
	case fault.Is(err, fault.Unauthorised), fault.Is(err, fault.NotFound), fault.Is(err, fault.Refused):
		return false, nil
	}
	return false, err
}
