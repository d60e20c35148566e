package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// everyWrite are operations of every kind that a movement sends, of new documents and of one that was seen.
func everyWrite(name string, seen cluster.Seen) []cluster.Op {
	doc, source := func(id string) []byte { return []byte(id) }, []byte(`{"n":1}`)
	return []cluster.Op{
		{Index: name, ID: doc("a"), Version: 7, Source: source},
		{Index: name, ID: doc("b"), Version: 7, Above: true, Source: source},
		{Index: name, ID: doc("c"), Version: -1, Source: source},
		{Index: name, ID: doc("d"), Version: -1, Action: cluster.Create, Source: source},
		{Index: name, ID: doc("e"), Version: -1, Action: cluster.Ensure, Source: source},
		{Index: name, ID: doc("f"), Version: 7, Action: cluster.Delete},
		{Index: name, ID: doc("s"), Version: -1, Seen: seen, Source: source},
		{Index: name, ID: doc("s"), Version: -1, Seen: seen, Action: cluster.Delete},
	}
}

// byAnAlias: an alias may have capital letters, and takes every write. Under its name no server makes an
// index: when it, or its index, is gone, each write fails as one whose name is nothing's.
func byAnAlias(t *testing.T, c *cluster.Client, name string) {
	ctx := t.Context()
	clean := func() { _ = c.DeleteIndex(context.WithoutCancel(ctx), name) }
	clean()
	t.Cleanup(clean)
	alias := name + "-Reshelve-0123abcd"
	must(t, c.CreateIndex(ctx, name, fmt.Appendf(nil, `{"settings":{"number_of_replicas":0},"aliases":{%q:{"is_hidden":true}}}`, alias)))
	index, err := c.Glance(ctx, name)
	must(t, err)
	if uuid, _ := index.Settings["index.uuid"].(string); uuid == "" || len(index.Aliases) != 1 || !strings.Contains(string(index.Aliases[alias]), `"is_hidden":true`) || index.Mappings != nil {
		t.Errorf("the index is %+v", index)
	}
	w, err := c.NewWriter(ctx, cluster.WriterOptions{})
	must(t, err)
	write := func(ops ...cluster.Op) (cluster.Result, error) {
		batch := &cluster.Batch{}
		for _, op := range ops {
			must(t, batch.Add(op))
		}
		return w.Write(ctx, batch)
	}
	_, err = write(cluster.Op{Index: alias, ID: []byte("s"), Version: 3, Source: []byte(`{"n":0}`)})
	must(t, err)
	there, err := c.Look(ctx, []cluster.Name{{Index: alias, ID: "s"}})
	must(t, err)
	if !there[0].Found || there[0].Version != 3 {
		t.Errorf("through the alias there is %+v", there)
	}
	for _, op := range everyWrite(alias, there[0].Seen) {
		if r, err := write(op); err != nil || r.Acknowledged+len(r.Conflicts) != 1 {
			t.Errorf("%v of %s: %+v, %v", op.Action, op.ID, r, err)
		}
	}
	nothing := func(when string) {
		t.Helper()
		for _, op := range everyWrite(alias, there[0].Seen) {
			if r, err := write(op); !cluster.Nameless(err) || r.Acknowledged+len(r.Failed) > 0 {
				t.Errorf("%s, %v of %s: %+v, %v", when, op.Action, op.ID, r, err)
			}
		}
		if made, err := c.IndexExists(ctx, alias); made || err != nil {
			t.Errorf("%s: an index of the alias's name is made: %v", when, err)
		}
	}
	remove := []cluster.AliasAction{{Index: name, Alias: alias, Remove: true}}
	must(t, c.ChangeAliases(ctx, remove))
	nothing("the alias is gone")
	if err := c.ChangeAliases(ctx, remove); !fault.Is(err, fault.NotFound) {
		t.Errorf("removed twice: %v", err)
	}
	if count, err := c.Count(ctx, name); err != nil || count != 6 {
		t.Errorf("%d documents, %v", count, err)
	}
	must(t, c.ChangeAliases(ctx, []cluster.AliasAction{{Index: name, Alias: alias, More: json.RawMessage(`{"is_hidden":true}`)}}))
	must(t, c.DeleteIndex(ctx, name))
	nothing("the index is gone")
	if made, err := c.IndexExists(ctx, name); made || err != nil {
		t.Errorf("the index is made again: %v", err)
	}
	if err := c.ChangeAliases(ctx, remove); !fault.Is(err, fault.NotFound) {
		t.Errorf("removed from nothing: %v", err)
	}
	if _, err := c.Glance(ctx, name); !fault.Is(err, fault.NotFound) {
		t.Errorf("a glance at nothing: %v", err)
	}
	if err := c.CreateTemplate(ctx, cluster.ComposableTemplate, name+"-stream", fmt.Appendf(nil, `{"index_patterns":["%s*"],"data_stream":{},"priority":900}`, name)); err == nil {
		nothing("a data stream would be made")
		must(t, c.DeleteTemplate(ctx, cluster.ComposableTemplate, name+"-stream"))
	} else {
		t.Logf("no data streams: %v", err)
	}
	if _, err := write(everyWrite(name, cluster.Seen{})[0]); err != nil { // or the server makes no indices at all
		t.Error(err)
	}
	if made, err := c.IndexExists(ctx, name); !made || err != nil {
		t.Errorf("under the index's own name nothing is made: %v", err)
	}
}
