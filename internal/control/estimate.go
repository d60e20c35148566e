package control

import "context"

// Estimate is the answer of [Control.Estimate].
type Estimate struct {
	Repository  string `json:"repository"`
	Snapshot    string `json:"snapshot"`
	UUID        string `json:"uuid"`
	Documents   int64  `json:"documents"`   // without nested ones
	SourceBytes int64  `json:"sourceBytes"` // of their sources, uncompressed
	// Exact is false when documents and source bytes are extrapolated from the
	// first documents of each segment.
	Exact     bool  `json:"exact"`
	ReadBytes int64 `json:"readBytes"` // to be read from the repository
	Requests  int64 `json:"requests"`  // to be sent to an object store
}

// Estimate tells what Read would give and cost, by opening what it would open
// and reading the first documents of each segment.
func (c *Control) Estimate(ctx context.Context, sel Selection) (*Estimate, error) {
	chosen, err := c.choose(ctx, sel)
	if err != nil {
		return nil, err
	}
	snap := chosen.snapshot
	e, err := snap.Estimate(ctx, chosen.has)
	if err != nil {
		return nil, err
	}
	return &Estimate{
		Repository: sel.Repository, Snapshot: snap.Name, UUID: snap.UUID,
		Documents: e.Documents, SourceBytes: e.SourceBytes, Exact: e.Exact,
		ReadBytes: e.Bytes, Requests: e.Requests,
	}, nil
}
