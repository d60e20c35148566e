package control

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// lookApplied adds to the preview what the templates of the target do to the indices that are created, and to the data
// streams that are appended to.
func lookApplied(ctx context.Context, l *looking) (string, error) {
	all, err := migrate.ReadTemplates(ctx, l.side.client)
	if fault.Is(err, fault.Unauthorised) || fault.Is(err, fault.Refused) {
		l.warn("let these credentials read templates (OpenSearch: indices:admin/template/get and indices:admin/index_template/get; Elasticsearch: manage_index_templates), or look at the templates yourself",
			"it is not known which templates of the target apply to the indices that are created: %v", err)
		return "", nil
	}
	if err != nil {
		return "", err
	}
	names, indices, streams := map[string]bool{}, 0, map[string]bool{}
	for i := range l.Indices {
		index := &l.Indices[i]
		if index.Stream != "" && !streams[index.Stream] {
			streams[index.Stream] = true
			if err := l.applied(l.withMoved(all), index, index.Stream, json.RawMessage(`{}`)); err != nil {
				return "", err
			}
		}
		for _, body := range index.bodies {
			if err := l.applied(all, index, body.Name, body.JSON); err != nil {
				return "", err
			}
		}
		for _, a := range index.Applied {
			for _, t := range a.Templates {
				names[string(t.Kind)+" "+t.Name] = true
			}
			if len(a.Templates) > 0 {
				indices++
			}
		}
	}
	if indices == 0 {
		return "none applies", nil
	}
	return fmt.Sprintf("%s to %s", applies(len(names)), have(indices, "index that is created", "indices that are created")), nil
}

func applies(n int) string {
	if n == 1 {
		return "1 applies"
	}
	return fmt.Sprintf("%d apply", n)
}

// withMoved are the templates of the target, and those of the plan that are made there before its data streams.
func (l *looking) withMoved(all *migrate.TargetTemplates) *migrate.TargetTemplates {
	for i := range l.Templates {
		if t := &l.Templates[i]; !t.There && t.body != nil && t.Kind != migrate.LegacyTemplate {
			all = all.With(t.Template, t.body)
		}
	}
	return all
}

// applied adds what templates do to one index or data stream, and refuses an index that cannot be created with them.
func (l *looking) applied(all *migrate.TargetTemplates, index *PreviewIndex, name string, body json.RawMessage) error {
	a, err := all.To(name, body)
	if err := l.fail(fault.At(err, "index "+name)); err != nil || a == nil {
		return err
	}
	if len(a.Templates) == 0 && a.DefaultPipeline == "" && a.FinalPipeline == "" {
		return nil
	}
	index.Applied = append(index.Applied, *a)
	for _, t := range a.Templates {
		if t.Streams && index.Stream == "" {
			l.refuse("give it another name with --rename, or append to the data stream with --data-streams append",
				"index %s: the target makes no index of that name, since its template %s makes data streams of such names", name, t.Name)
		}
	}
	for _, add := range a.Adds {
		if l.req.Yes || index.Stream != "" || !strings.HasPrefix(add.Where, "mappings._source") && !strings.HasPrefix(add.Where, "mappings._routing") {
			continue
		}
		l.refuse("take that out of the template until the index is made, or accept it with --yes: documents may be refused, or differ in the comparison",
			"index %s: template %s of the target adds %s: %s", name, add.Template, add.Where, add.What)
	}
	return nil
}

// asks is a request to the target, as a command that can be pasted into a shell.
func (l *looking) asks(method, path, body string) string {
	if l.req.folder() { // has an address only while a process serves it
		return fmt.Sprintf("%s /%s %s of the target", method, path, body)
	}
	return "curl" + arguments("-X", method, strings.TrimSuffix(l.req.Target, "/")+"/"+path, "-H", "Content-Type: application/json", "-d", body)
}
