package control

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// comparisonChecks are those of a plan that makes and sends nothing.
func comparisonChecks() []check {
	return []check{
		{"versions", lookVersions},
		{"snapshot", lookComparable},
		{"indices", lookCompared},
	}
}

// writersCheck comes last, when the place of the records is open.
var writersCheck = check{"movements", lookWriters}

// lookComparable names what of the snapshot cannot be read, or holds no sources that could be compared.
func lookComparable(_ context.Context, l *looking) (string, error) {
	if err := l.lookUnread(); err != nil {
		return "", err
	}
	for _, index := range l.Plan.Indices {
		idx := l.indices[index.Source]
		if idx == nil || index.Documents == 0 {
			continue
		}
		why, none := idx.Synthetic()
		if !none {
			why, none = idx.SourceDisabled()
		}
		if none {
			l.warn("leave it out with --index", "index %s holds no sources of its documents, with which the target could be compared: %s", index.Source, why)
		} else if why, is := idx.SourceFiltered(); is {
			l.warn("see whether what differs is these fields", "the sources of index %s lack fields, which the target may have: %s", index.Source, why)
		}
		if len(idx.Types) > 1 && l.Plan.Metadata.Types == "" {
			l.refuse("say what became of them: --types split, or --types merge", "index %s has several mapping types: %s", index.Source, listed(idx.Types))
		}
	}
	return have(len(l.indices), "index", "indices") + " can be read", nil
}

// lookCompared adds what the target has of each index. One that it lacks forbids nothing: all of its documents are missing.
func lookCompared(ctx context.Context, l *looking) (string, error) {
	there := 0
	l.Cost.Exact = l.exact
	for i := range l.Plan.Indices {
		index := &l.Plan.Indices[i]
		if l.indices[index.Source] == nil { // it cannot be read
			l.Indices = append(l.Indices, PreviewIndex{Index: index.Source, Target: index.Target})
			continue
		}
		l.Cost.Documents, l.Cost.SourceBytes, l.Cost.FileBytes = l.Cost.Documents+index.Documents, l.Cost.SourceBytes+index.Bytes, l.Cost.FileBytes+index.Stored
		shown, err := l.comparedWith(ctx, index)
		if exception.Is(err, exception.IndexClosed) { // the others are compared
			l.warn("open it: POST /"+shown.Target+"/_open", "index %s: %s is closed on the target", index.Source, shown.Target)
			shown.There, shown.Closed, err = true, true, nil
		}
		if err := l.fail(fault.At(err, "index "+index.Source)); err != nil {
			return "", err
		}
		if shown.There {
			there++
		}
		l.Indices = append(l.Indices, shown)
	}
	if err := checkNames(l.Plan.Indices); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s of %d on the target", have(there, "index", "indices"), len(l.Plan.Indices)), l.lookSteps()
}

// comparedWith is what the target has of an index, under the names of the indices themselves.
func (l *looking) comparedWith(ctx context.Context, index *migrate.Index) (shown PreviewIndex, err error) {
	shown = PreviewIndex{Index: index.Source, Target: index.Target}
	if index.Places, err = migrate.PlacesOf(l.snapshot, l.indices[index.Source], l.Plan.Metadata, index.Target); err != nil {
		return shown, err
	}
	for kind, name := range index.Places {
		if index.Places[kind], err = l.behind(ctx, name, &shown); err != nil {
			return shown, err
		}
	}
	if len(index.Places) > 0 {
		shown.Targets = index.Targets()
		return shown, nil
	}
	index.Target, err = l.behind(ctx, index.Target, &shown)
	shown.Target = index.Target
	return shown, err
}

// behind is the index of a name of the target, which may be an alias of one index. It counts what that holds.
func (l *looking) behind(ctx context.Context, name string, shown *PreviewIndex) (string, error) {
	holds, err := l.side.client.CountShown(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return name, nil
	}
	if err != nil {
		return name, err
	}
	shown.There, shown.Holds = true, shown.Holds+holds
	found, err := l.side.client.Indices(ctx, name)
	if _, is := found[name]; is || len(found) == 0 || fault.Is(err, fault.Unauthorised) { // to compare, it is enough to read
		return name, nil
	}
	if err != nil {
		return name, err
	}
	behind := slices.Sorted(maps.Keys(found))
	if len(behind) == 1 {
		return behind[0], nil
	}
	err = fault.New(fault.Refused, "%s is an alias or a data stream of the target, of %s", name, listed(behind))
	return name, fault.WithNext(err, "name with --rename the index of which it is to be the same: --rename %s=%s", shown.Index, behind[0])
}

// lookWriters warns of movements that write to what is compared. It is not known where credentials do not let us see.
func lookWriters(ctx context.Context, l *looking) (string, error) {
	err := l.control.refuseTwice(ctx, l.side, l.Plan, "")
	switch {
	case fault.Is(err, fault.Conflict):
		l.done.Warnings = append(l.done.Warnings, Tell(fault.WithNext(fault.New(fault.Conflict, "%s: what it has not brought yet differs", err), "compare when it has ended")))
		return "", nil
	case err != nil && ctx.Err() == nil:
		return "it is not known whether others are at work on these indices", nil
	}
	return "no other is at work on these indices", err
}
