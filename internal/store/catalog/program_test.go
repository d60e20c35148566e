package catalog_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// merge stands for package mapping.
func merge(_ map[string]string, list []json.RawMessage) ([]byte, error) {
	if len(list) == 0 {
		return []byte("{}"), nil
	}
	return list[len(list)-1], nil
}

// everywhere resolves patterns to everything.
var everywhere = catalog.Options{ExpandOpen: true, ExpandClosed: true, ExpandHidden: true, IgnoreUnavailable: true}

// program is a random sequence of edits, and what must hold of it.
type program struct {
	now    catalog.Catalog
	before []byte
	given  uint32 // the highest number that was given out
	writes catalog.Writing
}

// edit makes one edit, and checks that the catalog before it is untouched.
func (p *program) edit(t *rapid.T, what string, do func(c catalog.Catalog) (catalog.Catalog, error)) {
	next, err := do(p.now)
	if !bytes.Equal(p.now.Encode(), p.before) {
		t.Fatalf("%s changed the catalog that it was given", what)
	}
	if err != nil {
		return
	}
	p.now, p.before = next, next.Encode()
	p.written(t, what)
}

// written holds the writing of one catalog after the other to what each is by itself.
func (p *program) written(t *rapid.T, what string) {
	data, read, err := p.writes.Encode(p.now)
	whole, wrong := catalog.Decode(p.before)
	if err != nil || wrong != nil || !bytes.Equal(data, p.before) || !reflect.DeepEqual(read, whole) {
		t.Fatalf("after %s there is written\n%s, %v, which reads as\n%v, and not\n%s, %v:\n%v", what, data, err, read, p.before, wrong, whole)
	}
	if again, err := p.writes.Decode(data); err != nil || !reflect.DeepEqual(again, whole) {
		t.Fatalf("after %s there is read\n%v, %v", what, again, err)
	}
}

// create makes an index by templates and aliases, as a store does.
func (p *program) create(t *rapid.T, name string, add func(c catalog.Catalog, e catalog.Entry) (catalog.Catalog, error)) {
	entry := catalog.Entry{Number: p.now.NextIndex, UUID: fmt.Sprint("uuid-", p.now.NextIndex)}
	p.edit(t, "creating "+name, func(c catalog.Catalog) (catalog.Catalog, error) {
		next, err := add(c, entry)
		if err == nil {
			if entry.Number <= p.given {
				t.Fatalf("number %d is given out twice", entry.Number)
			}
			p.given = entry.Number
		}
		return next, err
	})
}

// TestRandomProgramsKeepTheInvariants: whatever is asked for, names have one meaning, numbers
// are given out once, an edit that is refused changes nothing, and storing keeps all.
func TestRandomProgramsKeepTheInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &program{now: catalog.New()}
		p.before = p.now.Encode()
		name := rapid.SampledFrom([]string{"a-1", "a-2", "b", "c", "x", "y", "s-1", "s-2", ".ds-s-1-000001", "a*", "_all", "A", ""})
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { p.check(t) },
			"create": func(t *rapid.T) {
				index, alias := name.Draw(t, "index"), name.Draw(t, "alias")
				request, err := catalog.ParseRequest([]byte(fmt.Sprintf(`{"aliases":{%q:{}}}`, alias)))
				if err != nil {
					t.Fatal(err)
				}
				creation, err := p.now.Compose(index, request)
				if err != nil {
					return
				}
				p.create(t, index, func(c catalog.Catalog, e catalog.Entry) (catalog.Catalog, error) {
					return c.WithIndex(index, e, creation.Aliases)
				})
			},
			"delete": func(t *rapid.T) {
				names, err := p.now.Resolve(catalog.Expression{Names: []string{name.Draw(t, "name")}, Options: everywhere}, 0)
				if err == nil {
					p.edit(t, "deleting", func(c catalog.Catalog) (catalog.Catalog, error) { return c.WithoutIndices(names) })
				}
			},
			"close": func(t *rapid.T) {
				names, err := p.now.Resolve(catalog.Expression{Names: []string{name.Draw(t, "name")}, Options: everywhere}, 0)
				closed := rapid.Bool().Draw(t, "closed")
				if err == nil {
					p.edit(t, "closing", func(c catalog.Catalog) (catalog.Catalog, error) {
						next, _, err := c.WithClosed(names, closed)
						return next, err
					})
				}
			},
			"aliases": func(t *rapid.T) {
				action := rapid.Custom(func(t *rapid.T) string {
					switch index, alias := name.Draw(t, "index"), name.Draw(t, "alias"); rapid.IntRange(0, 3).Draw(t, "verb") {
					case 0:
						return fmt.Sprintf(`{"remove":{"index":%q,"alias":%q}}`, index, alias)
					case 1:
						return fmt.Sprintf(`{"remove_index":{"index":%q}}`, index)
					default:
						return fmt.Sprintf(`{"add":{"index":%q,"alias":%q,"is_write_index":%t}}`, index, alias, rapid.Bool().Draw(t, "writes"))
					}
				})
				body := `{"actions":[`
				for i, a := range rapid.SliceOfN(action, 1, 3).Draw(t, "actions") {
					if i > 0 {
						body += ","
					}
					body += a
				}
				actions, err := catalog.ParseAliasActions([]byte(body + "]}"))
				if err != nil {
					return
				}
				p.edit(t, body, func(c catalog.Catalog) (catalog.Catalog, error) {
					next, _, err := c.ChangeAliases(actions, 0)
					return next, err
				})
			},
			"template": func(t *rapid.T) {
				stream := ""
				if rapid.Bool().Draw(t, "of streams") {
					stream = `,"data_stream":{}`
				}
				body := fmt.Sprintf(`{"index_patterns":[%q],"priority":%d,"template":{"aliases":{%q:{}}}%s}`, name.Draw(t, "pattern"), rapid.IntRange(0, 2).Draw(t, "priority"), name.Draw(t, "alias"), stream)
				template := name.Draw(t, "template")
				p.edit(t, body, func(c catalog.Catalog) (catalog.Catalog, error) {
					return c.WithComposable(template, []byte(body), false, merge)
				})
			},
			"no template": func(t *rapid.T) {
				template := name.Draw(t, "template")
				p.edit(t, "removing a template", func(c catalog.Catalog) (catalog.Catalog, error) { return c.WithoutComposable(template) })
			},
			"stream": func(t *rapid.T) {
				b, err := p.now.NewStream(name.Draw(t, "stream"))
				if err == nil {
					p.create(t, b.Index, func(c catalog.Catalog, e catalog.Entry) (catalog.Catalog, error) { return c.WithBacking(b, e) })
				}
			},
			"no stream": func(t *rapid.T) {
				stream := name.Draw(t, "stream")
				p.edit(t, "removing streams", func(c catalog.Catalog) (catalog.Catalog, error) {
					next, _, err := c.WithoutStreams([]string{stream})
					return next, err
				})
			},
			"roll over": func(t *rapid.T) { p.rollover(t, name.Draw(t, "target")) },
		})
	})
}

