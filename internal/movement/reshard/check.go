package reshard

import (
	"context"
	"errors"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/movement/reconcile"
	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/catalog"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// Checked is what a comparison of a shard's rows with what searches find has found.
type Checked struct {
	Shard     uint32   `json:"shard"`
	SeqNo     int64    `json:"seqNo" doc:"The sequence number as of which both sides were compared"`
	Documents int64    `json:"documents" doc:"Documents that the shard holds"`
	Found     int64    `json:"found" doc:"Documents that searches find"`
	Missing   int64    `json:"missing" doc:"Documents that are there and are not found"`
	Ghost     int64    `json:"ghost" doc:"Documents that are found and are not there"`
	Stale     int64    `json:"stale" doc:"Documents that are found in a form that they had before"`
	Misplaced int64    `json:"misplaced" doc:"Documents that are found more than once, or outside of the shard's range"`
	Examples  []string `json:"examples,omitempty"`
	Damage    string   `json:"damage,omitempty" doc:"Why the shard could not be compared: a file of it is damaged"`
	Rebuilds  bool     `json:"rebuilds,omitempty" doc:"A rebuild mends the damage; else the data folder has to be restored from a backup"`
}

// Differences are how many there are, of all classes.
func (c *Checked) Differences() int64 { return c.Missing + c.Ghost + c.Stale + c.Misplaced }

// Check compares the rows of the shards of an index with what searches find, document by document, one
// shard after the other, resting where searches would wait. Told gets each, a damaged one too. Shards that become others meanwhile are an error.
func Check(ctx context.Context, s *store.Store, index string, told func(Checked)) error {
	if _, err := s.Refresh(ctx, catalog.Expression{Names: []string{index}}); err != nil && !fault.Is(err, fault.Corrupt) {
		return err
	}
	p, err := s.PlacementOf(ctx, index)
	if err != nil {
		return err
	}
	b := &breaks{watch: watching(s, SearchesP95(s.RecentSearches())), resumed: time.Now()}
	for _, row := range p.Shards {
		checked, err := check(ctx, s, b, p.Index, part{number: row.Number, within: row.Range})
		if fault.Is(err, fault.Corrupt) { // of this shard alone
			checked = Checked{Shard: row.Number, Damage: err.Error(), Rebuilds: errors.As(err, new(*segment.Damaged))}
		} else if err != nil {
			return err
		}
		told(checked)
	}
	return s.SameShards(ctx, p)
}

func check(ctx context.Context, s *store.Store, b *breaks, index uint32, of part) (c Checked, err error) {
	readers, err := s.Readers(ctx, index, []uint32{of.number})
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, readers[0].Close()) }()
	of.views = readers[0].Views()
	found, err := truthful(ctx, b, []shard.Reader{readers[0]}, []part{of})
	return Checked{Shard: of.number, SeqNo: readers[0].SeqNo(), Documents: found.Documents, Found: found.shown,
		Missing: found.Counts[reconcile.Missing], Ghost: found.Counts[reconcile.Ghost], Stale: found.Counts[reconcile.Stale],
		Misplaced: found.Counts[reconcile.Misplaced], Examples: found.Examples}, err
}
