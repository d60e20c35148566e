package control

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// Bounds of what is asked: a plan may have any number of indices.
const (
	mostCreated = 50   // indices that are asked for one by one
	mostWritten = 1000 // indices in one request
)

// probe is a request that every server refuses, whatever it holds, but only after it has
// looked whether we may make such requests.
type probe struct {
	right string
	path  []string
	query url.Values
	body  string
}

// names are those on the target: created of what is made, but for those with a dot, which servers
// treat in ways of their own; there are those that are there.
func (p *Preview) names() (created, there []string) {
	for _, index := range p.Indices {
		targets := index.Targets
		if len(targets) == 0 {
			targets = []string{index.Target}
		}
		for _, name := range targets {
			switch {
			case strings.HasPrefix(name, "."):
			case index.There:
				there = append(there, name)
			default:
				created = append(created, name)
			}
		}
	}
	slices.Sort(created)
	slices.Sort(there)
	return slices.Compact(created), slices.Compact(there)
}

// probes are those of the right to create: an index of no shards, with an alias as a movement's own, and a
// template of nothing are never made. The right to make a template is one for all of a kind.
func (p *Preview) probes(created []string) (all []probe) {
	for _, name := range created[:min(len(created), mostCreated)] {
		alias, _ := json.Marshal(strings.TrimSuffix(migrate.AliasPattern(name), "*") + "00000000") // a string
		all = append(all, probe{"create index " + name, []string{name}, nil, fmt.Sprintf(`{"settings":{"index.number_of_shards":0},"aliases":{%s:{}}}`, alias)})
	}
	asked := map[migrate.TemplateKind]bool{}
	for _, t := range p.Templates {
		if t.There || asked[t.Kind] {
			continue
		}
		asked[t.Kind] = true
		kind := map[migrate.TemplateKind]cluster.TemplateKind{migrate.ComponentTemplate: cluster.ComponentTemplate,
			migrate.ComposableTemplate: cluster.ComposableTemplate, migrate.LegacyTemplate: cluster.LegacyTemplate}[t.Kind]
		all = append(all, probe{"create " + string(t.Kind) + " " + t.Name, []string{string(kind), t.Name}, url.Values{"create": {"true"}}, noTemplate[t.Kind]})
	}
	return all
}

// noTemplate are bodies that are understood, and refused for the number of shards.
var noTemplate = map[migrate.TemplateKind]string{
	migrate.ComponentTemplate:  `{"template":{"settings":{"index.number_of_shards":0}}}`,
	migrate.ComposableTemplate: `{"index_patterns":["reshelve-looks-whether-it-may"],"template":{"settings":{"index.number_of_shards":0}}}`,
	migrate.LegacyTemplate:     `{"index_patterns":["reshelve-looks-whether-it-may"],"settings":{"index.number_of_shards":0}}`,
}

// lookRights asks whether we may do what the plan needs, of every index.
func lookRights(ctx context.Context, l *looking) (string, error) {
	if l.req.folder() {
		return "a folder needs none", nil
	}
	created, there := l.names()
	told, err := l.tellsRights(ctx, created, there)
	if err != nil {
		return "", err
	}
	var may []string
	if told {
		if len(l.done.Problems) == 0 {
			may = append(may, "create, write to and read "+have(len(created)+len(there), "index", "indices"))
		}
		created = nil
	}
	some, err := l.mayCreate(ctx, created)
	if err != nil {
		return "", err
	}
	may = append(may, some...)
	if some, err = l.mayWrite(ctx, created); err != nil {
		return "", err
	}
	may = append(may, some...)
	if len(may) == 0 {
		return "", nil
	}
	return "may " + strings.Join(may, ", "), nil
}

// lacks makes a problem of rights that are missing; the reason is the server's.
func (l *looking) lacks(right string, err error) error {
	if fault.Next(err) == "" {
		err = fault.WithNext(err, "give these credentials the rights that the reason names")
	}
	return l.fail(fault.At(err, right))
}

// mayCreate sends the probes of what is made, and tells which rights there are.
func (l *looking) mayCreate(ctx context.Context, created []string) (may []string, err error) {
	var indices []string
	for _, p := range l.probes(created) {
		_, err := l.side.client.Do(ctx, http.MethodPut, p.path, p.query, []byte(p.body))
		if err == nil { // a strange server: what should not have been made is taken away at once
			_, err = l.side.client.Do(ctx, http.MethodDelete, p.path, nil, nil)
		}
		switch {
		case fault.Is(err, fault.Unauthorised):
			if err := l.lacks(p.right, err); err != nil {
				return nil, err
			}
		case err != nil && !fault.Is(err, fault.Refused) && !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Conflict):
			return nil, fault.At(err, p.right)
		case len(p.path) == 1:
			indices = append(indices, p.path[0])
		default:
			may = append(may, p.right)
		}
	}
	if len(indices) > 0 {
		text := "create index " + listed(indices)
		if len(created) > mostCreated {
			text += fmt.Sprintf(" (%d of %d were asked for)", mostCreated, len(created))
		}
		may = append([]string{text}, may...)
	}
	return may, nil
}

// mayWrite asks by one bulk request that requires an alias where there is none: it writes
// nothing, and each of its items tells what is missing.
func (l *looking) mayWrite(ctx context.Context, created []string) (may []string, err error) {
	created = created[:min(len(created), mostWritten)]
	if len(created) == 0 {
		return nil, nil
	}
	var body bytes.Buffer
	for _, name := range created {
		action, err := json.Marshal(map[string]any{"create": map[string]string{"_index": name, "_id": "0"}})
		if err != nil {
			return nil, fault.Wrap(fault.Bug, err)
		}
		fmt.Fprintf(&body, "%s\n{}\n", action)
	}
	answer, err := l.side.client.Do(ctx, http.MethodPost, []string{"_bulk"}, url.Values{"require_alias": {"true"}}, body.Bytes())
	switch {
	case fault.Is(err, fault.Unauthorised):
		return nil, l.lacks("write to index "+listed(created), err)
	case err != nil && !fault.Is(err, fault.Refused) && !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Conflict):
		return nil, fault.At(err, "write to index "+listed(created))
	}
	var bulk struct {
		Items []map[string]struct {
			Status int `json:"status"`
			Error  struct {
				Reason string `json:"reason"`
			} `json:"error"`
		} `json:"items"`
	}
	if err == nil {
		if err := json.Unmarshal(answer, &bulk); err != nil {
			return nil, fault.New(fault.Corrupt, "the answer is not understood: %w", err)
		}
	}
	barred, reason := map[string]bool{}, ""
	for i, item := range bulk.Items {
		for _, done := range item {
			if (done.Status == http.StatusForbidden || done.Status == http.StatusUnauthorized) && i < len(created) {
				barred[created[i]], reason = true, done.Error.Reason
			}
		}
	}
	if len(barred) > 0 {
		err := fault.New(fault.Unauthorised, "%s", reason)
		if err := l.lacks("write to index "+listed(slices.Sorted(maps.Keys(barred))), err); err != nil {
			return nil, err
		}
	}
	created = slices.DeleteFunc(created, func(name string) bool { return barred[name] })
	if len(created) == 0 {
		return nil, nil
	}
	return []string{"write to index " + listed(created)}, nil
}

// folder tells whether the target is a folder of this machine.
func (r *MigrateRequest) folder() bool {
	return !strings.HasPrefix(r.Target, "http://") && !strings.HasPrefix(r.Target, "https://")
}
