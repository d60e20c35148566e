package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// collapsesNamed is how many of the ids that collapse a problem names; the preview has more of them.
const collapsesNamed = 10

// lookTypes counts the ids that mapping types have in common which become one index. That reads all ids of such an index, and
// nothing of others.
func lookTypes(ctx context.Context, l *looking) (string, error) {
	if l.Plan.Metadata.Types != translate.MergeTypes {
		return "none are merged", nil
	}
	var found []string
	for i := range l.Plan.Indices {
		name := l.Plan.Indices[i].Source
		idx := l.indices[name]
		if idx == nil || len(idx.Types) < 2 {
			continue
		}
		if l.reported(name) {
			found = append(found, name+": cannot be read")
			continue
		}
		c, err := l.collapse(ctx, &l.Plan.Indices[i])
		if err != nil {
			if err = fault.At(err, "index "+name); fault.Next(err) == "" {
				err = fault.WithNext(err, "leave it out: name the others with --index")
			}
			if err := l.fail(err); err != nil {
				return "", err
			}
			continue
		}
		l.Indices[i].Collapse = c
		one := fmt.Sprintf("%s: %s of %s", name, have(int(c.IDs), "common id", "common ids"), listed(idx.Types))
		if c.IDs > 0 && c.Overwritten+c.AtRisk == 0 {
			one += ", whose documents all stay: they have different routings"
		}
		found = append(found, one)
		l.lookCollapse(name, c)
	}
	if len(found) == 0 {
		return "no index has several", nil
	}
	return strings.Join(found, "; "), nil
}

// reported tells whether the check of the snapshot has named an index as one that cannot be read.
func (l *looking) reported(name string) bool {
	return slices.ContainsFunc(l.unread, func(err error) bool {
		var known *fault.Error
		return errors.As(err, &known) && slices.Contains(known.Place(), "index "+name)
	})
}

// collapse is what is counted of an index, once for each plan.
func (l *looking) collapse(ctx context.Context, index *migrate.Index) (*migrate.Collapse, error) {
	if c := l.collapses[index.Source]; c != nil {
		return c, nil
	}
	var told func(int64)
	if l.req.Counting != nil {
		told = func(n int64) { l.req.Counting(index.Source, n, index.Documents) }
	}
	c, err := migrate.CollapseOf(ctx, l.indices[index.Source], l.Plan, told)
	if err != nil {
		return nil, err
	}
	server, err := l.side.client.Server(ctx)
	if err != nil {
		return nil, err
	}
	if server.Product == cluster.Reshelve { // documents of one id and several routings have places of their own
		c.AtRisk = 0
		for i := range c.Listed {
			c.Listed[i].AtRisk = 0
		}
	}
	l.collapses[index.Source] = c
	return c, nil
}

// lookCollapse refuses what would leave documents out, unless that is accepted.
func (l *looking) lookCollapse(name string, c *migrate.Collapse) {
	if c.Overwritten+c.AtRisk == 0 {
		return
	}
	say := l.warn
	next := "keep the types apart with --types split if that is not meant"
	if !l.req.Yes {
		say, next = l.refuse, "keep the types apart with --types split, or accept with --yes that one document of each such id stays"
	}
	say(next, "index %s: %s", name, collapseText(c))
}

// collapseText says what would be left out, and names some ids.
func collapseText(c *migrate.Collapse) string {
	var ids []string
	for i := range c.Listed[:min(len(c.Listed), collapsesNamed)] {
		ids = append(ids, c.Listed[i].ID)
	}
	if c.IDs > int64(len(ids)) {
		ids = append(ids, "…")
	}
	text := fmt.Sprintf("%s in several mapping types (%s), of %s", have(int(c.IDs), "id is", "ids are"), strings.Join(ids, ", "), have(int(c.Documents), "document", "documents"))
	if c.Overwritten > 0 {
		text += fmt.Sprintf("; %d of these would be left out", c.Overwritten)
	}
	if c.AtRisk > 0 {
		text += fmt.Sprintf("; %d have another routing, and would be left out where that leads to the same shard", c.AtRisk)
	}
	return text
}
