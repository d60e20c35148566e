package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/snapshot"
)

// TemplateState is what became of a template.
type TemplateState string

// The states.
const (
	TemplateMade    TemplateState = "made"
	TemplateThere   TemplateState = "there"   // the target had one of that name, which is left as it is
	TemplateRefused TemplateState = "refused" // by the rules, or by the target
)

// TemplateProgress is a template of the plan, and what became of it.
type TemplateProgress struct {
	Template
	State TemplateState `json:"state"`
	Cause string        `json:"cause,omitempty"` // of TemplateRefused
}

// firstTemplates makes the templates that the data streams of the plan need. All others are made after the
// indices, so that no template of the same movement adds anything to an index of the snapshot.
func (t *turn) firstTemplates(ctx context.Context) (string, error) {
	late := slices.ContainsFunc(t.movement.Phases, func(p movement.Phase) bool { return p.Name == phaseTemplates })
	if !late { // a movement that an earlier version has begun
		return t.makeTemplates(ctx, func(Template) bool { return true })
	}
	first, err := t.ofStreams(ctx)
	if err == nil && len(first) == 0 {
		return "no data stream needs a template", nil
	}
	if err != nil {
		return "", err
	}
	return t.makeTemplates(ctx, func(template Template) bool { return first[template] })
}

// otherTemplates makes the templates that firstTemplates has not made.
func (t *turn) otherTemplates(ctx context.Context) (string, error) {
	first, err := t.ofStreams(ctx)
	if err != nil {
		return "", err
	}
	return t.makeTemplates(ctx, func(template Template) bool { return !first[template] })
}

// ofStreams are the templates of the plan that its data streams need, with their components.
func (t *turn) ofStreams(ctx context.Context) (map[Template]bool, error) {
	if len(t.streams) == 0 || len(t.plan.Templates) == 0 {
		return nil, nil
	}
	global, err := t.snapshot.Global(ctx)
	if err != nil {
		return nil, err
	}
	return StreamTemplates(global, t.plan.Templates)
}

// makeTemplates makes those templates of the plan, in their order. One that cannot be made does not
// keep the others from being made; the phase then fails, and resume tries those again.
func (t *turn) makeTemplates(ctx context.Context, which func(Template) bool) (string, error) {
	count, refused := map[TemplateState]int{}, []string{}
	var global *snapshot.Global
	for _, template := range t.plan.Templates {
		if !which(template) {
			continue
		}
		if global == nil {
			var err error
			if global, err = t.snapshot.Global(ctx); err != nil {
				return "", err
			}
		}
		state, err := t.makeTemplate(ctx, global, template)
		done := TemplateProgress{Template: template, State: state}
		if fault.Is(err, fault.Refused) || fault.Is(err, fault.Corrupt) {
			done.State, done.Cause = TemplateRefused, err.Error()
			refused = append(refused, fmt.Sprintf("%s %s: %s", template.Kind, template.Name, done.Cause))
		} else if err != nil {
			return "", err
		}
		count[done.State]++
		if err := t.Driver.Put(ctx, t.key("template", work.Safe(string(template.Kind)), work.Safe(template.Name)), done); err != nil {
			return "", err
		}
	}
	if len(refused) > 0 {
		return "", fault.New(fault.Refused, "%s; make what the movement cannot make on the target, and resume it", strings.Join(refused, "; "))
	}
	text := counted(count[TemplateMade], "templates") + " made"
	if n := count[TemplateThere]; n > 0 {
		text += fmt.Sprintf(", %d there already and left as they are", n)
	}
	return text, nil
}

