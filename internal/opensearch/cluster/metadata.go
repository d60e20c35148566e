package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// TemplateKind is a kind of template.
type TemplateKind string

// The kinds of templates, by their paths.
const (
	LegacyTemplate     TemplateKind = "_template"
	ComposableTemplate TemplateKind = "_index_template"
	ComponentTemplate  TemplateKind = "_component_template"
)

// list is the member of an answer that lists templates of the kind, and the one
// of each of them that is its body.
func (k TemplateKind) list() (list, body string) {
	return strings.TrimPrefix(string(k), "_") + "s", strings.TrimPrefix(string(k), "_")
}

// Exists reports whether err says that what was to be made is there already. It
// was not touched then.
func Exists(err error) bool {
	return exception.Is(err, exception.ResourceAlreadyExists) || fault.Is(err, fault.Conflict) && !exception.Is(err, exception.VersionConflict)
}

// NoTemplate reports whether err says that no template makes a data stream of that name; servers
// say so in words alone.
func NoTemplate(err error) bool {
	return err != nil && strings.Contains(err.Error(), "no matching index template")
}

// get reads JSON into answer. What is missing leaves it as it is, when that is no error.
func (c *Client) get(ctx context.Context, path []string, params url.Values, missing bool, answer any) error {
	told, err := c.Send(ctx, Request{Method: http.MethodGet, Path: path, Params: params})
	if missing && fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(told.Body, answer); err != nil {
		return fault.At(fault.New(fault.Unavailable, "the answer to GET /%s is not what a store answers: %w", strings.Join(path, "/"), err), c.place)
	}
	return nil
}

// change sends what may be applied twice.
func (c *Client) change(ctx context.Context, method string, path []string, body []byte) error {
	_, err := c.Send(ctx, Request{Method: method, Path: path, Body: body, Harmless: true})
	return err
}

// create makes something that must not be there. When the answer to an attempt
// was lost and the next says that it exists, nobody can tell whose it is.
func (c *Client) create(ctx context.Context, path []string, params url.Values, body []byte) error {
	lost := false
	return insist(ctx, c.patience, func() *trouble {
		_, t := c.exchange(ctx, &Request{Method: http.MethodPut, Path: path, Params: params, Body: body}, nil)
		switch {
		case t == nil:
			return nil
		case t.again == never && lost && Exists(t.err):
			t.err = fault.WithNext(t.err, "the answer to an attempt before was lost: it may be this movement that made it")
		case t.again == ifHarmless:
			lost = true
		}
		return t
	})
}

// Templates are the templates of a kind that a pattern names, by name: the bodies
// as CreateTemplate takes them.
func (c *Client) Templates(ctx context.Context, kind TemplateKind, pattern string) (map[string]json.RawMessage, error) {
	path := []string{string(kind), pattern}
	if pattern == "" {
		path = path[:1]
	}
	found := map[string]json.RawMessage{}
	if kind == LegacyTemplate {
		return found, c.get(ctx, path, nil, true, &found)
	}
	list, body := kind.list()
	var answer map[string][]map[string]json.RawMessage
	if err := c.get(ctx, path, nil, true, &answer); err != nil {
		return nil, err
	}
	for _, t := range answer[list] {
		var name string
		if err := json.Unmarshal(t["name"], &name); err != nil {
			return nil, fault.At(fault.New(fault.Unavailable, "a template without a name"), c.place)
		}
		found[name] = t[body]
	}
	return found, nil
}

// CreateTemplate makes a template. One of that name is not touched: see Exists.
func (c *Client) CreateTemplate(ctx context.Context, kind TemplateKind, name string, body []byte) error {
	return c.create(ctx, []string{string(kind), name}, url.Values{"create": {"true"}}, body)
}

// DeleteTemplate deletes a template. One that is not there is no error.
func (c *Client) DeleteTemplate(ctx context.Context, kind TemplateKind, name string) error {
	return c.remove(ctx, string(kind), name)
}

// remove deletes what is there of a name; that nothing is, is no error. Where nobody knows whether it was
// done, it is not repeated: what is there of that name now may be somebody else's, and the caller looks again.
func (c *Client) remove(ctx context.Context, path ...string) error {
	_, err := c.Send(ctx, Request{Method: http.MethodDelete, Path: path})
	return gone(err)
}

