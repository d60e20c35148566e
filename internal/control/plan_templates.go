package control

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
	"github.com/reshelve/reshelve/snapshot"
)

// TemplateRequest says which templates of a snapshot are moved: patterns for each kind; see
// [migrate.Choice] for what goes along without.
type TemplateRequest struct {
	Composable, Components, Legacy []string
	None                           bool // none at all
}

// Change is what a rule of package translate changes at one place.
type Change = translate.Change

// PreviewTemplate is what becomes of one template.
type PreviewTemplate struct {
	migrate.Template
	There bool `json:"there"` // the target has one of that name, and it is left as it is
	// Changes are what the rules of package translate make of it.
	Changes []translate.Change `json:"changes,omitempty"`

	body json.RawMessage // nil when it is there, or cannot be made
}

// planTemplates chooses the templates of a plan. A data stream that is appended to needs those of its own name.
func planTemplates(ctx context.Context, req *MigrateRequest, chosen selection, plan *migrate.Plan) ([]migrate.Template, error) {
	choice := migrate.Choice{None: req.Templates.None, Patterns: map[migrate.TemplateKind][]string{
		migrate.ComposableTemplate: req.Templates.Composable, migrate.ComponentTemplate: req.Templates.Components, migrate.LegacyTemplate: req.Templates.Legacy}}
	if choice.None {
		return nil, nil
	}
	if len(req.Indices) > 0 {
		choice.For = slices.Clone(chosen.names)
		for _, index := range plan.Indices {
			if index.Stream != nil {
				choice.For = append(choice.For, index.Stream.Name, index.Stream.From())
			}
		}
	}
	global, err := chosen.snapshot.Global(ctx)
	if err != nil {
		return nil, err
	}
	return choice.Templates(global)
}

// lookTemplates adds what becomes of the templates of the plan.
func lookTemplates(ctx context.Context, l *looking) (string, error) {
	global, err := l.snapshot.Global(ctx)
	if err != nil {
		return "", err
	}
	if l.Pipelines, err = pipelines(global); err != nil {
		return "", err
	}
	for _, t := range l.Plan.Templates {
		shown := PreviewTemplate{Template: t}
		if shown.There, err = migrate.TemplateExists(ctx, l.side.client, t); err != nil {
			return "", err
		}
		if !shown.There {
			body, err := migrate.TranslateTemplate(ctx, l.snapshot, global, l.side.client, l.Plan.Metadata, t)
			if err := l.fail(err); err != nil {
				return "", err
			}
			shown.Changes, shown.body = body.Changes, body.JSON
			if lost := losses(shown.Changes); lost != "" && !l.req.Yes {
				l.refuse("accept that with --yes, or make "+t.Name+" on the target as you want it before", "%s %s loses meaning on the target: %s", t.Kind, t.Name, lost)
			}
		}
		l.Templates = append(l.Templates, shown)
	}
	return have(len(l.Templates), "template", "templates"), nil
}

// losses are the changes that lose meaning, in words; "" when none does.
func losses(changes []translate.Change) string {
	var lost []string
	for _, change := range changes {
		if change.Loses && !migrate.OfAliases(change.Rule) { // of those there is a check of its own
			lost = append(lost, change.Where+": "+change.What)
		}
	}
	return strings.Join(lost, "; ")
}

// pipelines are the names of the ingest pipelines of a snapshot.
func pipelines(g *snapshot.Global) ([]string, error) {
	if len(g.Ingest) == 0 {
		return nil, nil
	}
	var stored struct {
		Pipeline []struct {
			ID string `json:"id"`
		} `json:"pipeline"`
	}
	if err := json.Unmarshal(g.Ingest, &stored); err != nil {
		return nil, fault.New(fault.Corrupt, "the ingest pipelines of the snapshot are not understood: %w", err)
	}
	var names []string
	for _, p := range stored.Pipeline {
		names = append(names, p.ID)
	}
	slices.Sort(names)
	return names, nil
}
