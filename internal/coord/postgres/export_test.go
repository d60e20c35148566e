package postgres

import (
	"context"
	"net"

	"github.com/jackc/pgx/v5/pgxpool"
)

// OpenBy is Open on connections that dial makes.
func OpenBy(ctx context.Context, url string, o Options, dial func(context.Context, string, string) (net.Conn, error)) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.ConnConfig.DialFunc = dial
	return open(ctx, config, o.withDefaults())
}

// Prune removes old deletions.
func Prune(ctx context.Context, s *Store) error { return s.prune(ctx) }

// Reconnect drops the connections that are there.
func Reconnect(s *Store) { s.pool.Reset() }
