package control

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// TestCopiesOf: what records tell of copies, the newest first; other kinds of movements tell nothing.
func TestCopiesOf(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	record := func(id string, rate string) movement.Record {
		return movement.Record{ID: id, Kind: movement.Migrate, Created: at, Rate: json.RawMessage(rate), Plan: json.RawMessage(`{"target":"http://a","indices":[{"source":"x"}]}`),
			Report: json.RawMessage(`{"read":10,"bytes":1000}`), Phases: []movement.Phase{{Name: "documents", Started: at, Ended: at.Add(time.Minute)}}}
	}
	free, limited, other := record("a", string(migrate.Limits{}.JSON())), record("c", `{"bytesPerSecond":5}`), record("b", "")
	other.Kind = movement.Comparison
	got := copiesOf([]movement.Record{free, other, limited})
	want := copying{id: "a", target: "http://a", documents: 10, bytes: 1000, took: time.Minute}
	if len(got) != 2 || got[1] != want || got[0].id != "c" || !got[0].limited {
		t.Errorf("%+v", got)
	}
}

// TestLikest: a rate is taken of the newest copy into the same target that is not much smaller, and of documents of about the same size.
func TestLikest(t *testing.T) {
	wanted := copying{target: "http://a", documents: 1_000_000, bytes: 1 << 30}
	same := copying{id: "same", target: "http://a", documents: 1_000_000, bytes: 1 << 30, took: time.Minute}
	but := func(change func(*copying)) copying {
		c := same
		c.id = "other"
		change(&c)
		return c
	}
	for name, c := range map[string]struct {
		first copying
		want  string
	}{
		"the newest":                 {but(func(*copying) {}), "other"},
		"a thousand times smaller":   {but(func(c *copying) { c.bytes, c.documents = c.bytes/1000, c.documents/1000 }), "same"},
		"a hundred times smaller":    {but(func(c *copying) { c.bytes, c.documents = c.bytes/100, c.documents/100 }), "other"},
		"a thousand times larger":    {but(func(c *copying) { c.bytes, c.documents = c.bytes*1000, c.documents*1000 }), "other"},
		"another target":             {but(func(c *copying) { c.target = "http://b" }), "same"},
		"larger documents":           {but(func(c *copying) { c.documents /= 50 }), "same"},
		"smaller documents":          {but(func(c *copying) { c.documents *= 50 }), "same"},
		"somewhat larger documents":  {but(func(c *copying) { c.documents /= 5 }), "other"},
		"a delta":                    {but(func(c *copying) { c.changes = true }), "same"},
		"a limited one":              {but(func(c *copying) { c.limited = true }), "same"},
		"a transformed one":          {but(func(c *copying) { c.transformed = true }), "same"},
		"one of a moment":            {but(func(c *copying) { c.took = time.Second }), "same"},
		"one that has not yet ended": {but(func(c *copying) { c.took = -time.Minute }), "same"},
		"one that has sent nothing":  {but(func(c *copying) { c.bytes, c.documents = 0, 0 }), "same"},
	} {
		if got := likest(wanted, []copying{c.first, same}); got == nil || got.id != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := likest(wanted, []copying{but(func(c *copying) { c.bytes /= 1000 })}); got != nil {
		t.Errorf("%+v", got)
	}
}