// gone takes "not found" as done.
func gone(err error) error {
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// IndexInfo is an index as GET /INDEX tells it.
type IndexInfo struct {
	Aliases    map[string]json.RawMessage `json:"aliases"`
	Mappings   json.RawMessage            `json:"mappings"`
	Settings   map[string]any             `json:"settings"` // flat: "index.number_of_shards": "1"
	DataStream string                     `json:"data_stream,omitempty"`
}

// Indices are the indices that a pattern names, open, closed and hidden ones, by name.
func (c *Client) Indices(ctx context.Context, pattern string) (map[string]IndexInfo, error) {
	found := map[string]IndexInfo{}
	return found, c.get(ctx, []string{pattern}, url.Values{"flat_settings": {"true"}, "expand_wildcards": {"all"}}, true, &found)
}

// Glance is an index without its mapping; fault.NotFound when there is none of that name. Of an alias it is
// fault.Refused.
func (c *Client) Glance(ctx context.Context, index string) (IndexInfo, error) {
	found := map[string]IndexInfo{}
	params := url.Values{"flat_settings": {"true"}, "filter_path": {"*.aliases,*.settings"}}
	if err := c.get(ctx, []string{index}, params, false, &found); err != nil {
		return IndexInfo{}, err
	}
	one, is := found[index]
	if !is || len(found) != 1 {
		return IndexInfo{}, c.notAnIndex(index, len(found))
	}
	return one, nil
}

// notAnIndex refuses an alias or a data stream where an index is needed.
func (c *Client) notAnIndex(name string, indices int) error {
	behind := "1 index"
	if indices != 1 {
		behind = fmt.Sprintf("%d indices", indices)
	}
	err := fault.New(fault.Refused, "%s is not an index, but an alias or a data stream with %s behind it", name, behind)
	return fault.WithNext(fault.At(err, c.place), "name an index: GET /_resolve/index/%s lists those behind it", name)
}

// IndexExists tells whether an index, alias or data stream of that name is there.
func (c *Client) IndexExists(ctx context.Context, name string) (bool, error) {
	_, err := c.Send(ctx, Request{Method: http.MethodHead, Path: []string{name}})
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// CreateIndex makes an index; body holds settings, mappings and aliases. One of
// that name is not touched: see Exists.
func (c *Client) CreateIndex(ctx context.Context, name string, body []byte) error {
	return c.create(ctx, []string{name}, nil, body)
}

// DeleteIndex deletes one index. One that is not there is no error.
func (c *Client) DeleteIndex(ctx context.Context, name string) error {
	if strings.ContainsAny(name, "*,?") || name == "_all" || name == "" {
		return fault.New(fault.Usage, "%q names more than one index to delete", name)
	}
	return c.remove(ctx, name)
}

// PutMapping adds fields to the mapping of an index.
func (c *Client) PutMapping(ctx context.Context, index string, body []byte) error {
	return c.change(ctx, http.MethodPut, []string{index, "_mapping"}, body)
}

// Settings are the flat settings of an index, defaults not among them.
func (c *Client) Settings(ctx context.Context, index string) (map[string]any, error) {
	var found map[string]struct {
		Settings map[string]any `json:"settings"`
	}
	if err := c.get(ctx, []string{index, "_settings"}, url.Values{"flat_settings": {"true"}}, false, &found); err != nil {
		return nil, err
	}
	one, ok := found[index]
	if !ok || len(found) != 1 {
		return nil, c.notAnIndex(index, len(found))
	}
	return one.Settings, nil
}

// PutSettings changes settings of an index; a nil value takes one back to its default.
func (c *Client) PutSettings(ctx context.Context, index string, settings map[string]any) error {
	body, err := json.Marshal(settings)
	if err != nil {
		return fault.Wrap(fault.Usage, err)
	}
	return c.change(ctx, http.MethodPut, []string{index, "_settings"}, body)
}

// Aliases are the aliases of the indices that a pattern names: index → alias →
// its filter and routing.
func (c *Client) Aliases(ctx context.Context, pattern string) (map[string]map[string]json.RawMessage, error) {
	var found map[string]struct {
		Aliases map[string]json.RawMessage `json:"aliases"`
	}
	if err := c.get(ctx, []string{pattern, "_alias"}, url.Values{"expand_wildcards": {"all"}}, true, &found); err != nil {
		return nil, err
	}
	out := map[string]map[string]json.RawMessage{}
	for index, i := range found {
		out[index] = i.Aliases
	}
	return out, nil
}

// AliasNamed are the indices that an alias leads to, with its properties on each; none when no alias has that name.
func (c *Client) AliasNamed(ctx context.Context, name string) (map[string]json.RawMessage, error) {
	var found map[string]struct {
		Aliases map[string]json.RawMessage `json:"aliases"`
	}
	if err := c.get(ctx, []string{"_alias", name}, url.Values{"expand_wildcards": {"all"}}, true, &found); err != nil {
		return nil, err
	}
	out := map[string]json.RawMessage{}
	for index, i := range found {
		if properties, has := i.Aliases[name]; has {
			out[index] = properties
		}
	}
	return out, nil
}

// AliasAction is one step of a change of aliases.
type AliasAction struct {
	Remove bool
	Index  string
	Alias  string
	More   json.RawMessage // of an added one: an object with filter, routing, is_write_index, …; nil: nothing
}

// ChangeAliases takes all steps at one instant, or none. Steps may be repeated.
func (c *Client) ChangeAliases(ctx context.Context, actions []AliasAction) error {
	list := []map[string]map[string]any{}
	for _, a := range actions {
		about := map[string]any{}
		if a.More != nil {
			if err := json.Unmarshal(a.More, &about); err != nil {
				return fault.Wrap(fault.Usage, err)
			}
		}
		about["index"], about["alias"] = a.Index, a.Alias
		verb := "add"
		if a.Remove {
			verb = "remove"
		}
		list = append(list, map[string]map[string]any{verb: about})
	}
	body, err := json.Marshal(map[string]any{"actions": list})
	if err != nil {
		return fault.Wrap(fault.Bug, err)
	}
	return c.change(ctx, http.MethodPost, []string{"_aliases"}, body)
}

// DataStream is a data stream.
type DataStream struct {
	Name     string
	Indices  []string // backing indices, oldest first: the last is written to
	Template string
}

// DataStreams are those that a pattern names. A server without them has none.
func (c *Client) DataStreams(ctx context.Context, pattern string) ([]DataStream, error) {
	var answer struct {
		Streams []struct {
			Name    string `json:"name"`
			Indices []struct {
				Name string `json:"index_name"`
			} `json:"indices"`
			Template string `json:"template"`
		} `json:"data_streams"`
	}
	err := c.get(ctx, []string{"_data_stream", pattern}, nil, true, &answer)
	if fault.Is(err, fault.Refused) { // a distribution without them has no such path
		return nil, nil
	}
	var out []DataStream
	for _, s := range answer.Streams {
		d := DataStream{Name: s.Name, Template: s.Template}
		for _, i := range s.Indices {
			d.Indices = append(d.Indices, i.Name)
		}
		out = append(out, d)
	}
	return out, err
}

// CreateDataStream makes a data stream, for which a template must be there. One
// of that name is not touched: see Exists.
func (c *Client) CreateDataStream(ctx context.Context, name string) error {
	return c.create(ctx, []string{"_data_stream", name}, nil, nil)
}

// DeleteDataStream deletes one, with its backing indices. One that is not there is no error.
func (c *Client) DeleteDataStream(ctx context.Context, name string) error {
	if strings.ContainsAny(name, "*,?") || name == "" {
		return fault.New(fault.Usage, "%q names more than one data stream to delete", name)
	}
	return c.remove(ctx, "_data_stream", name)
}

// Rollover gives a data stream or an alias a new index to write to.
func (c *Client) Rollover(ctx context.Context, name string) error {
	_, err := c.Send(ctx, Request{Method: http.MethodPost, Path: []string{name, "_rollover"}})
	return err
}

// Refresh makes what was written to an index visible to searches.
func (c *Client) Refresh(ctx context.Context, index string) error {
	return c.change(ctx, http.MethodPost, []string{index, "_refresh"}, nil)
}

// Pipelines are the names of the ingest pipelines. A server without them has none.
func (c *Client) Pipelines(ctx context.Context) ([]string, error) {
	found := map[string]json.RawMessage{}
	err := c.get(ctx, []string{"_ingest", "pipeline"}, nil, true, &found)
	if fault.Is(err, fault.Refused) {
		err = nil
	}
	return slices.Sorted(maps.Keys(found)), err
}
