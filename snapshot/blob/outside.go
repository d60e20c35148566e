package blob

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot"
)

// Outer is the location in which this one has the path base, "a/b" without
// slashes at its ends. fault.Refused when its path does not end so.
func (l Location) Outer(base string) (Location, error) {
	path := l.Prefix
	if l.Scheme == "file" {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return Location{}, fault.At(fault.New(fault.Unavailable, "%w", err), l.String())
		}
		path = filepath.ToSlash(absolute)
	}
	outer, ok := strings.CutSuffix("/"+path, "/"+base)
	if !ok || base == "" {
		return Location{}, fault.At(fault.New(fault.Refused, "the path does not end in %q", base), l.String())
	}
	l.Prefix = strings.TrimPrefix(outer, "/")
	if l.Scheme == "file" {
		l.Prefix = filepath.FromSlash(l.Prefix)
		if l.Prefix == "" {
			l.Prefix = string(filepath.Separator)
		}
	}
	if l.Within != "" { // what is allowed is a repository with what lies around its base path
		l.Within = l.Prefix
	}
	return l, nil
}

// located is a bucket that knows its location, and so what lies around it.
type located struct {
	Bucket
	location Location
	open     Opener
}

var _ snapshot.Outside = (*located)(nil)

// Outside opens the location in which this one has the path base. The meaning
// is that of snapshot.Outside: newer repositories keep shards beside their base
// path.
func (l *located) Outside(ctx context.Context, base string) (snapshot.Bucket, error) {
	outer, err := l.location.Outer(base)
	if err != nil {
		return nil, err
	}
	return l.open(ctx, outer)
}
