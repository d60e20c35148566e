package postgres_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/coord/coordtest"
	"github.com/reshelve/reshelve/internal/coord/postgres"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/testing/servers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is a PostgreSQL of the test's own.
func server(t *testing.T, settings map[string]string) *servers.Postgres {
	t.Helper()
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts a real server")
	}
	p, err := servers.StartPostgres(context.Background(), "", settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// schemas makes the schemas of the tests differ.
var schemas atomic.Int64

func schema() string { return fmt.Sprintf("Coord'\"%d", schemas.Add(1)) }

// cases are stores at an address, each in a schema of its own.
func cases(address string) coordtest.Case {
	of := map[coord.Store]string{}
	open := func(t *testing.T, schema string) coord.Store {
		t.Helper()
		s, err := postgres.Open(t.Context(), address, postgres.Options{Schema: schema})
		if err != nil {
			t.Fatal(err)
		}
		of[s] = schema
		return s
	}
	return coordtest.Case{
		Open: func(t *testing.T) coord.Store { return open(t, schema()) },
		Reopen: func(t *testing.T, old coord.Store) coord.Store {
			t.Helper()
			if err := old.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, of[old])
		},
	}
}

func TestLiveTheContract(t *testing.T) {
	coordtest.Run(t, cases(server(t, nil).URL))
}

