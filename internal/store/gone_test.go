package store_test

import (
	"context"
	"sync"
	"testing"

	"github.com/reshelve/reshelve/internal/coord"
	coordmemory "github.com/reshelve/reshelve/internal/coord/memory"
	shardmemory "github.com/reshelve/reshelve/internal/store/shard/memory"
)

// late is a coordination store whose client goes away while a write is on its way to the
// disk: the caller is answered at once, and the write is made later, as the contract of
// coord.Store allows.
type late struct {
	coord.Store
	at    int // the write during which the client goes away, from 1
	leave context.CancelFunc

	mu    sync.Mutex // some records are written beside each other
	calls int
	later []func()
}

func (l *late) made(ctx context.Context, write func(context.Context) (int64, error)) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.calls++; l.calls == l.at {
		l.leave()
	}
	if err := ctx.Err(); err != nil {
		l.later = append(l.later, func() { _, _ = write(context.WithoutCancel(ctx)) })
		return 0, err
	}
	return write(ctx)
}

func (l *late) Create(ctx context.Context, key string, value []byte) (int64, error) {
	return l.made(ctx, func(ctx context.Context) (int64, error) { return l.Store.Create(ctx, key, value) })
}

func (l *late) Swap(ctx context.Context, key string, revision int64, value []byte) (int64, error) {
	return l.made(ctx, func(ctx context.Context) (int64, error) { return l.Store.Swap(ctx, key, revision, value) })
}

func (l *late) Delete(ctx context.Context, key string, revision int64) error {
	_, err := l.made(ctx, func(ctx context.Context) (int64, error) { return 0, l.Store.Delete(ctx, key, revision) })
	return err
}

// TestAClientMayGoAwayDuringAChange: at whichever write it goes, the change is made or it
// is not, the next index gets a number of its own, and the store can be opened again.
func TestAClientMayGoAwayDuringAChange(t *testing.T) {
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			before, after := outcomes(t, change)
			for at, reached := 1, true; reached; at++ {
				c, e := coordmemory.New(), shardmemory.New(shardmemory.Options{})
				l := &late{Store: c}
				s := open(t, l, e)
				begin(t, t.Context(), s)
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				l.calls, l.at, l.leave = 0, at, leave
				err := change(ctx, s)
				reached = l.calls >= at
				l.at = 0
				for _, write := range l.later {
					write()
				}
				judge(t, name, err, summary(t, c), before, after)
				usable(t, s, name)
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				s = open(t, c, e)
				clean(t, c, e, name)
				usable(t, s, name)
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
