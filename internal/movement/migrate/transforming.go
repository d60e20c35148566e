package migrate

import (
	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate/transform"
)

// failedTransformation is the type of failures of documents that a step could not change.
const failedTransformation = "transformation_failed"

// shapesOf are the transformations of a plan, by index of the source; an index that none
// concerns is missing, and its documents pass as they are.
func shapesOf(p *Plan) (map[string]*transform.Program, error) {
	if p.Transform == "" {
		return nil, nil
	}
	steps, err := transform.Parse([]byte(p.Transform))
	if err != nil {
		return nil, fault.At(err, "the plan's transformation")
	}
	all := map[string]*transform.Program{}
	for i := range p.Indices {
		if program := steps.For(p.Indices[i].Source); program != nil {
			all[p.Indices[i].Source] = program
		}
	}
	return all, nil
}

// shape makes of a document's source what the plan's transformation makes of it. The document
// is not kept when that drops it; a failure says why it cannot be changed. A tally counts what
// the steps do; nil: nothing is counted.
func (s *sides) shape(doc *document.Document, tally transform.Tally) (kept bool, failure *Failure) {
	program := s.shapes[doc.Index]
	if program == nil || doc.Source == nil {
		return true, nil
	}
	source, dropped, err := program.Apply(doc.Source, transform.Meta{ID: string(doc.ID), Routing: string(doc.Routing), Type: string(doc.Type)}, tally)
	if err != nil {
		return true, &Failure{Position: doc.Position.Number, ID: string(doc.ID), Type: failedTransformation, Reason: err.Error()}
	}
	doc.Source = source
	return !dropped, nil
}

// StepProgress is what one step of the transformation has done to the documents of the
// snapshot, as the newest comparison has met them.
type StepProgress struct {
	transform.StepCounts
	Says string `json:"says"` // the step, for people
	// Indices are how many of the plan it concerns.
	Indices int `json:"indices"`
}

// StepsOf are the steps of a plan, with what they have done as comparisons have met it, index by
// index.
func StepsOf(p *Plan, verified []Verified) (told []StepProgress, err error) {
	if p.Transform == "" {
		return nil, nil
	}
	steps, err := transform.Parse([]byte(p.Transform))
	if err != nil {
		return nil, fault.At(err, "the plan's transformation")
	}
	for i, says := range steps.Says() {
		told = append(told, StepProgress{StepCounts: transform.StepCounts{Step: i + 1}, Says: says})
	}
	for i := range p.Indices {
		if program := steps.For(p.Indices[i].Source); program != nil {
			for _, d := range program.NewTally() {
				told[d.Step-1].Indices++
			}
		}
	}
	var sum transform.Tally
	for i := range verified {
		sum = sum.Add(verified[i].Steps)
	}
	for _, d := range sum {
		told[d.Step-1].StepCounts = d
	}
	return told, nil
}

// pass counts a document that is not sent: dropped, or with the failure that keeps it.
func (b *batch) pass(doc *document.Document, failure *Failure) {
	b.counts.Read++
	b.counts.Bytes += int64(len(doc.Source))
	if failure == nil {
		b.counts.Dropped++
		return
	}
	b.bad = append(b.bad, *failure)
}

// Bounds of a batch that no answer of the target bounds.
const (
	maxBad  = 5000    // failures in its list
	maxRead = 100_000 // documents that it stands for, most of them dropped
)

// full tells whether a batch has come so far that it has to be counted.
func (b *batch) full() bool { return len(b.bad) >= maxBad || b.counts.Read >= maxRead }