func TestLiveDeletionsAreForgottenAndSaidToBe(t *testing.T) {
	url := server(t, nil).URL
	s, err := postgres.Open(t.Context(), url, postgres.Options{Schema: "forgets", Remember: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	kept, err := s.Create(t.Context(), "kept", []byte("v"))
	if err != nil {
		t.Fatal(err)
	}
	gone, err := s.Create(t.Context(), "gone", nil)
	if err == nil {
		err = s.Delete(t.Context(), "gone", gone)
	}
	if err == nil {
		err = postgres.Prune(t.Context(), s)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range s.Watch(t.Context(), "", kept) {
		if !fault.Is(err, fault.Stale) || fault.Next(err) == "" {
			t.Errorf("a watch from before: %v", err)
		}
		break
	}
	at, err := s.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Create(t.Context(), "gone", []byte("again"))
	if err != nil || again <= at {
		t.Fatalf("made again at %d after %d: %v", again, at, err)
	}
	for event, err := range s.Watch(t.Context(), "", at) {
		if err != nil || event.Revision != again || string(event.Value) != "again" {
			t.Errorf("a watch from behind: %v, %v", event, err)
		}
		break
	}
	if record, err := s.Get(t.Context(), "kept"); err != nil || record.Revision != kept {
		t.Errorf("what was kept: %v, %v", record, err)
	}
}

// TestLiveAKilledServerKeepsWhatItAcknowledged kills it in the middle of changes and starts its data again.
func TestLiveAKilledServerKeepsWhatItAcknowledged(t *testing.T) {
	p := server(t, map[string]string{"synchronous_commit": "off", "wal_writer_delay": "10s"}) // the store does not trust that
	s, err := postgres.Open(t.Context(), p.URL, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	acknowledged := map[string]int64{}
	for i := 0; ; i++ {
		if i == 50 {
			if err := syscall.Kill(-p.PID(), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		key := fmt.Sprint("key/", i)
		revision, err := s.Create(t.Context(), key, []byte("v"))
		if err != nil {
			if !fault.Is(err, fault.Unavailable) {
				t.Errorf("killed: %v", err)
			}
			break
		}
		acknowledged[key] = revision
	}
	dir := t.TempDir()
	if os.Geteuid() == 0 {
		dir = filepath.Join(os.TempDir(), fmt.Sprintf("reshelve-killed-%d", os.Getpid()))
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
	}
	if err := os.CopyFS(filepath.Join(dir, "data"), os.DirFS(filepath.Join(p.Dir, "data"))); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(filepath.Join(dir, "data", "postmaster.pid"))
	if err := os.Chmod(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	again, err := servers.StartPostgres(context.Background(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Stop()
	if s, err = postgres.Open(t.Context(), again.URL, postgres.Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for key, revision := range acknowledged {
		if record, err := s.Get(t.Context(), key); err != nil || record.Revision != revision {
			t.Errorf("%s: %v, %v; it was acknowledged at %d", key, record, err, revision)
		}
	}
	if len(acknowledged) < 50 {
		t.Errorf("only %d changes were acknowledged", len(acknowledged))
	}
}

// TestLiveAHistoryThatWasLostMatchesNothing: a replica that lacked the last commits is promoted, here by
// putting the tables back to what they were. Others change the same record as often as was lost. Whoever
// has heard of the lost changes must not replace theirs, since their revisions were given twice.
func TestLiveAHistoryThatWasLostMatchesNothing(t *testing.T) {
	url := server(t, nil).URL
	open := func() *postgres.Store {
		s, err := postgres.Open(t.Context(), url, postgres.Options{Schema: "failover"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	change := func(s *postgres.Store, revision int64, value string) int64 {
		t.Helper()
		next, err := s.Swap(t.Context(), "piece", revision, []byte(value))
		if err != nil || next <= revision {
			t.Fatalf("%d after %d: %v", next, revision, err)
		}
		return next
	}
	before, after := open(), open()
	common, err := before.Create(t.Context(), "piece", []byte("common"))
	if err != nil {
		t.Fatal(err)
	}
	exec(t, url, `create table failover.kept_head as select * from failover.head; create table failover.kept_record as select * from failover.record`)
	lost := []int64{change(before, common, "one that is lost")}
	lost = append(lost, change(before, lost[0], "another"))
	exec(t, url, `truncate failover.head, failover.record; insert into failover.head select * from failover.kept_head; insert into failover.record select * from failover.kept_record`)
	now := change(after, common, "of the other history")
	now = change(after, now, "which goes on")
	for _, revision := range lost {
		if _, err := before.Swap(t.Context(), "piece", revision, []byte("who has slept")); !fault.Is(err, fault.Conflict) {
			t.Errorf("a change of revision %d, which was lost: %v", revision, err)
		}
		if err := before.Delete(t.Context(), "piece", revision); !fault.Is(err, fault.Conflict) {
			t.Errorf("a deletion of revision %d, which was lost: %v", revision, err)
		}
	}
	if record, err := after.Get(t.Context(), "piece"); err != nil || record.Revision != now || string(record.Value) != "which goes on" {
		t.Errorf("%v %v", record, err)
	}
}

// TestLiveWhatCannotBeOpened: each says what it is and what to do.
func TestLiveWhatCannotBeOpened(t *testing.T) {
	url := server(t, nil).URL
	if s, err := postgres.Open(t.Context(), url, postgres.Options{Schema: "newer"}); err != nil {
		t.Fatal(err)
	} else {
		s.Close()
	}
	exec(t, url, `update newer.head set format = 2`)
	exec(t, url, `create role nobody_much login`)
	for name, c := range map[string]struct {
		url  string
		kind fault.Kind
	}{
		"another format":   {url, fault.Refused},
		"no right":         {strings.Replace(url, "postgres@", "nobody_much@", 1), fault.Unauthorised},
		"no such database": {url + "x", fault.NotFound},
		"takes no writes":  {url + "?default_transaction_read_only=on", fault.Unavailable},
		"no address":       {"postgres://user:secret@127.0.0.1:99999/x", fault.Usage},
		"nobody there":     {"postgres://user:secret@127.0.0.1:1/x", fault.Unavailable},
	} {
		o := postgres.Options{Schema: "other"}
		if name == "another format" {
			o.Schema = "newer"
		}
		s, err := postgres.Open(t.Context(), c.url, o)
		if err == nil {
			s.Close()
		}
		if !fault.Is(err, c.kind) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v (%v), want %v", name, err, fault.KindOf(err), c.kind)
		}
		if name != "nobody there" && fault.Next(err) == "" {
			t.Errorf("%s: %v does not say what to do", name, err)
		}
	}
}

// TestLiveManyOpenAtOnce: the tables are made once.
func TestLiveManyOpenAtOnce(t *testing.T) {
	url := server(t, nil).URL
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			s, err := postgres.Open(t.Context(), url, postgres.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if _, err := s.Create(t.Context(), "one", nil); err != nil && !fault.Is(err, fault.Conflict) {
				t.Error(err)
			}
		})
	}
	running.Wait()
}

// exec runs a statement beside the store.
func exec(t *testing.T, url, statement string) {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close(t.Context())
	if _, err := connection.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func TestLiveTheContractWhileAnswersGetLost(t *testing.T) {
	url := server(t, nil).URL
	coordtest.RunUncertain(t, func(t *testing.T) (lossy, calm coord.Store) {
		o := postgres.Options{Schema: schema()}
		good, err := postgres.Open(t.Context(), url, o)
		if err != nil {
			t.Fatal(err)
		}
		var calming atomic.Bool // while the store opens
		calming.Store(true)
		bad, err := postgres.OpenBy(t.Context(), url, o, func(ctx context.Context, network, address string) (net.Conn, error) {
			var dialer net.Dialer
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil || calming.Load() {
				return conn, err
			}
			return &coordtest.LossyConn{Conn: conn, Every: 10}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		calming.Store(false)
		postgres.Reconnect(bad)
		return bad, good
	})
}

// TestLiveMeasure prints the numbers of the package's documentation.
func TestLiveMeasure(t *testing.T) {
	if os.Getenv("RESHELVE_MEASURE") == "" {
		t.Skip("RESHELVE_MEASURE=1 and RESHELVE_LIVE=1 measure it")
	}
	s, err := postgres.Open(t.Context(), server(t, nil).URL, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	coordtest.Measure(t, s, nil)
}
