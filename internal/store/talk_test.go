package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/catalog"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// The files of testdata/admin are conversations with a real OpenSearch 2.19.0: requests,
// and under each what it answered. The store must answer the same. Of answers about
// documents only the status is compared: package gateway makes the rest.

// recorded is when the answers were taken: names with date math hold it.
var recorded = time.Date(2026, 11, 21, 17, 0, 0, 0, time.UTC)

func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/admin/*.talk")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".talk"), func(t *testing.T) { replay(t, file) })
	}
}

func replay(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w := newTalker(t)
	lines := strings.Split(string(text), "\n")
	for i := 0; i < len(lines); i++ {
		if lines[i] == "" || strings.HasPrefix(lines[i], "#") {
			continue
		}
		parts := strings.SplitN(lines[i]+"  ", " ", 3)
		status, answer := w.ask(parts[0], parts[1], []byte(strings.TrimSpace(parts[2])))
		i++
		want, rest, _ := strings.Cut(strings.TrimPrefix(lines[i], "< "), " ")
		if got := strconv.Itoa(status); got != want || !w.same(rest, answer) {
			t.Errorf("%s:%d: %s\n got %s %s\nwant %s %s", file, i, lines[i-1], got, normal(answer), want, rest)
		}
	}
}

// talker speaks the requests of the HTTP API to a store.
type talker struct {
	t     *testing.T
	store *store.Store
}

func newTalker(t *testing.T) *talker {
	t.Helper()
	s, err := store.Open(context.Background(), coordmemory.New(), shardmemory.New(shardmemory.Options{}),
		store.Options{Clock: func() time.Time { return recorded }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &talker{t, s}
}

var volatile = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`"(index_uuid|uuid|index\.uuid)":"[A-Za-z0-9_-]{22}"`), `"$1":"UUID"`},
	{regexp.MustCompile(`/[A-Za-z0-9_-]{22}\]`), `/UUID]`},
	{regexp.MustCompile(`"(creation_date|index\.creation_date)":"\d+"`), `"$1":"MILLIS"`},
	{regexp.MustCompile(`id '[A-Za-z0-9_-]{20}'`), `id 'ID'`},
	{regexp.MustCompile(`simulate_template_[a-z0-9_-]{22}`), `simulate_template_uuid`},
}

func normal(answer []byte) string {
	text := string(answer)
	for _, v := range volatile {
		text = v.pattern.ReplaceAllString(text, v.by)
	}
	return text
}

// same compares two answers. An empty one was not rendered: only the status counts.
func (w *talker) same(want string, got []byte) bool {
	if got == nil {
		return true
	}
	var a, b any
	if json.Unmarshal([]byte(want), &a) != nil || json.Unmarshal([]byte(normal(got)), &b) != nil {
		return false
	}
	return reflect.DeepEqual(ordered(a), ordered(b))
}

// ordered sorts lists of named objects: the server lists templates as a hash falls.
func ordered(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = ordered(v[key])
		}
	case []any:
		name := func(item any) string {
			m, _ := item.(map[string]any)
			n, _ := m["name"].(string)
			return n
		}
		slices.SortStableFunc(v, func(a, b any) int { return strings.Compare(name(a), name(b)) })
	}
	return v
}

// ask makes one request. The answer is nil when it is not to be compared.
func (w *talker) ask(method, target string, body []byte) (int, []byte) {
	u, err := url.Parse(target)
	if err != nil {
		w.t.Fatal(err)
	}
	var segments []string
	for _, s := range strings.Split(strings.Trim(u.EscapedPath(), "/"), "/") {
		decoded, err := url.PathUnescape(s)
		if err != nil {
			w.t.Fatal(err)
		}
		segments = append(segments, decoded)
	}
	if strings.HasPrefix(u.Path, "/,") {
		segments[0] = strings.TrimPrefix(u.Path[:strings.LastIndexByte(u.Path, '/')], "/")
	}
	r := request{talker: w, ctx: context.Background(), method: method, path: segments, query: u.Query(), body: body}
	answer, err := r.answer()
	if err != nil {
		return told(err)
	}
	return r.status(), answer
}

// told is an error as the API tells it, root causes left out.
func told(err error) (int, []byte) {
	e := exception.From(err)
	data, _ := json.Marshal(map[string]any{"error": tree(e), "status": e.Status()})
	return e.Status(), data
}

func tree(e *exception.Error) map[string]any {
	m := map[string]any{"type": e.Type, "reason": e.Reason}
	for _, f := range e.Fields {
		m[f.Name] = f.Value
	}
	if e.Cause != nil {
		m["caused_by"] = tree(e.Cause)
	}
	return m
}

// request is one request on its way.
type request struct {
	*talker
	ctx    context.Context
	method string
	path   []string
	query  url.Values
	body   []byte
	code   int
}

func (r *request) status() int {
	if r.code == 0 {
		return 200
	}
	return r.code
}

// at is a segment of the path, "" behind its end.
func (r *request) at(i int) string {
	if i < len(r.path) {
		return r.path[i]
	}
	return ""
}

func (r *request) flag(name string) bool { return r.query.Get(name) == "true" }

var acknowledged = []byte(`{"acknowledged":true}`)

// done is the plain answer of a request that says no more than that it worked.
func done(err error) ([]byte, error) { return acknowledged, err }

func (r *request) answer() ([]byte, error) {
	s := r.store
	switch r.at(0) {
	case "_aliases":
		return done(s.UpdateAliases(r.ctx, r.body))
	case "_alias":
		return r.getAlias(expression(nil, shown), r.at(1))
	case "_cluster":
		return s.PutClusterSettings(r.ctx, r.body)
	case "_template", "_index_template", "_component_template":
		return r.template()
	case "_data_stream":
		return r.stream()
	}
	switch r.at(1) {
	case "":
		return r.index()
	case "_mapping":
		return r.mapping()
	case "_settings":
		if r.method == "GET" {
			return r.getSettings()
		}
		return done(s.PutSettings(r.ctx, r.expression(changed), r.body, r.flag("preserve_existing")))
	case "_alias":
		return r.alias()
	case "_close", "_open":
		return r.shut()
	case "_rollover":
		return r.rollover()
	}
	return r.documents()
}

// Options of endpoints, as the server has them.
var (
	shown    = catalog.Options{ExpandOpen: true}
	changed  = catalog.Options{ExpandOpen: true, ExpandClosed: true, NoIndicesIsError: true}
	deleted  = catalog.Options{ExpandOpen: true, ExpandClosed: true, ForbidAliases: true}
	opened   = catalog.Options{ExpandClosed: true}
	searched = catalog.Options{ExpandOpen: true, ForbidClosed: true}
)

func expression(names []string, o catalog.Options) catalog.Expression {
	return catalog.Expression{Names: names, Options: o}
}

// expression is the first segment with the request's parameters.
func (r *request) expression(o catalog.Options) catalog.Expression {
	if r.query.Has("ignore_unavailable") {
		o.IgnoreUnavailable = r.flag("ignore_unavailable")
	}
	if r.query.Has("allow_no_indices") {
		o.NoIndicesIsError = !r.flag("allow_no_indices")
	}
	if states := r.query.Get("expand_wildcards"); states != "" {
		has := func(state string) bool { return states == "all" || slices.Contains(strings.Split(states, ","), state) }
		o.ExpandOpen, o.ExpandClosed, o.ExpandHidden = has("open"), has("closed"), has("hidden")
		if states == "nope" {
			o = catalog.Options{NoIndicesIsError: true}
		}
	}
	return expression(strings.Split(r.at(0), ","), o)
}

func (r *request) index() ([]byte, error) {
	switch r.method {
	case "PUT":
		c, err := r.store.CreateIndex(r.ctx, r.at(0), r.body)
		return []byte(fmt.Sprintf(`{"acknowledged":true,"shards_acknowledged":%t,"index":%q}`, c.ShardsAcknowledged, c.Index)), err
	case "DELETE":
		return done(r.store.DeleteIndices(r.ctx, r.expression(deleted)))
	}
	return r.each(func(st catalog.Status) any {
		m := map[string]any{"aliases": st.Aliases, "mappings": st.Mapping, "settings": json.RawMessage(catalog.RenderSettings(st.Settings, r.flag("flat_settings")))}
		if st.Entry.Stream != "" {
			m["data_stream"] = st.Entry.Stream
		}
		return m
	})
}

// showable refuses what the face refuses: to show indices whose settings block that.
func showable(all []catalog.Status) error {
	for _, st := range all {
		if blocked := catalog.Blocked(st.Name, st.Settings, catalog.ReadMetadata); blocked != nil {
			return blocked
		}
	}
	return nil
}

// each renders every index of the request.
func (r *request) each(render func(catalog.Status) any) ([]byte, error) {
	all, err := r.store.Status(r.ctx, r.expression(shown))
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for _, st := range all {
		if rendered := render(st); rendered != nil {
			out[st.Name] = rendered
		}
	}
	if err := showable(all); err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

func (r *request) mapping() ([]byte, error) {
	if r.method == "PUT" {
		return done(r.store.PutMapping(r.ctx, r.expression(changed), r.body, r.flag("write_index_only")))
	}
	return r.each(func(st catalog.Status) any { return map[string]any{"mappings": st.Mapping} })
}

func (r *request) getSettings() ([]byte, error) {
	var patterns []string
	if r.at(2) != "" {
		patterns = []string{r.at(2)}
	}
	return r.each(func(st catalog.Status) any {
		settings := catalog.RenderSettings(st.Settings, r.flag("flat_settings"), patterns...)
		if string(settings) == "{}" {
			return nil
		}
		return map[string]any{"settings": json.RawMessage(settings)}
	})
}

func (r *request) alias() ([]byte, error) {
	e := r.expression(shown)
	switch r.method {
	case "PUT":
		return done(r.store.PutAlias(r.ctx, e, r.at(2), r.body))
	case "DELETE":
		return done(r.store.DeleteAliases(r.ctx, e, strings.Split(r.at(2), ",")))
	}
	return r.getAlias(e, r.at(2))
}

// getAlias shows aliases by patterns; a plain name that is nowhere is 404.
func (r *request) getAlias(e catalog.Expression, wanted string) ([]byte, error) {
	e.Options.ExpandHidden = len(e.Names) == 0
	all, err := r.store.Status(r.ctx, e)
	if err != nil {
		return nil, err
	}
	if len(e.Names) == 0 {
		r.code = 0
	}
	out := map[string]any{}
	seen := map[string]bool{}
	for _, st := range all {
		aliases := map[string]catalog.Alias{}
		for name, alias := range st.Aliases {
			matched := wanted == ""
			for i, p := range strings.Split(wanted, ",") {
				if rest, minus := strings.CutPrefix(p, "-"); minus && i > 0 {
					matched = matched && !wildcard.Match(rest, name)
				} else {
					matched = matched || wildcard.Match(p, name)
				}
			}
			if matched {
				aliases[name] = alias
				seen[name] = true
			}
		}
		if len(aliases) > 0 || wanted == "" {
			out[st.Name] = map[string]any{"aliases": aliases}
		}
	}
	if err := showable(all); err != nil {
		return nil, err
	}
	for _, name := range strings.Split(wanted, ",") {
		if name != "" && !strings.Contains(name, "*") && name[0] != '-' && !seen[name] {
			r.code = 404
			out["error"], out["status"] = fmt.Sprintf("alias [%s] missing", name), 404
		}
	}
	return json.Marshal(out)
}

func (r *request) shut() ([]byte, error) {
	if r.at(1) == "_open" {
		_, err := r.store.OpenIndices(r.ctx, r.expression(opened))
		return []byte(`{"acknowledged":true,"shards_acknowledged":true}`), err
	}
	names, err := r.store.CloseIndices(r.ctx, r.expression(shown))
	indices := map[string]any{}
	for _, name := range names {
		indices[name] = map[string]bool{"closed": true}
	}
	data, _ := json.Marshal(map[string]any{"acknowledged": true, "shards_acknowledged": len(names) > 0, "indices": indices})
	return data, err
}

func (r *request) rollover() ([]byte, error) {
	rolled, err := r.store.Rollover(r.ctx, r.at(0), r.at(2), r.body, r.flag("dry_run"))
	conditions := map[string]bool{}
	for _, c := range rolled.Conditions {
		conditions[c.Text] = c.Met
	}
	data, _ := json.Marshal(map[string]any{
		"acknowledged": rolled.RolledOver, "shards_acknowledged": rolled.RolledOver, "old_index": rolled.OldIndex, "new_index": rolled.NewIndex,
		"rolled_over": rolled.RolledOver, "dry_run": rolled.DryRun, "conditions": conditions,
	})
	return data, err
}

func (r *request) stream() ([]byte, error) {
	names := strings.Split(r.at(1), ",")
	switch r.method {
	case "PUT":
		return done(r.store.CreateStream(r.ctx, r.at(1)))
	case "DELETE":
		return done(r.store.DeleteStreams(r.ctx, names))
	}
	c := r.store.Catalog()
	list := []any{}
	found := c.StreamsNamed(names)
	for _, name := range found {
		stream := c.Streams[name]
		status := "GREEN"
		var indices []any
		for _, index := range stream.Indices {
			all, err := r.store.Status(r.ctx, expression([]string{index}, shown))
			if err != nil {
				return nil, err
			}
			if all[0].Settings["index.number_of_replicas"] != "0" {
				status = "YELLOW"
			}
			indices = append(indices, map[string]string{"index_name": index, "index_uuid": c.Indices[index].UUID})
		}
		list = append(list, map[string]any{
			"name": name, "timestamp_field": map[string]string{"name": stream.Timestamp}, "indices": indices,
			"generation": stream.Generation, "status": status, "template": stream.Template,
		})
	}
	if len(found) == 0 && !strings.Contains(r.at(1), "*") {
		_, err := c.Resolve(expression(names, catalog.Options{NoIndicesIsError: true, ExpandOpen: true}), 0)
		return nil, err
	}
	return json.Marshal(map[string]any{"data_streams": list})
}

func (r *request) template() ([]byte, error) {
	name, create := r.at(1), r.flag("create")
	switch kind := r.at(0); {
	case name == "_simulate_index":
		return r.store.SimulateIndex(r.ctx, r.at(2), r.body)
	case name == "_simulate":
		return r.store.SimulateTemplate(r.ctx, r.at(2), r.body, false)
	case r.method == "GET":
		return r.getTemplate()
	case r.method == "PUT" && kind == "_template":
		return done(r.store.PutLegacyTemplate(r.ctx, name, r.body, create))
	case r.method == "PUT" && kind == "_index_template":
		return done(r.store.PutIndexTemplate(r.ctx, name, r.body, create))
	case r.method == "PUT":
		return done(r.store.PutComponentTemplate(r.ctx, name, r.body, create))
	case kind == "_template":
		return done(r.store.DeleteLegacyTemplates(r.ctx, name))
	case kind == "_index_template":
		return done(r.store.DeleteIndexTemplates(r.ctx, name))
	}
	return done(r.store.DeleteComponentTemplates(r.ctx, name))
}

func (r *request) getTemplate() ([]byte, error) {
	c := r.store.Catalog()
	kind := strings.TrimPrefix(r.at(0), "_")
	all := map[string]map[string]json.RawMessage{"template": c.Legacy, "index_template": c.Composable, "component_template": c.Components}[kind]
	list := []any{}
	byName := map[string]json.RawMessage{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		raw := all[name]
		if r.flag("flat_settings") && kind == "template" {
			raw = catalog.FlatTemplate(raw)
		}
		if wildcard.Match(r.at(1), name) {
			list = append(list, map[string]any{"name": name, kind: raw})
			byName[name] = raw
		}
	}
	if len(list) == 0 {
		r.code = 404
	}
	if kind == "template" {
		return json.Marshal(byName)
	}
	if len(list) == 0 && !strings.Contains(r.at(1), "*") {
		return nil, exception.New(exception.ResourceNotFound, "%s matching [%s] not found", strings.ReplaceAll(kind, "_", " "), r.at(1))
	}
	return json.Marshal(map[string]any{kind + "s": list})
}

// documents makes requests on documents; only their errors are answers here.
func (r *request) documents() ([]byte, error) {
	if r.at(1) == "_count" {
		total, found, err := r.store.Count(r.ctx, store.Where{Expression: r.expression(searched)}, nil)
		if err != nil {
			return nil, err
		}
		return []byte(fmt.Sprintf(`{"count":%d,"_shards":{"total":%d,"successful":%[2]d,"skipped":0,"failed":0}}`, total, found.Shards)), nil
	}
	if r.method == "GET" {
		found, err := r.store.Get(r.ctx, document.Read{Target: r.at(0), ID: r.at(2), Version: document.Unset})
		if !found.Exists {
			r.code = 404
		}
		return nil, err
	}
	write := document.Write{Target: r.at(0), ID: r.at(2), Source: bytes.Clone(r.body), Condition: document.Always, Routing: r.query.Get("routing"), RequireAlias: r.flag("require_alias")}
	switch {
	case r.method == "DELETE":
		write.Operation = document.Delete
	case r.at(1) == "_create", r.query.Get("op_type") == "create", write.ID == "":
		write.Operation = document.Create
	case r.at(1) == "_update":
		write.Operation, write.Source = document.Update, nil
		write.Change = &document.Change{Doc: []byte(`{"k":"y"}`), DetectNoop: true}
	}
	if len(r.body) == 0 && r.method != "DELETE" {
		return nil, exception.New(exception.OpenSearchParse, "request body is required")
	}
	written := r.store.Write(r.ctx, []document.Write{write}, document.AtOnce)[0]
	switch {
	case written.Err != nil:
		return nil, written.Err
	case written.Outcome == document.Created:
		r.code = 201
	case written.Outcome == document.Missing:
		r.code = 404
	}
	return nil, nil
}
