package cluster_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/waits"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// everything asks a server, or our own store, for all that this package asks
// clusters for. Names begin with prefix.
func everything(t *testing.T, c *cluster.Client, prefix string, repos string) {
	t.Run("documents", func(t *testing.T) { roundTrip(t, c, prefix+"-books", 3000) })
	t.Run("refusals", func(t *testing.T) { operationsThatAreRefused(t, c, prefix+"-refused") })
	t.Run("read-only", func(t *testing.T) { readOnlyForAWhile(t, c, prefix+"-full") })
	t.Run("index", func(t *testing.T) { anIndex(t, c, prefix+"-one") })
	t.Run("conditions", func(t *testing.T) { conditions(t, c, prefix+"-seen") })
	t.Run("aliases", func(t *testing.T) { byAnAlias(t, c, prefix+"-by") })
	t.Run("templates", func(t *testing.T) { templates(t, c, prefix+"-t") })
	t.Run("streams", func(t *testing.T) { streams(t, c, prefix+"-logs") })
	t.Run("disk", func(t *testing.T) { disks(t, c) })
	if repos != "" {
		t.Run("snapshots", func(t *testing.T) { snapshots(t, c, prefix+"-snap", repos) })
	}
}

func TestOwnStoreDoesEverything(t *testing.T) { everything(t, ownStore(t), "own", "") }

// must fails the test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v (kind %v, next %q)", err, fault.KindOf(err), fault.Next(err))
	}
}

func anIndex(t *testing.T, c *cluster.Client, name string) {
	ctx := t.Context()
	must(t, c.DeleteIndex(ctx, name))
	t.Cleanup(func() { _ = c.DeleteIndex(context.WithoutCancel(ctx), name) })
	body := []byte(`{"settings":{"number_of_shards":2,"number_of_replicas":0},"mappings":{"_meta":{"by":"m 1"},"properties":{"t":{"type":"keyword"}}},"aliases":{"` + name + `-first":{}}}`)
	must(t, c.CreateIndex(ctx, name, body))
	if err := c.CreateIndex(ctx, name, body); !cluster.Exists(err) {
		t.Errorf("made twice: %v, kind %v", err, fault.KindOf(err))
	}
	for other, want := range map[string]bool{name: true, name + "-first": true, name + "-none": false} {
		if there, err := c.IndexExists(ctx, other); there != want || err != nil {
			t.Errorf("%s exists: %v %v", other, there, err)
		}
	}
	must(t, c.PutMapping(ctx, name, []byte(`{"properties":{"n":{"type":"long"}}}`)))
	if all, err := c.Indices(ctx, name); err != nil || !strings.Contains(string(all[name].Mappings), `"_meta":{"by":"m 1"}`) { // what it was made with, also when fields come
		t.Errorf("%s, %v", all[name].Mappings, err)
	}
	must(t, c.PutSettings(ctx, name, map[string]any{"index.refresh_interval": "-1"}))
	settings, err := c.Settings(ctx, name)
	must(t, err)
	if settings["index.refresh_interval"] != "-1" || settings["index.number_of_shards"] != "2" {
		t.Errorf("settings: %v", settings)
	}
	must(t, c.PutSettings(ctx, name, map[string]any{"index.refresh_interval": nil}))
	if settings, err = c.Settings(ctx, name); err != nil || settings["index.refresh_interval"] != nil {
		t.Errorf("settings: %v %v", settings, err)
	}
	must(t, c.ChangeAliases(ctx, []cluster.AliasAction{
		{Index: name, Alias: name + "-first", Remove: true},
		{Index: name, Alias: name + "-now", More: json.RawMessage(`{"filter":{"term":{"t":"x"}}}`)},
	}))
	aliases, err := c.Aliases(ctx, name)
	must(t, err)
	if len(aliases[name]) != 1 || aliases[name][name+"-now"] == nil {
		t.Errorf("aliases: %v", aliases)
	}
	found, err := c.Indices(ctx, name+"*")
	must(t, err)
	if len(found) != 1 || len(found[name].Mappings) < 10 || found[name].Settings["index.number_of_shards"] != "2" {
		t.Errorf("indices: %v", found)
	}
	if found, err = c.Indices(ctx, name+"-none"); err != nil || len(found) != 0 {
		t.Errorf("indices: %v %v", found, err)
	}
	stats, err := c.Stats(ctx, name)
	must(t, err)
	if len(stats) != 1 || stats[0].Shards != 2 || !stats[0].Open || stats[0].UUID == "" {
		t.Errorf("stats: %+v", stats)
	}
	if _, err := c.Stats(ctx, name+"-none"); !fault.Is(err, fault.NotFound) {
		t.Errorf("stats of none: %v", err)
	}
	must(t, c.DeleteIndex(ctx, name))
	must(t, c.DeleteIndex(ctx, name))
}

