package control

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// Check is something that was looked at before a migration starts.
type Check struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	Found  string `json:"found,omitempty"` // in words
	// Problems are why it has not passed, each with its remedy.
	Problems []Problem `json:"problems,omitempty"`
	// Warnings forbid nothing, and may be what somebody has not meant.
	Warnings []Problem `json:"warnings,omitempty"`
}

// looking is one check at work.
type looking struct {
	*Preview
	*planned
	control *Control
	req     *MigrateRequest
	side    *side
	done    *Check
}

// check is how one is made.
type check struct {
	name string
	look func(context.Context, *looking) (string, error)
}

// checks are all of them, in the order in which they are made and told: a later one reads
// what an earlier one has added to the preview.
func checks() []check {
	return []check{
		{"versions", lookVersions},
		{"snapshot", lookSnapshot},
		{"indices", lookIndices},
		{"mapping types", lookTypes},
		{"overrides", lookOverrides},
		{"plugins", lookPlugins},
		{"templates", lookTemplates},
		{"target templates", lookApplied},
		{"aliases", lookAliases},
		{"pipelines", lookPipelines},
		{"field limits", lookFields},
		{"rights", lookRights},
		{"shards", lookShards},
		{"disk", lookDisk},
		{"movements", lookMovements},
	}
}

// fail makes a problem of an error that is about what is moved; others come back.
func (l *looking) fail(err error) error {
	if err == nil {
		return nil
	}
	closed := exception.Is(err, exception.IndexClosed) // of kind Unavailable: while documents are copied it is waited for
	switch kind := fault.KindOf(err); {
	case kind == fault.Refused, kind == fault.Corrupt, kind == fault.NotFound, kind == fault.Conflict, kind == fault.Unauthorised, closed:
		l.done.Problems = append(l.done.Problems, Tell(err))
		return nil
	}
	return err
}

// refuse makes a problem with its remedy.
func (l *looking) refuse(next, format string, args ...any) {
	l.done.Problems = append(l.done.Problems, Tell(fault.WithNext(fault.New(fault.Refused, format, args...), "%s", next)))
}

// refuseIn adds a problem to an earlier check, which it is about, or to this one where that was not made.
func (l *looking) refuseIn(earlier, next, format string, args ...any) {
	at := slices.IndexFunc(l.Checks, func(c Check) bool { return c.Name == earlier })
	if at < 0 {
		l.refuse(next, format, args...)
		return
	}
	problem := Tell(fault.WithNext(fault.New(fault.Refused, format, args...), "%s", next))
	of := &l.Checks[at]
	of.Passed, of.Problems, l.Problems = false, append(of.Problems, problem), append(l.Problems, problem)
}

// warn adds a warning with what can be done about it.
func (l *looking) warn(next, format string, args ...any) {
	l.done.Warnings = append(l.done.Warnings, Tell(fault.WithNext(fault.New(fault.Refused, format, args...), "%s", next)))
}

func lookVersions(ctx context.Context, l *looking) (string, error) {
	server, err := l.side.client.Server(ctx)
	if err != nil {
		return "", l.fail(err)
	}
	var settings map[string]string
	for _, idx := range l.indices {
		settings = idx.Setting
		break
	}
	from := translate.SnapshotBy(l.Plan.Version, settings)
	return fmt.Sprintf("from %s into %s", from, server), nil
}

// lookSnapshot tells what of the snapshot cannot be read, or holds no documents as they were.
func lookSnapshot(_ context.Context, l *looking) (string, error) {
	if err := l.lookUnread(); err != nil {
		return "", err
	}
	for _, index := range l.Plan.Indices {
		idx := l.indices[index.Source]
		if idx == nil || l.req.Yes || index.Documents == 0 {
			continue
		}
		if why, is := idx.Synthetic(); is {
			l.refuse("leave it out with --index, or reindex it where it is into one that stores sources, and snapshot that; --yes brings the index, and its documents fail",
				"index %s holds no sources of its documents, its server composes them: %s", index.Source, why)
		} else if why, is := idx.SourceDisabled(); is {
			l.refuse("leave it out with --index, or accept with --yes that its documents fail", "index %s holds no sources of its documents: %s", index.Source, why)
		} else if why, is := idx.SourceFiltered(); is {
			l.refuse("accept that with --yes, or leave it out with --index", "the sources of index %s lack fields: %s", index.Source, why)
		}
	}
	return have(len(l.indices), "index", "indices") + " can be read", nil
}

// lookUnread adds what of the snapshot cannot be read.
func (l *looking) lookUnread() error {
	for _, err := range l.unread {
		if fault.Next(err) == "" {
			err = fault.WithNext(err, "leave it out: name the others with --index")
		}
		if err := l.fail(err); err != nil {
			return err
		}
	}
	for _, err := range l.lost {
		l.done.Warnings = append(l.done.Warnings, Tell(err))
	}
	return nil
}