func (p *program) rollover(t *rapid.T, target string) {
	request, err := catalog.ParseRollover(nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.now.PlanRollover(target, "", request, func(index string) string { return index }, 0)
	if err != nil {
		return
	}
	creation := catalog.Creation{}
	if plan.Backing == nil {
		if creation, err = p.now.Compose(plan.New, request.Request); err != nil {
			return
		}
	}
	p.create(t, plan.New, func(c catalog.Catalog, e catalog.Entry) (catalog.Catalog, error) {
		next, err := c.WithRollover(plan, e, creation.Aliases)
		if err == nil {
			if index, _, _, err := next.WriteTarget(target); err != nil || index != plan.New {
				t.Fatalf("after the rollover of %s to %s writes go to %q: %v", target, plan.New, index, err)
			}
		}
		return next, err
	})
}

func (p *program) check(t *rapid.T) {
	if err := p.now.Check(); err != nil {
		t.Fatal(err)
	}
	back, err := catalog.Decode(p.before)
	if err != nil || !reflect.DeepEqual(back, p.now) {
		t.Fatalf("stored and read again: %v\n%+v\n%+v", err, back, p.now)
	}
	for name := range p.now.Aliases {
		if _, _, exists, _ := p.now.WriteTarget(name); !exists {
			t.Fatalf("nobody has the alias %s", name)
		}
	}
}

func TestADamagedCatalogIsRefused(t *testing.T) {
	good := catalog.Catalog{
		NextIndex: 9,
		Indices:   map[string]catalog.Entry{"i": {Number: 1}, "b": {Number: 2, Stream: "s"}},
		Aliases:   map[string]map[string]catalog.Alias{"a": {"i": {}}},
		Streams:   map[string]catalog.Stream{"s": {Indices: []string{"b"}}},
	}
	if _, err := catalog.Decode(good.Encode()); err != nil {
		t.Fatal(err)
	}
	for what, damage := range map[string]func(c *catalog.Catalog){
		"a number twice":            func(c *catalog.Catalog) { c.Indices["i"] = catalog.Entry{Number: 2} },
		"a number of tomorrow":      func(c *catalog.Catalog) { c.NextIndex = 2 },
		"an alias of nothing":       func(c *catalog.Catalog) { c.Aliases["a"] = nil },
		"an alias of nobody":        func(c *catalog.Catalog) { c.Aliases["a"] = map[string]catalog.Alias{"q": {}} },
		"an alias that is an index": func(c *catalog.Catalog) { c.Aliases["i"] = map[string]catalog.Alias{"i": {}} },
		"an alias of a stream":      func(c *catalog.Catalog) { c.Aliases["a"] = map[string]catalog.Alias{"s": {}} },
		"a stream that is an index": func(c *catalog.Catalog) { c.Streams["i"] = catalog.Stream{Indices: []string{"b"}} },
		"a stream without indices":  func(c *catalog.Catalog) { c.Streams["s"] = catalog.Stream{} },
		"a stream of nobody":        func(c *catalog.Catalog) { c.Streams["s"] = catalog.Stream{Indices: []string{"b", "q"}} },
		"a stranger's index":        func(c *catalog.Catalog) { c.Streams["s"] = catalog.Stream{Indices: []string{"i"}} },
	} {
		c, err := catalog.Decode(good.Encode())
		if err != nil {
			t.Fatal(err)
		}
		damage(&c)
		if _, err := catalog.Decode(c.Encode()); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := catalog.Decode([]byte("{")); !fault.Is(err, fault.Corrupt) {
		t.Errorf("%v", err)
	}
}