// operationsThatAreRefused are told one by one, and the others are applied.
func operationsThatAreRefused(t *testing.T, c *cluster.Client, name string) {
	ctx := t.Context()
	must(t, c.DeleteIndex(ctx, name))
	t.Cleanup(func() { _ = c.DeleteIndex(context.WithoutCancel(ctx), name) })
	must(t, c.CreateIndex(ctx, name, []byte(`{"settings":{"number_of_shards":1,"number_of_replicas":0},"mappings":{"properties":{"n":{"type":"long"}}}}`)))
	w, err := c.NewWriter(ctx, cluster.WriterOptions{})
	must(t, err)
	long := make([]byte, 513)
	for i := range long {
		long[i] = 'x'
	}
	batch := &cluster.Batch{}
	for _, op := range []cluster.Op{
		{ID: []byte("a"), Version: 5, Source: []byte(`{"n":1}`)},
		{ID: []byte("a"), Version: 4, Source: []byte(`{"n":2}`)},
		{ID: []byte("a"), Version: 5, Source: []byte(`{"n":3}`)},
		{ID: []byte("b"), Version: 5, Source: []byte(`{"n":"words"}`)},
		{ID: []byte("c"), Version: 5, Source: []byte(`{"n":}`)},
		{ID: long, Version: 5, Source: []byte(`{"n":4}`)},
		{ID: []byte("d"), Version: 5, Action: cluster.Delete},
		{ID: []byte("a"), Version: -1, Action: cluster.Create, Source: []byte(`{"n":5}`)},
		{ID: []byte("e"), Version: -1, Action: cluster.Create, Source: []byte(`{"n":6}`)},
	} {
		op.Index = name
		must(t, batch.Add(op))
	}
	r, err := w.Write(ctx, batch)
	must(t, err)
	if r.Acknowledged != 4 || len(r.Conflicts) != 2 || len(r.Failed) != 3 {
		t.Fatalf("%+v", r)
	}
	for _, f := range r.Conflicts {
		if f.ID != "a" || f.Status != 409 || f.Item != 1 && f.Item != 7 {
			t.Errorf("conflict %+v", f)
		}
	}
	for _, f := range r.Failed {
		if f.Item < 3 || f.Item > 5 || f.Index != name || f.Status != 400 || f.Reason == "" || f.Type == "" {
			t.Errorf("failure %+v", f)
		}
		if f.Item != 5 && f.Next == "" {
			t.Errorf("failure without an advice: %+v", f)
		}
	}
}

// readOnlyForAWhile is an index whose disk was full: the writer waits, says so,
// and goes on.
func readOnlyForAWhile(t *testing.T, c *cluster.Client, name string) {
	ctx := t.Context()
	must(t, c.DeleteIndex(ctx, name))
	t.Cleanup(func() { _ = c.DeleteIndex(context.WithoutCancel(ctx), name) })
	must(t, c.CreateIndex(ctx, name, []byte(`{"settings":{"number_of_shards":1,"number_of_replicas":0}}`)))
	must(t, c.PutSettings(ctx, name, map[string]any{"index.blocks.read_only_allow_delete": true}))
	board := &waits.Board{}
	w, err := c.NewWriter(ctx, cluster.WriterOptions{})
	must(t, err)
	batch := &cluster.Batch{}
	must(t, batch.Add(cluster.Op{Index: name, ID: []byte("a"), Version: 1, Source: []byte(`{}`)}))
	done := make(chan error, 1)
	must(t, w.Start(board.Watch(ctx), batch, func(r cluster.Result, err error) {
		if r.Acknowledged != 1 {
			t.Errorf("%+v", r)
		}
		done <- err
	}))
	for len(board.Waits(0)) == 0 {
		time.Sleep(time.Millisecond)
	}
	if why := board.Waits(0)[0]; !strings.Contains(why.Cause, "cluster_block_exception") || why.Next == "" || why.Again.IsZero() {
		t.Errorf("it waits: %+v", why)
	}
	must(t, c.PutSettings(ctx, name, map[string]any{"index.blocks.read_only_allow_delete": nil}))
	must(t, <-done)
	if all := board.Waits(0); len(all) != 0 {
		t.Errorf("it goes on, and waits: %+v", all)
	}
}

