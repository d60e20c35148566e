package embedded_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
)

// listener is a slog.Handler that keeps what is said.
type listener struct {
	mu   sync.Mutex
	said []string
}

func (*listener) Enabled(context.Context, slog.Level) bool { return true }

func (l *listener) Handle(_ context.Context, r slog.Record) error {
	said := r.Message
	r.Attrs(func(a slog.Attr) bool {
		said += " " + a.String()
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, said)
	return nil
}

func (l *listener) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *listener) WithGroup(string) slog.Handler      { return l }

// of is what was said about something.
func (l *listener) of(what string) (said []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.said {
		if strings.Contains(s, what) {
			said = append(said, s)
		}
	}
	return said
}
