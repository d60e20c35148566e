package control

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/reshelve/reshelve/cluster"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/migrate"
)

// probe is a request that every server refuses, whatever it holds, but only after it has
// looked whether we may make such requests.
type probe struct {
	right  string
	method string
	path   []string
	params url.Values
	body   string
}

// probes are those of the rights that a plan needs: an index of no shards and a template of
// nothing are never made, and a bulk request that requires an alias, where there is none,
// writes nothing.
func (p *Preview) probes() (all []probe) {
	for _, index := range p.Indices {
		if !index.There && !strings.HasPrefix(index.Target, ".") {
			all = append(all,
				probe{"create index " + index.Target, http.MethodPut, []string{index.Target}, nil, `{"settings":{"index.number_of_shards":0}}`},
				probe{"write to index " + index.Target, http.MethodPost, []string{index.Target, "_bulk"}, url.Values{"require_alias": {"true"}},
					`{"create":{"_id":"0"}}` + "\n{}\n"})
			break
		}
	}
	asked := map[migrate.TemplateKind]bool{}
	for _, t := range p.Templates {
		if t.There || asked[t.Kind] {
			continue
		}
		asked[t.Kind] = true
		kind := map[migrate.TemplateKind]cluster.TemplateKind{migrate.ComponentTemplate: cluster.ComponentTemplate,
			migrate.ComposableTemplate: cluster.ComposableTemplate, migrate.LegacyTemplate: cluster.LegacyTemplate}[t.Kind]
		all = append(all, probe{"create " + string(t.Kind) + " " + t.Name, http.MethodPut, []string{string(kind), t.Name}, url.Values{"create": {"true"}},
			noTemplate[t.Kind]})
	}
	return all
}

// noTemplate are bodies that are understood, and refused for the number of shards.
var noTemplate = map[migrate.TemplateKind]string{
	migrate.ComponentTemplate:  `{"template":{"settings":{"index.number_of_shards":0}}}`,
	migrate.ComposableTemplate: `{"index_patterns":["reshelve-looks-whether-it-may"],"template":{"settings":{"index.number_of_shards":0}}}`,
	migrate.LegacyTemplate:     `{"index_patterns":["reshelve-looks-whether-it-may"],"settings":{"index.number_of_shards":0}}`,
}

// lookRights asks whether we may do what the plan needs.
func lookRights(ctx context.Context, l *looking) (string, error) {
	if l.req.folder() {
		return "a folder needs none", nil
	}
	var may []string
	for _, p := range l.probes() {
		answer, err := l.side.client.Do(ctx, p.method, p.path, p.params, []byte(p.body))
		if err == nil {
			err = l.refusedItem(ctx, p, answer)
		}
		switch {
		case fault.Is(err, fault.Unauthorised):
			if fault.Next(err) == "" {
				err = fault.WithNext(err, "give these credentials the rights that the reason names")
			}
			if err := l.fail(fault.At(err, p.right)); err != nil {
				return "", err
			}
			continue
		case err != nil && !fault.Is(err, fault.Refused) && !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Conflict):
			return "", fault.At(err, p.right)
		}
		may = append(may, p.right)
	}
	if len(may) == 0 {
		return "", nil
	}
	return "may " + strings.Join(may, ", "), nil
}

// refusedItem is what a server that took a probe says of its one item. What should not have
// been made is taken away at once.
func (l *looking) refusedItem(ctx context.Context, p probe, answer []byte) error {
	if p.method == http.MethodPut {
		_, err := l.side.client.Do(ctx, http.MethodDelete, p.path, nil, nil)
		return err
	}
	var bulk struct {
		Items []map[string]struct {
			Status int `json:"status"`
			Error  struct {
				Reason string `json:"reason"`
			} `json:"error"`
		} `json:"items"`
	}
	if err := json.Unmarshal(answer, &bulk); err != nil {
		return fault.New(fault.Corrupt, "the answer is not understood: %w", err)
	}
	for _, item := range bulk.Items {
		for _, done := range item {
			if done.Status == http.StatusForbidden || done.Status == http.StatusUnauthorized {
				return fault.WithNext(fault.New(fault.Unauthorised, "%s", done.Error.Reason), "give these credentials the rights that the reason names")
			}
		}
	}
	return nil
}

// folder tells whether the target is a folder of this machine.
func (r *MigrateRequest) folder() bool {
	return !strings.HasPrefix(r.Target, "http://") && !strings.HasPrefix(r.Target, "https://")
}
