package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot"
)

// handed is one document as a pass hands it out.
type handed struct {
	number int64
	text   string // everything else of it
}

// pass reads a shard to its end and closes the pass.
func pass(t *testing.T, shard *snapshot.Shard, opts snapshot.ReadOptions) ([]handed, *snapshot.Documents) {
	t.Helper()
	docs, err := shard.Documents(t.Context(), opts)
	if err != nil {
		t.Fatalf("%s: %v", shard.Path, err)
	}
	var all []handed
	for docs.Next() {
		all = append(all, take(docs))
	}
	docs.Close()
	return all, docs
}

// samples is how many moments of a kind are tried; fewer with -short.
func samples(n int) int {
	if testing.Short() {
		return n / 8
	}
	return n
}

func take(docs *snapshot.Documents) handed {
	d := docs.Document()
	text := fmt.Sprintf("%s/%d id %q type %q routing %q parent %q source %t %q", d.Position.Index, d.Position.Shard, d.ID, d.Type, d.Routing, d.Parent, d.Source != nil, d.Source)
	if d.Versions != nil {
		text += fmt.Sprint(*d.Versions)
	}
	return handed{d.Position.Number, text}
}

// eachShard calls visit with every readable shard of the newest successful
// snapshot of every repository.
func eachShard(t *testing.T, visit func(t *testing.T, r repository, shard *snapshot.Shard, sum *snapshot.ShardSummary)) {
	for _, r := range repositories(t) {
		t.Run(r.name, func(t *testing.T) {
			for _, shard := range shardsOf(t, r.bucket(t)) {
				sum, err := shard.Summary(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				visit(t, r, shard, sum)
			}
		})
	}
}

func maxDoc(sum *snapshot.ShardSummary) (n int64) {
	for _, s := range sum.Segments {
		n += int64(s.MaxDoc)
	}
	return n
}

// TestEveryDocumentNumberIsCountedOnce: what is handed out and what is not add up
// to the numbers of all segments, whatever is wanted of the documents.
func TestEveryDocumentNumberIsCountedOnce(t *testing.T) {
	var all snapshot.Counts
	eachShard(t, func(t *testing.T, _ repository, shard *snapshot.Shard, sum *snapshot.ShardSummary) {
		var first []handed
		for _, opts := range []snapshot.ReadOptions{{}, {Versions: true}, {IDsOnly: true}, {RecoverySource: true}} {
			docs, pass := pass(t, shard, opts)
			if opts.Versions && fault.Is(pass.Err(), fault.Refused) {
				continue // doc values of a time series
			}
			c := pass.Counts()
			if err := pass.Err(); err != nil {
				t.Errorf("%s: %v", shard.Path, err)
			}
			if sum := c.Documents + c.Nested + c.Deleted + c.SoftDeleted; c.Documents != int64(len(docs)) || sum != pass.Position() {
				t.Errorf("%s: %+v: %d documents were handed out; the pass ends at %d", shard.Path, c, len(docs), pass.Position())
			}
			if pass.Position() != maxDoc(sum) || len(pass.Unreached()) > 0 {
				t.Errorf("%s: ends at %d of %d, unreached %v", shard.Path, pass.Position(), maxDoc(sum), pass.Unreached())
			}
			if first == nil {
				first = docs
				all.Documents, all.Nested, all.Deleted, all.SoftDeleted = all.Documents+c.Documents, all.Nested+c.Nested, all.Deleted+c.Deleted, all.SoftDeleted+c.SoftDeleted
			}
			if !slices.EqualFunc(first, docs, func(a, b handed) bool { return a.number == b.number }) {
				t.Errorf("%s: with %+v other documents are handed out", shard.Path, opts)
			}
		}
	})
	if all.Documents == 0 || all.Nested == 0 || all.Deleted == 0 || all.SoftDeleted == 0 {
		t.Errorf("the repositories lack something: %+v", all)
	}
	t.Logf("%+v", all)
}

// TestAPassGoesOnAtEveryPosition: from any number on, also in the middle of a
// nested block or of deleted documents, a pass hands out the documents that are
// left, each as in the whole; and up to any number those before it.
func TestAPassGoesOnAtEveryPosition(t *testing.T) {
	small := int64(samples(32))
	tried := 0
	eachShard(t, func(t *testing.T, _ repository, shard *snapshot.Shard, sum *snapshot.ShardSummary) {
		end := maxDoc(sum)
		step := 1 + end/small
		for _, versions := range []bool{false, true} {
			whole, all := pass(t, shard, snapshot.ReadOptions{Versions: versions})
			if versions && fault.Is(all.Err(), fault.Refused) {
				continue // doc values of a time series
			}
			for at := int64(0); at <= end; at += step {
				cut, _ := slices.BinarySearchFunc(whole, at, func(h handed, at int64) int { return int(h.number - at) })
				checkPart(t, shard, whole[cut:], snapshot.ReadOptions{From: at, Versions: versions}, max(end, at))
				if at > 0 {
					checkPart(t, shard, whole[:cut], snapshot.ReadOptions{To: at, Versions: versions}, at)
					from := at - at/2
					before, _ := slices.BinarySearchFunc(whole, from, func(h handed, at int64) int { return int(h.number - at) })
					checkPart(t, shard, whole[before:cut], snapshot.ReadOptions{From: from, To: at, Versions: versions}, at)
				}
				tried++
			}
		}
		if _, past := pass(t, shard, snapshot.ReadOptions{From: end + 1}); !fault.Is(past.Err(), fault.NotFound) || fault.Next(past.Err()) == "" {
			t.Errorf("%s: from %d of %d: %v", shard.Path, end+1, end, past.Err())
		}
		if docs, none := pass(t, shard, snapshot.ReadOptions{From: end, To: 1}); end > 0 && (none.Err() != nil || len(docs) > 0) {
			t.Errorf("%s: from %d to 1: %d documents, %v", shard.Path, end, len(docs), none.Err())
		}
	})
	t.Logf("%d positions", tried)
}

func checkPart(t *testing.T, shard *snapshot.Shard, want []handed, opts snapshot.ReadOptions, end int64) {
	t.Helper()
	got, pass := pass(t, shard, opts)
	if pass.Err() != nil || !slices.Equal(got, want) {
		t.Fatalf("%s: %+v: %d documents, not %d, or others: %v", shard.Path, opts, len(got), len(want), pass.Err())
	}
	if pass.Position() != end {
		t.Fatalf("%s: %+v: the next position is %d, not %d", shard.Path, opts, pass.Position(), end)
	}
	if first, last, open := pass.Unconfirmed(); open {
		t.Fatalf("%s: %+v: %d to %d stay unconfirmed at the end", shard.Path, opts, first, last)
	}
}

// TestAPassIsStoppedAnywhere closes passes after each number of documents: the
// position given then is where another goes on, the segment that was left is named
// as unreached and its documents as unconfirmed, and no stream stays open.
func TestAPassIsStoppedAnywhere(t *testing.T) {
	const small = 40
	for _, r := range repositories(t) {
		probe := newProbe(r.bucket(t))
		for _, shard := range shardsOf(t, probe) {
			whole, _ := pass(t, shard, snapshot.ReadOptions{})
			sum, err := shard.Summary(t.Context())
			if err != nil || maxDoc(sum) > small {
				continue
			}
			for stop := range len(whole) + 1 {
				docs, err := shard.Documents(t.Context(), snapshot.ReadOptions{IDsOnly: stop%2 == 1})
				if err != nil {
					t.Fatal(err)
				}
				for range stop {
					docs.Next()
				}
				checkStopped(t, shard, sum, docs, whole[:stop])
				docs.Close()
				if err := docs.Close(); err != nil {
					t.Errorf("closed twice: %v", err)
				}
				if stop > 0 && len(docs.Unreached()) != 1 {
					t.Errorf("%s/%s: stopped after %d: unreached %q", r.name, shard.Path, stop, docs.Unreached())
				}
				rest, _ := pass(t, shard, snapshot.ReadOptions{From: docs.Position()})
				if !slices.Equal(rest, whole[stop:]) {
					t.Errorf("%s/%s: stopped after %d: position %d gives %d more, not %d", r.name, shard.Path, stop, docs.Position(), len(rest), len(whole)-stop)
				}
				if docs.Next() {
					t.Errorf("%s/%s: goes on after Close", r.name, shard.Path)
				}
			}
		}
		if probe.open != 0 {
			t.Errorf("%s: %d streams stay open", r.name, probe.open)
		}
	}
}

// checkStopped compares what a pass that is still in a segment says of it.
func checkStopped(t *testing.T, shard *snapshot.Shard, sum *snapshot.ShardSummary, docs *snapshot.Documents, seen []handed) {
	t.Helper()
	first, last, open := docs.Unconfirmed()
	if open != (len(seen) > 0) {
		t.Errorf("%s: after %d documents: unconfirmed %t", shard.Path, len(seen), open)
	}
	if !open {
		return
	}
	base := int64(0)
	for _, s := range sum.Segments {
		if end := base + int64(s.MaxDoc); end > seen[len(seen)-1].number {
			break
		}
		base += int64(s.MaxDoc)
	}
	at := slices.IndexFunc(seen, func(h handed) bool { return h.number >= base })
	if first != seen[at].number || last != seen[len(seen)-1].number {
		t.Errorf("%s: after %d documents %d to %d are unconfirmed, not %d to %d", shard.Path, len(seen), first, last, seen[at].number, seen[len(seen)-1].number)
	}
}

// journey reads a repository from its root to its last document, as far as it can.
// confirmed are the documents that no one calls unconfirmed.
func journey(ctx context.Context, b snapshot.Bucket) (confirmed []handed, err error) {
	repo, err := snapshot.Open(ctx, b)
	if err != nil {
		return nil, err
	}
	snap, err := repo.Find(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, name := range snap.Indices {
		index, err := snap.Index(ctx, name)
		if err != nil {
			return confirmed, err
		}
		for n := range index.Shards {
			shard, err := index.Shard(ctx, n)
			if err != nil {
				return confirmed, err
			}
			docs, err := shard.Documents(ctx, snapshot.ReadOptions{Versions: true})
			if err != nil {
				return confirmed, err
			}
			var seen []handed
			for docs.Next() {
				seen = append(seen, take(docs))
			}
			docs.Close()
			if first, _, open := docs.Unconfirmed(); open {
				seen = slices.DeleteFunc(seen, func(h handed) bool { return h.number >= first })
			}
			confirmed = append(confirmed, seen...)
			if docs.Err() != nil {
				return confirmed, docs.Err()
			}
		}
	}
	return confirmed, nil
}

// journeys are repositories of few files that hold each kind of thing.
func journeys(t *testing.T) (some []repository) {
	for _, r := range repositories(t) {
		switch r.name {
		case "elasticsearch-1.7.6-basic", "elasticsearch-6.8.23-history", "elasticsearch-7.17.29-corners", "elasticsearch-8.19.0-corners", "opensearch-2.11.0-zstd", "opensearch-3.6.0-history":
			some = append(some, r)
		}
	}
	if len(some) < 5 {
		t.Fatalf("only %d repositories", len(some))
	}
	return some
}

// TestTheBucketFailsAtAnyMoment: whatever call it is, its own error comes out, with
// its kind: a store that fails is no damage. What was confirmed before is right.
func TestTheBucketFailsAtAnyMoment(t *testing.T) {
	for _, r := range journeys(t) {
		t.Run(r.name, func(t *testing.T) {
			probe := newProbe(r.bucket(t))
			whole, err := journey(t.Context(), probe)
			if err != nil {
				t.Fatal(err)
			}
			calls := probe.calls
			for n := 1; n <= calls; n += 1 + calls/samples(150) {
				probe.reset()
				probe.at = func(call int) error {
					if call >= n {
						return fault.New(fault.Transient, "call %d of %d failed", call, calls)
					}
					return nil
				}
				got, err := journey(t.Context(), probe)
				if !fault.Is(err, fault.Transient) || fault.KindOf(err).ExitCode() != 7 {
					t.Fatalf("call %d: kind %v: %v", n, fault.KindOf(err), err)
				}
				checkPrefix(t, n, got, whole)
				if probe.open != 0 {
					t.Fatalf("call %d: %d streams stay open", n, probe.open)
				}
			}
			t.Logf("%d calls, %d documents", calls, len(whole))
		})
	}
}

func checkPrefix(t *testing.T, call int, got, whole []handed) {
	t.Helper()
	if len(got) > len(whole) || !slices.Equal(got, whole[:len(got)]) {
		t.Fatalf("call %d: %d confirmed documents are not the first of %d", call, len(got), len(whole))
	}
}

// TestTheContextEndsAtAnyMoment cancels before each call, with a bucket that looks
// at the context and with one that does not: the pass ends soon, as interrupted, or
// had read everything already.
func TestTheContextEndsAtAnyMoment(t *testing.T) {
	for _, r := range journeys(t) {
		for _, heedless := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/heedless=%t", r.name, heedless), func(t *testing.T) {
				probe := newProbe(r.bucket(t))
				whole, err := journey(t.Context(), probe)
				if err != nil {
					t.Fatal(err)
				}
				calls := probe.calls
				probe.heedless = heedless
				for n := 1; n <= calls; n += 1 + calls/samples(75) {
					ctx, cancel := context.WithCancel(t.Context())
					probe.reset()
					probe.at = func(call int) error {
						if call >= n {
							cancel()
							if !heedless {
								return ctx.Err()
							}
						}
						return nil
					}
					got, err := within(t, ctx, probe)
					if err != nil && (!fault.Is(err, fault.Interrupted) || !errors.Is(err, context.Canceled)) || err == nil && len(got) < len(whole) {
						t.Fatalf("call %d of %d: %d of %d documents, kind %v: %v", n, calls, len(got), len(whole), fault.KindOf(err), err)
					}
					if more := probe.calls - n; heedless && more > 20 {
						t.Fatalf("call %d of %d: %d calls after the end of the context", n, calls, more)
					}
					checkPrefix(t, n, got, whole)
					if probe.open != 0 {
						t.Fatalf("call %d: %d streams stay open", n, probe.open)
					}
					cancel()
				}
			})
		}
	}
}

