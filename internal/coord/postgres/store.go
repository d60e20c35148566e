package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

// Get is coord.Store's.
func (s *Store) Get(ctx context.Context, key string) (coord.Record, error) {
	if err := coord.CheckKey(key); err != nil {
		return coord.Record{}, err
	}
	record := coord.Record{Key: key}
	err := s.one(ctx, s.sql.get, []any{[]byte(key)}, &record.Value, &record.Revision)
	if errors.Is(err, pgx.ErrNoRows) {
		return coord.Record{}, coord.Missing(key)
	}
	if err != nil {
		return coord.Record{}, err
	}
	return record, nil
}

// List is coord.Store's: the records of one instant.
func (s *Store) List(ctx context.Context, prefix string) ([]coord.Record, error) {
	ctx, done, err := s.life.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	rows, err := s.pool.Query(ctx, s.sql.list, []byte(prefix), behind(prefix))
	if err != nil {
		return nil, s.explain(ctx, err)
	}
	records, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r coord.Record, err error) {
		var key []byte
		err = row.Scan(&key, &r.Value, &r.Revision)
		r.Key = string(key)
		return r, err
	})
	return records, s.explain(ctx, err)
}

// behind is the first key behind all that begin with prefix; nil when there is none.
func behind(prefix string) []byte {
	end := []byte(prefix)
	for len(end) > 0 && end[len(end)-1] == 0xff {
		end = end[:len(end)-1]
	}
	if len(end) == 0 {
		return nil
	}
	end[len(end)-1]++
	return end
}

// Revision is coord.Store's.
func (s *Store) Revision(ctx context.Context) (revision int64, err error) {
	return revision, s.one(ctx, s.sql.revision, nil, &revision)
}

// Now is coord.Store's: the server's clock, with half of the time that asking took, and not before
// the last write.
func (s *Store) Now(ctx context.Context) (coord.Time, error) {
	var at, written time.Time
	from := time.Now()
	if err := s.one(ctx, s.sql.now, nil, &at, &written); err != nil {
		return coord.Time{}, err
	}
	s.clock.Raise(written)
	return s.clock.Answered(coord.Time{At: at, Error: time.Microsecond}, from), nil
}

// Create is coord.Store's.
func (s *Store) Create(ctx context.Context, key string, value []byte) (int64, error) {
	w := coord.Write{Op: coord.OpCreate, Key: key, Value: value}
	return s.change(ctx, w, s.sql.create, []byte(key), filled(value))
}

// Swap is coord.Store's.
func (s *Store) Swap(ctx context.Context, key string, revision int64, value []byte) (int64, error) {
	w := coord.Write{Op: coord.OpSwap, Key: key, Revision: revision, Value: value}
	return s.change(ctx, w, s.sql.swap, []byte(key), revision, filled(value))
}

// Delete is coord.Store's. It leaves a row without a value, so that watches see it.
func (s *Store) Delete(ctx context.Context, key string, revision int64) error {
	w := coord.Write{Op: coord.OpDelete, Key: key, Revision: revision}
	_, err := s.change(ctx, w, s.sql.remove, []byte(key), revision)
	if err == nil && s.deletions.Add(1)%pruneEvery == 0 {
		_ = s.prune(ctx) // another deletion tries again: the one that was asked for has happened
	}
	return err
}

// filled is the value, an empty one instead of none.
func filled(value []byte) []byte {
	if value == nil {
		return []byte{}
	}
	return value
}

// change makes one change; its statement returns no row when the condition fails.
func (s *Store) change(ctx context.Context, w coord.Write, statement string, args ...any) (revision int64, err error) {
	if err := w.Check(); err != nil {
		return 0, err
	}
	err = s.one(ctx, statement, args, &revision)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, lost(w)
	}
	return revision, err
}

func lost(w coord.Write) error {
	err := fault.New(fault.Conflict, "it is no more at revision %d, which was to be changed", w.Revision)
	if w.Op == coord.OpCreate {
		err = fault.New(fault.Conflict, "it exists already")
	}
	return fault.WithNext(fault.At(err, "record "+w.Key), "somebody else changed it: read it again and decide anew")
}

// one asks for one row.
func (s *Store) one(ctx context.Context, statement string, args []any, into ...any) error {
	ctx, done, err := s.life.Begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return s.explain(ctx, s.pool.QueryRow(ctx, statement, args...).Scan(into...))
}

// explain gives an error of the server or of the way to it its kind.
func (s *Store) explain(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if ended := s.life.Ended(ctx); ended != nil {
		return ended
	}
	var known *fault.Error
	if errors.As(err, &known) {
		return err
	}
	kind, next := fault.Unavailable, ""
	var told *pgconn.PgError
	var refused *pgconn.ConnectError
	if errors.As(err, &told) {
		kind, next = meaning(told.Code)
	}
	var distrusted *tls.CertificateVerificationError
	if errors.As(err, &distrusted) {
		kind, next = fault.Refused, "set PGSSLROOTCERT to the file of the certificate of the authority that signed it (PEM), or write sslrootcert=FILE in the address; with sslmode=verify-full it has to be made out to the host, too"
	}
	if errors.As(err, &refused) {
		err = errors.New(reasons(refused))
		if next == "" {
			next = "see whether PostgreSQL answers there: postgres://USER@HOST:PORT/DATABASE"
		}
	}
	err = fault.At(fault.New(kind, "%w", err), s.place)
	if next != "" {
		err = fault.WithNext(err, "%s", next)
	}
	return err
}

// reasons are why no connection was made, each once: pgx tells them in lines, one for each
// address and each way of TLS that it has tried.
func reasons(refused *pgconn.ConnectError) string {
	var all []string
	for _, line := range strings.Split(refused.Error(), "\n")[1:] {
		if line = strings.TrimSpace(line); line != "" && !slices.ContainsFunc(all, func(told string) bool { return strings.Contains(told, line) }) {
			all = append(all, line)
		}
	}
	if len(all) == 0 {
		return refused.Error()
	}
	return "no connection: " + strings.Join(all, "; ")
}

// meaning is what an error code of PostgreSQL (appendix A of its manual) says here.
// What is not listed is fault.Unavailable: whether the change happened is for the caller to read.
func meaning(code string) (kind fault.Kind, next string) {
	for _, m := range []struct {
		prefix string
		kind   fault.Kind
		next   string
	}{
		{"28", fault.Unauthorised, "check the user and the password of the address, and the server's pg_hba.conf"},
		{"42501", fault.Unauthorised, "grant the user the schema: create on the database, or usage of the schema and select, insert, update and delete on its tables"},
		{"3D", fault.NotFound, "create the database, or name another"},
		{"42P01", fault.Unavailable, "somebody dropped the tables of the coordination store: stop all workers, and begin again"},
		{"53100", fault.Unavailable, "free space on the server's disk"},
		{"53300", fault.Unavailable, "raise the server's max_connections, or lower pool_max_conns in the address"},
		{"25006", fault.Unavailable, "this server takes no writes: name the primary"},
		{"54", fault.Limit, ""},
	} {
		if strings.HasPrefix(code, m.prefix) {
			return m.kind, m.next
		}
	}
	return fault.Unavailable, ""
}
