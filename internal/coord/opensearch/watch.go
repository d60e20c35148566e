package opensearch

import (
	"context"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

const (
	stepEvents  = 256                   // that one search of a watch asks for
	settling    = 10 * time.Millisecond // between two looks at changes under way
	settlesWith = 30 * time.Second      // how long changes may be under way
)

// progress is how far the shard is: Newest is the last sequence number that was given, and every
// change up to Settled is on every copy, so that none will come before it any more.
type progress struct {
	newest, settled int64
}

// progress asks for it. Sequence numbers are given before a change is made, so that a change may be
// seen before one with a lower number: only what is settled has no gaps.
func (s *Store) progress(ctx context.Context) (progress, error) {
	var told struct {
		Indices map[string]struct {
			UUID   string `json:"uuid"`
			Shards map[string][]struct {
				Routing struct {
					Primary bool `json:"primary"`
				} `json:"routing"`
				Seq *struct {
					Newest  int64 `json:"max_seq_no"`
					Settled int64 `json:"global_checkpoint"`
				} `json:"seq_no"`
			} `json:"shards"`
		} `json:"indices"`
	}
	params := url.Values{"level": {"shards"},
		"filter_path": {"indices.*.uuid,indices.*.shards.*.routing.primary,indices.*.shards.*.seq_no"}}
	if err := s.ask(ctx, http.MethodGet, []string{"_stats", "docs"}, params, nil, &told); err != nil {
		return progress{}, err
	}
	for _, index := range told.Indices {
		if index.UUID != s.uuid {
			return progress{}, s.replaced()
		}
		for _, copies := range index.Shards {
			for _, c := range copies {
				if c.Routing.Primary && c.Seq != nil {
					return progress{c.Seq.Newest, c.Seq.Settled}, nil
				}
			}
		}
	}
	return progress{}, fault.At(fault.New(fault.Unavailable, "the index has no primary shard at the moment"), s.client.String(), s.index)
}

// Revision is coord.Store's. It waits for changes that are under way.
func (s *Store) Revision(ctx context.Context) (int64, error) {
	ctx, done, err := s.life.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, settlesWith)
	defer cancel()
	p, err := s.progress(ctx)
	for first := p; err == nil && p.settled < first.newest; {
		if err = s.sleep(ctx, settling); err == nil {
			p, err = s.progress(ctx)
		}
	}
	if err != nil || p.settled < 0 {
		return 0, err
	}
	if err := s.refresh(ctx); err != nil {
		return 0, err
	}
	found, err := s.search(ctx, object{"size": 1, "sort": []any{object{"_seq_no": "desc"}}, "seq_no_primary_term": true})
	if err != nil {
		return 0, err
	}
	term := int64(1)
	for _, h := range found {
		term = h.Term
	}
	return position{term, p.settled}.revision(true)
}

// sleep waits, or less when ctx ends.
func (s *Store) sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return s.life.Ended(ctx)
	}
}

// Watch is coord.Store's. It asks for changes again and again; between two questions that found
// nothing it waits for about Options.Poll.
func (s *Store) Watch(ctx context.Context, prefix string, after int64) iter.Seq2[coord.Event, error] {
	return func(yield func(coord.Event, error) bool) {
		ctx, done, err := s.life.Begin(ctx)
		if err == nil {
			defer done()
			err = s.watch(ctx, prefix, after, yield)
		}
		if err != nil {
			yield(coord.Event{}, err)
		}
	}
}

// watch yields events until an error; nil when the consumer stops.
func (s *Store) watch(ctx context.Context, prefix string, after int64, yield func(coord.Event, error) bool) error {
	from, _ := positionOf(after)
	at, err := s.progress(ctx)
	if err != nil {
		return err
	}
	if from.seq > at.newest || at.newest < 0 && after > 0 {
		return stale("revision %d is not reached", after)
	}
	if err := s.remembers(ctx, from.seq); err != nil {
		return err
	}
	for position := from.seq; ; {
		if at.settled > position {
			events, upTo, err := s.step(ctx, prefix, position, at.settled)
			if err != nil {
				return err
			}
			for _, event := range events {
				if err := s.life.Ended(ctx); err != nil {
					return err
				}
				if !yield(event, nil) {
					return nil
				}
			}
			position = upTo
		}
		if position >= at.settled {
			if err := s.sleep(ctx, jittered(s.options.Poll)); err != nil {
				return err
			}
			if at, err = s.progress(ctx); err != nil {
				return err
			}
		}
	}
}

// jittered keeps watches apart: from three quarters to five quarters of d.
func jittered(d time.Duration) time.Duration {
	return d*3/4 + rand.N(d/2+1)
}

// step are the changes above from and up to settled, or the first of them, and how far they tell
// everything.
func (s *Store) step(ctx context.Context, prefix string, from, settled int64) ([]coord.Event, int64, error) {
	if len(prefix) > coord.MaxKey {
		return nil, settled, nil
	}
	if err := s.refresh(ctx); err != nil {
		return nil, 0, err
	}
	query := keyed(prefix)
	conditions := query["bool"].(object)
	conditions["filter"] = append(conditions["filter"].([]any), object{"range": object{"_seq_no": object{"gt": from, "lte": settled}}})
	body := object{"query": query, "sort": []any{object{"_seq_no": "asc"}}, "seq_no_primary_term": true, "track_total_hits": false}
	var found []hit
	for size := stepEvents; ; size /= 2 {
		body["size"] = size
		var err error
		if found, err = s.search(ctx, body); tooLarge(err) && size > 1 {
			continue
		} else if err != nil {
			return nil, 0, err
		}
		if len(found) == size {
			settled = found[size-1].Seq
		}
		break
	}
	if err := s.remembers(ctx, from); err != nil {
		return nil, 0, err
	}
	var events []coord.Event
	for _, h := range found {
		record, deleted, err := h.record()
		if err != nil {
			return nil, 0, err
		}
		if strings.HasPrefix(record.Key, prefix) {
			events = append(events, coord.Event{Record: record, Deleted: deleted})
		}
	}
	return events, settled, nil
}

func stale(format string, args ...any) error {
	return fault.WithNext(fault.New(fault.Stale, format, args...), "ask for the revision, list again, and watch from that revision")
}