// within makes a journey that must end soon.
func within(t *testing.T, ctx context.Context, b snapshot.Bucket) (got []handed, err error) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		got, err = journey(ctx, b)
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("hangs")
	}
	return got, err
}

// TestWhatIsWantedOfSources: ids alone leave no source and miss none; recovery
// sources take the place of what is disabled, emptied or filtered, and are counted
// as recoverable where they were not asked for.
func TestWhatIsWantedOfSources(t *testing.T) {
	var recoverable int64
	eachShard(t, func(t *testing.T, _ repository, shard *snapshot.Shard, _ *snapshot.ShardSummary) {
		count := func(opts snapshot.ReadOptions) (c snapshot.Counts, sourceless, length int64) {
			docs, err := shard.Documents(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			defer docs.Close()
			for docs.Next() {
				if docs.Document().Source == nil {
					sourceless++
				}
				length += int64(len(docs.Document().Source))
			}
			if docs.Err() != nil {
				t.Fatal(docs.Err())
			}
			return docs.Counts(), sourceless, length
		}
		usual, without, length := count(snapshot.ReadOptions{})
		if usual.Sourceless != without || usual.SourceBytes != length {
			t.Errorf("%s: %+v, but %d without source, %d bytes", shard.Path, usual, without, length)
		}
		ids, without, _ := count(snapshot.ReadOptions{IDsOnly: true})
		if without != ids.Documents || ids.Sourceless != 0 || ids.SourceBytes != 0 {
			t.Errorf("%s: ids only: %+v, %d without source", shard.Path, ids, without)
		}
		recovered, without, length := count(snapshot.ReadOptions{RecoverySource: true})
		if recovered.Recoverable != 0 || recovered.Sourceless != without || length < usual.SourceBytes || usual.Recoverable > 0 && length == usual.SourceBytes {
			t.Errorf("%s: recovered: %+v, %d without source, %d bytes; %+v", shard.Path, recovered, without, length, usual)
		}
		recoverable += usual.Recoverable
	})
	if recoverable < 10 {
		t.Errorf("only %d documents are recoverable", recoverable)
	}
}