func templates(t *testing.T, c *cluster.Client, name string) {
	ctx := t.Context()
	for kind, body := range map[cluster.TemplateKind]string{
		cluster.LegacyTemplate:     `{"index_patterns":["` + name + `-zzz*"],"order":3,"settings":{"number_of_shards":1}}`,
		cluster.ComposableTemplate: `{"index_patterns":["` + name + `-yyy*"],"priority":731}`,
		cluster.ComponentTemplate:  `{"template":{"settings":{"number_of_shards":1}}}`,
	} {
		must(t, c.DeleteTemplate(ctx, kind, name))
		err := c.CreateTemplate(ctx, kind, name, []byte(body))
		if server, asked := c.Server(ctx); kind != cluster.LegacyTemplate && fault.Is(err, fault.Refused) && asked == nil && !server.Elastic(7, 8) && !server.Open(1, 0) {
			continue
		}
		must(t, err)
		if err := c.CreateTemplate(ctx, kind, name, []byte(body)); !cluster.Exists(err) {
			t.Errorf("%s made twice: %v, kind %v", kind, err, fault.KindOf(err))
		}
		found, err := c.Templates(ctx, kind, name)
		must(t, err)
		if len(found) != 1 || !json.Valid(found[name]) {
			t.Errorf("%s: %s", kind, found)
		}
		must(t, c.DeleteTemplate(ctx, kind, name))
		must(t, c.CreateTemplate(ctx, kind, name, found[name])) // what is read can be written
		must(t, c.DeleteTemplate(ctx, kind, name))
		must(t, c.DeleteTemplate(ctx, kind, name))
		if found, err := c.Templates(ctx, kind, name); err != nil || len(found) != 0 {
			t.Errorf("%s after its end: %v %v", kind, found, err)
		}
	}
}

func streams(t *testing.T, c *cluster.Client, name string) {
	ctx := t.Context()
	if err := c.DeleteDataStream(ctx, name); fault.Is(err, fault.Refused) {
		found, err := c.DataStreams(ctx, name)
		must(t, err)
		if len(found) > 0 {
			t.Errorf("streams: %v", found)
		}
		t.Skip("a distribution without data streams")
	}
	body := []byte(`{"index_patterns":["` + name + `"],"priority":977,"data_stream":{},"template":{"settings":{"number_of_shards":1,"number_of_replicas":0}}}`)
	if err := c.CreateTemplate(ctx, cluster.ComposableTemplate, name, body); err != nil {
		t.Logf("no data streams: %v", err)
		return
	}
	t.Cleanup(func() { _ = c.DeleteTemplate(context.WithoutCancel(ctx), cluster.ComposableTemplate, name) })
	if err := c.CreateDataStream(ctx, name); err != nil {
		t.Logf("no data streams: %v", err)
		return
	}
	t.Cleanup(func() { _ = c.DeleteDataStream(context.WithoutCancel(ctx), name) })
	if err := c.CreateDataStream(ctx, name); !cluster.Exists(err) {
		t.Errorf("made twice: %v, kind %v", err, fault.KindOf(err))
	}
	must(t, c.Rollover(ctx, name))
	found, err := c.DataStreams(ctx, name)
	must(t, err)
	if len(found) != 1 || found[0].Name != name || len(found[0].Indices) != 2 {
		t.Errorf("streams: %+v", found)
	}
	w, err := c.NewWriter(ctx, cluster.WriterOptions{})
	must(t, err)
	batch := &cluster.Batch{}
	must(t, batch.Add(cluster.Op{Action: cluster.Create, Index: name, ID: []byte("a"), Version: -1, Source: []byte(`{"@timestamp":"2024-01-01T00:00:00Z"}`)}))
	for range 2 {
		r, err := w.Write(ctx, batch)
		must(t, err)
		if r.Acknowledged+len(r.Conflicts) != 1 {
			t.Errorf("%+v", r)
		}
	}
	ensured(t, c, w, found[0].Indices[0])
}

func disks(t *testing.T, c *cluster.Client) {
	disk, err := c.Disk(t.Context())
	must(t, err)
	who, _ := c.Server(t.Context())
	if who.Product != cluster.Reshelve && (len(disk.Nodes) != 1 || disk.Nodes[0].Total <= 0 || disk.Nodes[0].Available <= 0) {
		t.Errorf("disk: %+v", disk)
	}
	if low, flood := disk.Low(1000), disk.Flood(1000); low > flood || flood > 1000 {
		t.Errorf("watermarks of 1000 bytes: %d, %d", low, flood)
	}
	open, most, err := c.Shards(t.Context())
	must(t, err)
	if open < 0 || most < 1 {
		t.Errorf("%d shards of %d", open, most)
	}
	if health, err := c.Health(t.Context(), ""); err != nil || health == "" {
		t.Errorf("health %q %v", health, err)
	}
	if _, err := c.Pipelines(t.Context()); err != nil {
		t.Error(err)
	}
}

