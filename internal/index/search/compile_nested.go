package search

import "github.com/reshelve/reshelve/internal/opensearch/exception"

// nested finds documents, or the objects around, by the objects of a nested field.
func (c *compiler) nested(q *Nested, boost float32) (plan, error) {
	if _, ok := c.index.Schema.Nested(q.Path); !ok {
		if f, ok := c.index.Schema.Mapping().Field(q.Path); ok && f.IsObject() {
			return nil, exception.New(exception.IllegalState, "[nested] nested object under path [%s] is not of nested type", q.Path)
		}
		if q.IgnoreUnmapped {
			return nonePlan{}, nil
		}
		return nil, exception.New(exception.IllegalState, "[nested] failed to find nested object under path [%s]", q.Path)
	}
	inside := *c
	inside.around = q.Path
	of, err := inside.query(q.Query, boost)
	if err != nil {
		return nil, err
	}
	mode := q.ScoreMode
	if mode == "" {
		mode = "avg"
	}
	return &nestedPlan{path: q.Path, around: c.around, of: of, mode: mode, boost: 1}, nil
}
