package migrate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/drive"
	"github.com/reshelve/reshelve/internal/movement/work"
)

// Failure is a document that is not on the target, and why.
type Failure struct {
	Position int64  `json:"position"` // in the item's shard
	ID       string `json:"id"`
	Type     string `json:"type"`
	Reason   string `json:"reason"`
	Status   int    `json:"status,omitempty"` // of the target's answer; 0 when it was not asked
}

// Cause is why documents of an index failed, and how many.
type Cause struct {
	Index     string `json:"index"`
	Type      string `json:"type"`
	Reason    string `json:"reason"` // what is quoted in it, which differs by document, is left out
	Documents int64  `json:"documents"`
}

// Of the documents that failed in a batch there are two records: failure/ITEM/FROM lists
// them, and failed/ITEM/FROM tells in a few lines how many there are by cause. Whoever wants
// to know of all failures reads the second ones, whatever their number, and the first ones
// one by one.
type (
	failures struct {
		Documents []Failure `json:"documents"`
	}
	failed struct {
		Item   string  `json:"item"`
		From   int64   `json:"from"` // the first position that the batch stands for; of a change 2^32 times its bucket, and on
		Causes []Cause `json:"causes"`
	}
)

// Bounds of what is told of causes.
const (
	maxCauses = 50   // of one batch, and of a movement; the others are counted together
	maxReason = 300  // bytes of a cause
	maxTold   = 1000 // bytes of the reason of one document
)

// otherCauses is the type of those that are counted together.
const otherCauses = "others"

// keepFailures lists the documents of a batch that failed for good, before anything says that
// the batch is done. A repeated batch writes the same records.
func (t *turn) keepFailures(ctx context.Context, item, index string, from int64, bad []Failure) error {
	if len(bad) == 0 {
		return nil
	}
	at := strconv.FormatInt(from, 10)
	for i := range bad {
		bad[i].Reason = cut(bad[i].Reason, maxTold)
	}
	if err := t.Driver.Put(ctx, t.key("failure", work.Safe(item), at), failures{bad}); err != nil {
		return err
	}
	f := failed{Item: item, From: from}
	for i := range bad {
		f.Causes = addCause(f.Causes, Cause{Index: index, Type: bad[i].Type, Reason: general(bad[i].Reason), Documents: 1})
	}
	return t.Driver.Put(ctx, t.key("failed", work.Safe(item), at), f)
}

// forgetFailures removes what was listed of an item from a position on: by batches that a
// cursor never passed, so that they are sent again, and perhaps cut otherwise.
func (t *turn) forgetFailures(ctx context.Context, item *work.Item, from int64) error {
	all, err := drive.Pieces[failed](ctx, t.Driver, t.key("failed", work.Safe(item.Name()), ""))
	for _, f := range all {
		if err == nil && f.From >= from {
			err = t.removeFailures(ctx, &f)
		}
	}
	return err
}

func (t *turn) removeFailures(ctx context.Context, f *failed) error {
	name, at := work.Safe(f.Item), strconv.FormatInt(f.From, 10)
	err := t.Driver.Remove(ctx, t.key("failure", name, at))
	if err == nil {
		err = t.Driver.Remove(ctx, t.key("failed", name, at))
	}
	return err
}

// addCause counts c among all, which stay bounded.
func addCause(all []Cause, c Cause) []Cause {
	same := func(o Cause) bool { return o.Index == c.Index && o.Type == c.Type && o.Reason == c.Reason }
	at := slices.IndexFunc(all, same)
	if at < 0 && len(all) >= maxCauses-1 {
		c.Index, c.Type, c.Reason = "", otherCauses, ""
		at = slices.IndexFunc(all, same)
	}
	if at < 0 {
		return append(all, c)
	}
	all[at].Documents += c.Documents
	return all
}

// general is a reason without what it quotes: an id, or a value, which is another one in
// each document.
func general(reason string) string {
	var b strings.Builder
	for len(reason) > 0 && b.Len() < maxReason {
		before, rest, quoted := strings.Cut(reason, "'")
		b.WriteString(before)
		if !quoted {
			break
		}
		end := strings.IndexByte(rest, '\'')
		if end < 0 {
			b.WriteString("'" + rest)
			break
		}
		b.WriteString("'…'")
		reason = rest[end+1:]
	}
	return cut(b.String(), maxReason)
}

// cut is the beginning of a text that is longer than n bytes.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// batchesOf are the batches of a migration in which documents failed, by item and position.
func batchesOf(ctx context.Context, d *drive.Driver, id string) ([]failed, error) {
	all, err := drive.Pieces[failed](ctx, d, work.Prefix(id)+"failed/")
	batches := make([]failed, 0, len(all))
	for _, f := range all {
		batches = append(batches, f)
	}
	slices.SortFunc(batches, func(a, b failed) int { return cmp.Or(strings.Compare(a.Item, b.Item), cmp.Compare(a.From, b.From)) })
	return batches, err
}