func snapshots(t *testing.T, c *cluster.Client, name, repos string) {
	ctx := t.Context()
	index := name + "-index"
	must(t, c.CreateIndex(ctx, index, []byte(`{"settings":{"number_of_shards":2,"number_of_replicas":0}}`)))
	t.Cleanup(func() { _ = c.DeleteIndex(context.WithoutCancel(ctx), index) })
	repository := cluster.Repository{Type: "fs", Settings: map[string]any{"location": repos + "/" + name, "compress": true}}
	for _, want := range []bool{true, false} {
		made, err := c.RegisterRepository(ctx, name, repository)
		must(t, err)
		if made != want {
			t.Errorf("registered: %v", made)
		}
	}
	if _, err := c.RegisterRepository(ctx, name, cluster.Repository{Type: "fs", Settings: map[string]any{"location": repos + "/other"}}); !fault.Is(err, fault.Conflict) {
		t.Errorf("registered over another: %v", err)
	}
	if _, err := c.RegisterRepository(ctx, name+"-bad", cluster.Repository{Type: "fs", Settings: map[string]any{"location": "/nowhere/x"}}); !fault.Is(err, fault.Refused) || fault.Next(err) == "" {
		t.Errorf("registered outside path.repo: %v, kind %v, next %q", err, fault.KindOf(err), fault.Next(err))
	}
	must(t, c.CreateSnapshot(ctx, name, "one", cluster.SnapshotOptions{Indices: []string{index}, Metadata: map[string]any{"by": "reshelve"}}))
	s, err := c.AwaitSnapshot(ctx, name, "one", 100*time.Millisecond, nil)
	must(t, err)
	if s.Shards != 2 || s.ShardsDone != 2 || s.Metadata["by"] != "reshelve" || len(s.Indices) != 1 {
		t.Errorf("snapshot: %+v", s)
	}
	if err := c.CreateSnapshot(ctx, name, "one", cluster.SnapshotOptions{}); !cluster.Exists(err) {
		t.Errorf("made twice: %v, kind %v", err, fault.KindOf(err))
	}
	if _, err := c.Snapshot(ctx, name, "two"); !fault.Is(err, fault.NotFound) {
		t.Errorf("none: %v, kind %v", err, fault.KindOf(err))
	}
	if _, err := c.Snapshot(ctx, name+"-none", "two"); !fault.Is(err, fault.NotFound) {
		t.Errorf("none: %v, kind %v", err, fault.KindOf(err))
	}
	must(t, c.DeleteSnapshot(ctx, name, "one"))
	must(t, c.DeleteSnapshot(ctx, name, "one"))
	must(t, c.ForgetRepository(ctx, name))
	must(t, c.ForgetRepository(ctx, name))
}

// TestLiveSharedDoesEverything asks the server at RESHELVE_LIVE_AT.
func TestLiveSharedDoesEverything(t *testing.T) {
	at := os.Getenv("RESHELVE_LIVE_AT")
	if at == "" {
		t.Skip("RESHELVE_LIVE_AT names a real server")
	}
	c, err := cluster.Open(t.Context(), cluster.Options{URL: at})
	must(t, err)
	everything(t, c, "clu-shared", "")
}

// ensured: an index behind a data stream that is not the newest takes a document that is not
// there, routed too, and keeps what is.
func ensured(t *testing.T, c *cluster.Client, w *cluster.Writer, index string) {
	ctx := t.Context()
	source := []byte(`{"@timestamp":"2024-01-01T00:00:00Z", "n":1.50,
		"list":[null,{"t":"\u00e9"}], "z":0}`)
	for turn, want := range []cluster.Result{{Acknowledged: 2}, {Conflicts: make([]cluster.Failure, 2)}} {
		batch := &cluster.Batch{}
		must(t, batch.Add(cluster.Op{Action: cluster.Ensure, Index: index, ID: []byte("a"), Version: -1, Source: source}))
		must(t, batch.Add(cluster.Op{Action: cluster.Ensure, Index: index, ID: []byte("b"), Routing: []byte("r"), Version: -1, Source: source}))
		r, err := w.Write(ctx, batch)
		must(t, err)
		if r.Acknowledged != want.Acknowledged || len(r.Conflicts) != len(want.Conflicts) {
			t.Errorf("turn %d: %+v", turn, r)
		}
		source = []byte(`{"@timestamp":"2025-01-01T00:00:00Z"}`)
	}
	answer, err := c.Do(ctx, http.MethodGet, []string{index, "_doc", "b"}, url.Values{"routing": {"r"}}, nil)
	must(t, err)
	var stored struct {
		Source json.RawMessage `json:"_source"`
	}
	must(t, json.Unmarshal(answer, &stored))
	var had, have any
	must(t, json.Unmarshal([]byte(`{"@timestamp":"2024-01-01T00:00:00Z","n":1.5,"list":[null,{"t":"é"}],"z":0}`), &had))
	must(t, json.Unmarshal(stored.Source, &have))
	if !reflect.DeepEqual(had, have) {
		t.Errorf("%s", stored.Source)
	}
}
