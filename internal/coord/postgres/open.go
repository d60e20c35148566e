package postgres

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

// format is the version of the tables.
const format = 1

// longestName is how long PostgreSQL's names are, in bytes.
const longestName = 63

// Options of a store. The zero value of a field is its default.
type Options struct {
	Schema   string        // of the tables; "reshelve_coord"
	Poll     time.Duration // how long a watch waits for a notification before it looks; two seconds
	Remember time.Duration // how long deletions are remembered at least, for watches that lag; an hour
}

func (o Options) withDefaults() Options {
	if o.Schema == "" {
		o.Schema = "reshelve_coord"
	}
	if o.Poll <= 0 {
		o.Poll = 2 * time.Second
	}
	if o.Remember <= 0 {
		o.Remember = time.Hour
	}
	return o
}

// Open opens the coordination store of a database, whose tables it makes when they
// are not there. URL is as libpq has it, "postgres://USER@HOST:PORT/DATABASE", with
// pgx's own parameters (pool_max_conns). Tables of another format are fault.Refused.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	o = o.withDefaults()
	if len(o.Schema) > longestName {
		return nil, fault.New(fault.Usage, "the schema's name has %d bytes; PostgreSQL takes %d", len(o.Schema), longestName)
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil { // it tells the address without the password
		err = fault.New(fault.Usage, "%w", err)
		return nil, fault.WithNext(err, "write postgres://USER@HOST:PORT/DATABASE")
	}
	config.ConnConfig.RuntimeParams["synchronous_commit"] = "on"
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "reshelve"
	}
	return open(ctx, config, o)
}

func open(ctx context.Context, config *pgxpool.Config, o Options) (*Store, error) {
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), config)
	if err != nil {
		return nil, fault.New(fault.Usage, "%w", err)
	}
	s := &Store{pool: pool, options: o, life: coord.NewLife(), sql: statements(o.Schema), changed: make(chan struct{}),
		place: config.ConnConfig.Host + "/" + config.ConnConfig.Database}
	if err := s.prepare(ctx); err != nil {
		err = fault.At(s.explain(ctx, err), "coordination store "+o.Schema)
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// prepare makes the tables and looks at their format. Those who open the store at the same time
// wait for each other.
func (s *Store) prepare(ctx context.Context) error {
	var there bool
	if err := s.pool.QueryRow(ctx, s.sql.there).Scan(&there); err != nil {
		return err
	}
	if !there {
		err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			for _, statement := range s.sql.setUp {
				if _, err := tx.Exec(ctx, statement); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	var found int
	var at time.Time
	if err := s.pool.QueryRow(ctx, s.sql.head).Scan(&found, &at); err != nil {
		return err
	}
	if found != format {
		err := fault.New(fault.Refused, "the tables have format %d; this program knows %d", found, format)
		return fault.WithNext(err, "name another schema, or use the program that made these tables")
	}
	s.clock.Raise(at)
	return nil
}

// sql are the statements of a store, with the names of its tables in them.
type sql struct {
	there, head                         string
	setUp                               []string
	get, list, revision, now            string
	create, swap, remove                string
	step, oldest, raise, forget, listen string
}

// step is by how much a change raises the revision: at random, about two million, so that 63 bits are
// enough for four million million changes. When a replica is promoted that lacked the last commits, or
// an older state is restored, revisions are given again from there on; a change that quotes one of what
// was lost must not meet another record that happens to have it, and does once in four million times.
const step = `1 + floor(random() * 4194304)::bigint`

// statements fills in the schema.
func statements(schema string) sql {
	name := pgx.Identifier{schema}.Sanitize()
	literal := "'" + strings.ReplaceAll(schema, "'", "''") + "'"
	fill := strings.NewReplacer("@schema", name, "@literal", literal, "@step", step).Replace
	next := `with next as (update @schema.head set revision = revision + @step, at = greatest(at, clock_timestamp()) where `
	tell := `, told as (select pg_notify('reshelve_coord', '') from next) `
	return sql{
		there: fill(`select count(*) = 2 from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = @literal and c.relname in ('head', 'record')`),
		setUp: []string{
			`select pg_advisory_xact_lock(hashtext('reshelve coordination store'))`,
			fill(`create schema if not exists @schema`),
			fill(`create table if not exists @schema.head (one boolean primary key default true check (one), format int not null, ` +
				`revision bigint not null, at timestamptz not null, horizon bigint not null) with (fillfactor = 50)`),
			fill(`create table if not exists @schema.record (key bytea primary key, value bytea, revision bigint not null unique, at timestamptz not null)`),
			fill(`insert into @schema.head values (true, 1, 0, clock_timestamp(), 0) on conflict do nothing`),
		},
		head:     fill(`select format, at from @schema.head`),
		get:      fill(`select value, revision from @schema.record where key = $1 and value is not null`),
		list:     fill(`select key, value, revision from @schema.record where value is not null and key >= $1 and ($2::bytea is null or key < $2) order by key`),
		revision: fill(`select revision from @schema.head`),
		now:      fill(`select clock_timestamp(), at from @schema.head`),
		create: fill(next + `not exists (select from @schema.record where key = $1 and value is not null) returning revision, at)` + tell +
			`insert into @schema.record as r select $1, $2, revision, at from next, told ` +
			`on conflict (key) do update set value = excluded.value, revision = excluded.revision, at = excluded.at where r.value is null returning revision`),
		swap: fill(next + `exists (select from @schema.record where key = $1 and revision = $2 and value is not null) returning revision, at)` + tell +
			`update @schema.record r set value = $3, revision = next.revision, at = next.at from next, told ` +
			`where r.key = $1 and r.revision = $2 and r.value is not null returning r.revision`),
		remove: fill(next + `exists (select from @schema.record where key = $1 and revision = $2 and value is not null) returning revision, at)` + tell +
			`update @schema.record r set value = null, revision = next.revision, at = next.at from next, told ` +
			`where r.key = $1 and r.revision = $2 and r.value is not null returning r.revision`),
		step: fill(`select h.revision, h.horizon, c.key, c.value, c.revision from @schema.head h left join (` +
			`select key, value, revision from (select key, value, revision, ` +
			`sum(coalesce(octet_length(value), 0)) over (order by revision rows between unbounded preceding and 1 preceding) as ahead ` +
			`from (select * from @schema.record where revision > $1 and key >= $2 and ($3::bytea is null or key < $3) order by revision limit $4) few) sized ` +
			`where coalesce(ahead, 0) < $5) c on true order by c.revision`),
		oldest: fill(`select coalesce(max(revision), 0) from @schema.record where value is null and at < clock_timestamp() - $1::interval`),
		raise:  fill(`update @schema.head set horizon = greatest(horizon, $1)`),
		forget: fill(`delete from @schema.record where value is null and revision <= $1`),
		listen: fill(`listen reshelve_coord`),
	}
}

// Close ends the store, its watches and its connections.
func (s *Store) Close() error {
	s.life.End()
	s.listening.Wait()
	s.pool.Close()
	return nil
}

// Store is a coord.Store. Make it with Open.
type Store struct {
	pool    *pgxpool.Pool
	place   string
	options Options
	sql     sql
	life    *coord.Life
	clock   coord.Asked

	deletions atomic.Int64

	listenOnce sync.Once
	listening  sync.WaitGroup
	mu         sync.Mutex
	changed    chan struct{} // closed by a notification
}
