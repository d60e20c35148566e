package control

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
)

// override is a setting or a mapping that the request asks for.
type override struct {
	flag string // with its index and setting, for people
	part string // the setting, or "mappings"
	fits func(index string) bool
	made func(c *translate.Change) bool // reports whether the override has made this change
}

// overrides are those of the request: settings, then mappings, each in the order that was given.
func (l *looking) overrides() (all []override) {
	m := &l.Plan.Metadata
	for i := range m.Set {
		s := &m.Set[i]
		name, family := strings.CutSuffix("settings."+s.Name, "*")
		all = append(all, override{"--set " + s.Index + ":" + s.Name, s.Name, s.Fits, func(c *translate.Change) bool {
			return c.Where == name || family && strings.HasPrefix(c.Where, name)
		}})
	}
	for i := range m.Mappings {
		of := &m.Mappings[i]
		all = append(all, override{"--mapping " + of.Index, "mappings", of.Fits, func(c *translate.Change) bool { return c.Where == "mappings" }})
	}
	return all
}

// lookOverrides refuses overrides that have no effect on any index.
func lookOverrides(_ context.Context, l *looking) (string, error) {
	all := l.overrides()
	if len(all) == 0 {
		return "none", nil
	}
	created, there := []string{}, []string{}
	for i := range l.Indices {
		for _, body := range l.Indices[i].bodies {
			created = append(created, body.Name)
		}
		targets := l.Indices[i].Targets
		if len(targets) == 0 {
			targets = []string{l.Indices[i].Target}
		}
		there = append(there, targets...)
	}
	there = slices.DeleteFunc(there, func(name string) bool { return slices.Contains(created, name) })
	for i := range all {
		l.lookOverride(all, i, created, there)
	}
	return fmt.Sprintf("%s for indices that are created", have(len(all), "override", "overrides")), nil
}

// lookOverride refuses or warns of one override. created are the indices that the movement creates, and there are those
// that the target has already.
func (l *looking) lookOverride(all []override, i int, created, there []string) {
	o := &all[i]
	made := slices.DeleteFunc(slices.Clone(created), func(name string) bool { return !o.fits(name) })
	kept := slices.DeleteFunc(slices.Clone(there), func(name string) bool { return !o.fits(name) })
	switch {
	case len(made) == 0 && len(kept) > 0:
		l.refuse("leave it out, or give the index another name with --rename", "%s has no effect: %s is there on the target already, and left as it is", o.flag, listed(kept))
		return
	case len(made) == 0:
		l.refuse("name an index as it is called on the target; created are "+listed(created), "%s fits none of the indices that are created", o.flag)
		return
	case len(kept) > 0:
		l.warn("change the index on the target if it is to have that, too", "%s applies only to indices that are created: %s is left as it is", o.flag, listed(kept))
	}
	shadowed := func(name string) bool {
		return slices.ContainsFunc(all[i+1:], func(later override) bool { return later.part == o.part && later.fits(name) })
	}
	if !slices.ContainsFunc(made, func(name string) bool { return !shadowed(name) }) {
		l.refuse("leave it out", "%s has no effect: a later one replaces it for %s", o.flag, listed(made))
		return
	}
	for j := range l.Indices {
		for _, body := range l.Indices[j].bodies {
			if o.fits(body.Name) && slices.ContainsFunc(body.Changes, func(c translate.Change) bool { return o.made(&c) }) {
				return
			}
		}
	}
	l.refuse("leave it out", "%s has no effect: %s has no such setting", o.flag, listed(made))
}

// shardsOf is how many shards a body that makes an index asks for.
func shardsOf(body *translate.Body, otherwise int) int {
	var asked struct {
		Settings struct {
			Shards string `json:"index.number_of_shards"`
		} `json:"settings"`
	}
	if json.Unmarshal(body.JSON, &asked) == nil {
		if n, err := strconv.Atoi(asked.Settings.Shards); err == nil {
			return n
		}
	}
	return otherwise
}
