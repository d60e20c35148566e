package shardtest

import (
	"testing"

	"github.com/reshelve/reshelve/internal/store/shard"
)

// Case is one engine under test.
type Case struct {
	// Open gives an empty engine. Its clock, if it has one, tells the true time. It
	// outlives the test by its cleanups alone, which close what is still open.
	Open func(t testing.TB) shard.Engine
	// Reopen gives the engine that a new process would open over what a closed one
	// left. Nil: an engine of this kind ends with its process.
	Reopen func(t testing.TB, closed shard.Engine) shard.Engine
}

// test is one conversation.
type test struct {
	name string
	run  func(t *testing.T, c Case)
}

// RunViews tries what is said of views, for an engine of another configuration.
func RunViews(t *testing.T, c Case) {
	for _, test := range views {
		t.Run(test.name, func(t *testing.T) { test.run(t, c) })
	}
}

// RunStages tries what is said of changes of ownership, for an engine of another configuration.
func RunStages(t *testing.T, c Case) {
	for _, test := range stages {
		t.Run(test.name, func(t *testing.T) { test.run(t, c) })
	}
}

// Run tries everything.
func Run(t *testing.T, c Case) {
	for _, group := range []struct {
		name  string
		tests []test
	}{
		{"write", writes},
		{"version", versions},
		{"epoch", epochs},
		{"fence", fences},
		{"refresh", refreshes},
		{"view", views},
		{"scan", scans},
		{"change", changes},
		{"hold", holds},
		{"prune", prunings},
		{"engine", engines},
		{"stage", stages},
		{"together", histories},
		{"program", programs},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, test := range group.tests {
				t.Run(test.name, func(t *testing.T) { test.run(t, c) })
			}
		})
	}
}
