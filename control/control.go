package control

import (
	"context"

	"github.com/reshelve/reshelve/blob"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/snapshot"
)

// Control answers requests. It is safe for concurrent use and needs no Close.
type Control struct {
	openers map[string]blob.Opener
}

// New makes a Control that reads from the stores that openers know, by the
// scheme of a location; see package blob.
func New(openers map[string]blob.Opener) *Control { return &Control{openers: openers} }

// repository opens the repository at location.
func (c *Control) repository(ctx context.Context, location string) (*snapshot.Repository, error) {
	bucket, err := blob.Open(ctx, location, c.openers)
	if err != nil {
		return nil, err
	}
	stacked, _ := blob.Stack(bucket, blob.StackPolicy{})
	repo, err := snapshot.Open(ctx, stacked)
	if fault.Is(err, fault.NotFound) {
		err = fault.At(err, location)
	}
	return repo, err
}

// find opens the repository and finds the snapshot by name or UUID; the newest
// successful one when name is empty.
func (c *Control) find(ctx context.Context, location, name string) (*snapshot.Snapshot, error) {
	repo, err := c.repository(ctx, location)
	if err != nil {
		return nil, err
	}
	return repo.Find(ctx, name)
}