// makeTemplate makes one template, unless the target has one of its name.
func (t *turn) makeTemplate(ctx context.Context, global *snapshot.Global, template Template) (TemplateState, error) {
	ours := movement.Entry{Kind: string(template.Kind), Name: template.Name, Keep: true, By: t.Worker}
	there, err := TemplateExists(ctx, t.target, template)
	if err != nil {
		return "", err
	}
	if there {
		e, err := t.inLedger(ctx, ours.Kind, ours.Name)
		switch {
		case err != nil:
			return "", err
		case e != nil && e.Made:
			return TemplateMade, nil
		}
		return TemplateThere, nil // also what an attempt before has perhaps made: nothing proves it
	}
	body, err := TranslateTemplate(ctx, t.snapshot, global, t.target, t.plan.Metadata, template)
	if err != nil {
		return "", err
	}
	if err := t.Driver.Intend(ctx, t.movement.ID, ours); err != nil {
		return "", err
	}
	err = t.target.CreateTemplate(ctx, template.Kind.onTarget(), template.Name, body.JSON)
	if err == nil {
		return TemplateMade, t.madeTemplate(ctx, ours)
	}
	stranger := cluster.Exists(err) && fault.Next(err) == "" // no attempt before may have made it
	if stranger || fault.Is(err, fault.Refused) {            // nothing of ours was made, and what is made of that name later is not ours
		if e := t.Driver.Strike(ctx, t.movement.ID, ours); e != nil || stranger {
			return TemplateThere, e
		}
	}
	return "", err
}

// madeTemplate writes down that a template was made, and what the target shows of it.
func (t *turn) madeTemplate(ctx context.Context, e movement.Entry) error {
	shown, err := t.shownTemplate(ctx, &e)
	if err != nil {
		return err
	}
	return t.Driver.Made(ctx, t.movement.ID, e, shown)
}

// shownTemplate is a fingerprint of a template as the target shows it; "" when there is none.
func (t *turn) shownTemplate(ctx context.Context, e *movement.Entry) (string, error) {
	found, err := t.target.Templates(ctx, TemplateKind(e.Kind).onTarget(), e.Name)
	body, there := found[e.Name]
	if err != nil || !there {
		return "", err
	}
	var f document.Fingerprinter
	return f.Of([]byte(e.Name), nil, body).String(), nil
}

// TemplateExists tells whether the target has a template of that kind and name.
func TemplateExists(ctx context.Context, target *cluster.Client, template Template) (bool, error) {
	found, err := target.Templates(ctx, template.Kind.onTarget(), template.Name)
	return len(found) > 0, err
}

// removeTemplate takes a template away that the movement made, unless somebody has changed it,
// or nothing proves that it is the movement's, or the target needs it for a data stream.
func (t *turn) removeTemplate(ctx context.Context, e *movement.Entry) (left string, err error) {
	shown, err := t.shownTemplate(ctx, e)
	thing := e.Kind + " " + e.Name
	switch {
	case err != nil || shown == "":
		return "", err
	case e.Made && shown != e.Identity:
		return thing + " is not any more as the movement made it: it was left alone", nil
	case !e.Made:
		return leftAlone(e, thing), nil
	}
	err = t.target.DeleteTemplate(ctx, TemplateKind(e.Kind).onTarget(), e.Name)
	if fault.Is(err, fault.Refused) && strings.Contains(err.Error(), "data stream") {
		return fmt.Sprintf("%s is what a data stream is made by that was left: it was left alone", thing), nil
	}
	return "", err
}

// templatesOfMovement are the templates of the plan and what became of them, in their order.
func templatesOfMovement(ctx context.Context, d *drive.Driver, id string, plan *Plan) ([]TemplateProgress, error) {
	if len(plan.Templates) == 0 {
		return nil, nil
	}
	records, err := drive.Pieces[TemplateProgress](ctx, d, work.Prefix(id)+"template/")
	if err != nil {
		return nil, err
	}
	all := make([]TemplateProgress, 0, len(plan.Templates))
	for _, template := range plan.Templates {
		done, ok := records[work.Safe(string(template.Kind))+"/"+work.Safe(template.Name)]
		if !ok {
			done = TemplateProgress{Template: template}
		}
		all = append(all, done)
	}
	return all, nil
}
