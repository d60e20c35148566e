package postgres

import (
	"context"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

const (
	stepEvents = 256     // that one look of a watch brings, at most
	stepBytes  = 4 << 20 // of values, until the one that exceeds it
	pruneEvery = 64      // deletions of this store, until it looks for old ones
)

// Watch is coord.Store's.
func (s *Store) Watch(ctx context.Context, prefix string, after int64) iter.Seq2[coord.Event, error] {
	return func(yield func(coord.Event, error) bool) {
		ctx, done, err := s.life.Begin(ctx)
		if err == nil {
			defer done()
			s.listenOnce.Do(func() { s.listening.Go(s.listen) })
			err = s.watch(ctx, prefix, after, yield)
		}
		if err != nil {
			yield(coord.Event{}, err)
		}
	}
}

// watch yields events until an error; nil when the consumer stops.
func (s *Store) watch(ctx context.Context, prefix string, position int64, yield func(coord.Event, error) bool) error {
	for {
		changed := s.nextChange()
		events, head, err := s.step(ctx, prefix, position)
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
			position = event.Revision
		}
		if len(events) > 0 { // perhaps not all
			continue
		}
		position = head
		if err := s.wait(ctx, changed); err != nil {
			return err
		}
	}
}

// step are the first changes above a revision and that of the store, of one instant.
func (s *Store) step(ctx context.Context, prefix string, after int64) (events []coord.Event, head int64, err error) {
	rows, err := s.pool.Query(ctx, s.sql.step, after, []byte(prefix), behind(prefix), stepEvents, stepBytes)
	if err != nil {
		return nil, 0, s.explain(ctx, err)
	}
	horizon := int64(0)
	var key, value []byte
	var revision *int64
	_, err = pgx.ForEachRow(rows, []any{&head, &horizon, &key, &value, &revision}, func() error {
		if revision != nil {
			r := coord.Record{Key: string(key), Value: value, Revision: *revision}
			events = append(events, coord.Event{Record: r, Deleted: value == nil})
		}
		value = nil
		return nil
	})
	switch {
	case err != nil:
		return nil, 0, s.explain(ctx, err)
	case after > head:
		err = fault.New(fault.Stale, "revision %d is not reached; the store is at %d", after, head)
	case after < horizon:
		err = fault.New(fault.Stale, "deletions up to revision %d are forgotten, and the watch is at %d", horizon, after)
	}
	return events, head, fault.WithNext(err, "ask for the revision, list again, and watch from that revision")
}

// wait waits for a notification, or about Options.Poll.
func (s *Store) wait(ctx context.Context, changed <-chan struct{}) error {
	timer := time.NewTimer(s.options.Poll*3/4 + rand.N(s.options.Poll/2+1))
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-ctx.Done():
	}
	return s.life.Ended(ctx)
}

// nextChange is closed when a change is notified after this call.
func (s *Store) nextChange() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// wake ends the waiting of all watches.
func (s *Store) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

// listen wakes the watches by the server's notifications, on a connection of its own, until the store is
// closed. While there is none they look by themselves.
func (s *Store) listen() {
	ctx := s.life.Context()
	for ctx.Err() == nil {
		_ = s.hear(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(s.options.Poll):
		}
	}
}

func (s *Store) hear(ctx context.Context) error {
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	connection := pooled.Hijack()
	defer connection.Close(context.WithoutCancel(ctx))
	if _, err := connection.Exec(ctx, s.sql.listen); err != nil {
		return err
	}
	for {
		s.wake() // at first, because something may have changed meanwhile
		if _, err := connection.WaitForNotification(ctx); err != nil {
			return err
		}
	}
}

// prune removes deletions that are older than Options.Remember, and says so before.
func (s *Store) prune(ctx context.Context) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var oldest int64
		if err := tx.QueryRow(ctx, s.sql.oldest, s.options.Remember).Scan(&oldest); err != nil || oldest == 0 {
			return err
		}
		if _, err := tx.Exec(ctx, s.sql.raise, oldest); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, s.sql.forget, oldest)
		return err
	})
}