// sortCauses puts the most frequent first.
func sortCauses(all []Cause) {
	slices.SortFunc(all, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.Documents, a.Documents), strings.Compare(a.Index, b.Index), strings.Compare(a.Type, b.Type), strings.Compare(a.Reason, b.Reason))
	})
}

// Failures tells each of the documents of a migration that are not on the target because it,
// or the snapshot, did not allow it, in the order of items and positions; index narrows it
// down unless it is "". In memory is one batch at a time. It ends with each's first error.
func Failures(ctx context.Context, d *drive.Driver, id, index string, each func(index string, shard int, f Failure) error) error {
	batches, err := batchesOf(ctx, d, id)
	for i := range batches {
		if err != nil {
			return err
		}
		of, shard, err := shardOf(batches[i].Item)
		if err != nil {
			return err
		}
		if index != "" && of != index {
			continue
		}
		list, err := failuresOf(ctx, d, id, &batches[i])
		if err != nil {
			return err
		}
		for _, f := range list {
			if err := each(of, shard, f); err != nil {
				return err
			}
		}
	}
	return err
}

// failuresOf reads the list of one batch; none when it has just been removed.
func failuresOf(ctx context.Context, d *drive.Driver, id string, b *failed) ([]Failure, error) {
	list, err := drive.Read[failures](ctx, d, fmt.Sprintf("%sfailure/%s/%d", work.Prefix(id), work.Safe(b.Item), b.From))
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return list.Documents, err
}

// shardOf takes the index and the shard out of an item's name.
func shardOf(item string) (index string, shard int, err error) {
	parts := strings.Split(item, "__")
	if len(parts) < 3 {
		return "", 0, fault.New(fault.Corrupt, "%q is no item's name", item)
	}
	shard, err = strconv.Atoi(parts[len(parts)-2])
	if err != nil {
		return "", 0, fault.New(fault.Corrupt, "%q is no item's name", item)
	}
	return strings.Join(parts[:len(parts)-2], "__"), shard, nil
}

// FailedPiece is an index, an item, or the change of a shard, that failed whole.
type FailedPiece struct {
	Index string `json:"index"`
	Item  string `json:"item,omitempty"` // index__shard__start; "": the index itself
	From  int64  `json:"from,omitempty"` // the first position that is not on the target
	Cause string `json:"cause"`
}

// FailedPieces are the indices, items and changes of a migration that failed, by index and item.
func FailedPieces(ctx context.Context, d *drive.Driver, id string) (all []FailedPiece, err error) {
	failed, err := failedPieces(ctx, d, id)
	if err != nil {
		return nil, err
	}
	for _, e := range failed.entries {
		all = append(all, FailedPiece{Index: e.Source, Cause: e.Cause})
	}
	for _, i := range failed.items {
		all = append(all, FailedPiece{Index: i.Index, Item: i.Name(), From: i.Cursor, Cause: i.Cause})
	}
	for _, c := range failed.changes {
		item := work.Item{Index: c.Index, Shard: c.Shard}
		all = append(all, FailedPiece{Index: c.Index, Item: item.Name(), Cause: c.Cause})
	}
	slices.SortFunc(all, func(a, b FailedPiece) int {
		return cmp.Or(strings.Compare(a.Index, b.Index), strings.Compare(a.Item, b.Item))
	})
	return all, nil
}

// failedOnes are the pieces of a migration that failed, by their keys.
type failedOnes struct {
	entries map[string]entry
	items   map[string]work.Item
	changes map[string]change
}

func failedPieces(ctx context.Context, d *drive.Driver, id string) (f failedOnes, err error) {
	if f.entries, err = failedUnder[entry](ctx, d, work.Prefix(id)+"index/"); err != nil {
		return f, err
	}
	if f.items, err = failedUnder[work.Item](ctx, d, work.ItemsPrefix(id)); err != nil {
		return f, err
	}
	f.changes, err = failedUnder[change](ctx, d, work.Prefix(id)+"change/")
	return f, err
}

func failedUnder[T any, P drive.Piece[T]](ctx context.Context, d *drive.Driver, under string) (map[string]T, error) {
	pieces, err := drive.Pieces[T](ctx, d, under)
	failed := map[string]T{}
	for key, piece := range pieces {
		if P(&piece).Base().State == work.Failed {
			failed[under+key] = piece
		}
	}
	return failed, err
}