// lookIndices adds what becomes of each index.
func lookIndices(ctx context.Context, l *looking) (string, error) {
	there, taken := 0, map[string]string{}
	for i, index := range l.Plan.Indices {
		shown := PreviewIndex{Index: index.Source, Target: index.Target}
		if index.Stream != nil {
			var err error
			if shown, err = previewStream(ctx, l.side.client, index); err != nil {
				return "", err
			}
		} else if l.indices[index.Source] != nil {
			var err error
			if l.Plan.Indices[i].Places, err = migrate.PlacesOf(l.snapshot, l.indices[index.Source], l.Plan.Metadata, index.Target); err != nil {
				return "", err
			}
			index = l.Plan.Indices[i]
			if shown, err = previewIndex(ctx, l.snapshot, l.side.client, l.Plan, index); err != nil {
				if err := l.fail(fault.At(err, "index "+index.Source)); err != nil {
					return "", err
				}
			}
		}
		l.lookTarget(&index, &shown, taken)
		if shown.There {
			there++
		}
		l.Indices = append(l.Indices, shown)
	}
	err := l.lookImplicit(ctx)
	if err == nil {
		err = l.lookSteps()
	}
	return fmt.Sprintf("%s on the target already, %d to create", have(there, "index", "indices"), len(l.Plan.Indices)-there), err
}

// lookTarget refuses what cannot become of an index. Taken are the names that indices of the
// plan have been given before.
func (l *looking) lookTarget(index *migrate.Index, shown *PreviewIndex, taken map[string]string) {
	if len(index.Places) > 0 && (l.req.Delta || l.req.Since != "") {
		l.refuse("leave it out with --index, or migrate it in full", "a delta of index %s, whose mapping types are split, cannot be told", index.Source)
	}
	for _, name := range index.Targets() {
		if other, twice := taken[name]; twice && index.Stream == nil {
			l.refuse("give one of them another name with --rename", "%s and %s would both become %s", other, index.Source, name)
		}
		taken[name] = index.Source
		if why := catalog.IndexNameFault(name); why != "" {
			l.refuse("give it another name with --rename", "index %s: %q cannot be the name of an index: %s", index.Source, name, why)
		}
	}
	if shown.Holds > 0 && !l.Plan.IntoExisting && index.Since == nil {
		l.refuse("give it another name with --rename, or write into it with --into-existing",
			"index %s of the target holds %s", index.Target, have(int(shown.Holds), "document", "documents"))
	}
	if lost := losses(shown.Changes); lost != "" && !l.req.Yes {
		l.refuse("accept that with --yes, or create "+listed(index.Targets())+" on the target as you want it before",
			"index %s loses meaning on the target: %s", index.Source, lost)
	}
}

// lookFields compares the mappings that are made with the limits that the target has for them.
func lookFields(_ context.Context, l *looking) (string, error) {
	most := 0
	for i := range l.Indices {
		for _, body := range l.Indices[i].bodies {
			size, limits, err := migrate.FieldsOf(body.JSON)
			if err != nil {
				return "", err
			}
			most = max(most, size.Fields)
			for _, over := range size.Over(limits) {
				l.refuse("create "+body.Name+" on the target before, with a higher limit", "index %s: %s", body.Name, over)
			}
		}
	}
	return fmt.Sprintf("at most %s in an index", have(most, "field", "fields")), nil
}

// lookSteps warns of steps of the transformation that concern none of the indices.
func (l *looking) lookSteps() error {
	steps, err := migrate.StepsOf(l.Plan, nil)
	for _, s := range steps {
		if s.Indices == 0 {
			l.warn("its index names those of the source, not of the target", "step %d of the transformation (%s) concerns no index that is moved", s.Step, s.Says)
		}
	}
	return err
}

func lookMovements(ctx context.Context, l *looking) (string, error) {
	if err := l.control.refuseTwice(ctx, l.side, l.Plan, l.req.own); err != nil {
		return "", l.fail(err)
	}
	return "no other is at work on these indices", nil
}

// replicasOf is how many replicas a body that makes an index asks for.
func replicasOf(body *translate.Body) int64 {
	var asked struct {
		Settings struct {
			Replicas json.Number `json:"index.number_of_replicas"`
		} `json:"settings"`
	}
	asked.Settings.Replicas = "1"
	_ = json.Unmarshal(body.JSON, &asked)
	n, err := asked.Settings.Replicas.Int64()
	if err != nil {
		return 1
	}
	return n
}

// have is a number with its noun.
func have(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return fmt.Sprintf("%d %s", n, many)
}
