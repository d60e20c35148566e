package main

import (
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/coord/local"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/testing/servers"
)

// repository is one in testdata.
const repository = "../../testdata/repositories/opensearch-2.19.0-basic/repo"

// coordinated moves a repository into a folder by records that lie elsewhere: one process plans
// and starts, and a worker that knows only the records does the rest.
func coordinated(t *testing.T, records string) {
	t.Helper()
	c, data := control.New(wiring), filepath.Join(t.TempDir(), "data")
	request := control.MigrateRequest{Target: data, Coordinate: records, NoWait: true, Yes: true, Selection: control.Selection{Repository: repository}}
	m, err := c.Migrate(t.Context(), request, func(*control.Movement) {})
	if err != nil || m.State != movement.Running {
		t.Fatalf("%v %+v", err, m)
	}
	if all, err := c.Movements(t.Context(), data); err != nil || len(all) != 0 {
		t.Errorf("the target has records of movements: %v %v", all, err)
	}
	if _, err := c.Work(t.Context(), control.WorkerRequest{Join: records, Once: true, Memory: 64 << 20}); err != nil {
		t.Fatal(err)
	}
	m, err = c.Movement(t.Context(), records, m.ID)
	if err != nil || m.State != movement.Finished || m.Progress.Acknowledged == 0 {
		t.Fatalf("%v %+v", err, m)
	}
}

func TestRecordsInAFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "records")
	coordinated(t, "local:"+dir)
	if all, err := control.New(wiring).Movements(t.Context(), dir); err != nil || len(all) != 1 {
		t.Errorf("by its path alone: %v %v", all, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "socket")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a socket is left: %v", err)
	}
}

// TestWhatIsSaidOfADamagedRecordCanBePasted: with the movement's ID and the place, as a shell takes them.
func TestWhatIsSaidOfADamagedRecordCanBePasted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my records")
	records, err := local.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	sound := `{"id":"sound","kind":"migrate","state":"running","phases":[{"name":"documents"}],"plan":{}}`
	for key, value := range map[string]string{"movements/junk": "junk", "movements/sound": sound} {
		if _, err := records.Create(t.Context(), key, []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	if err := records.Close(); err != nil {
		t.Fatal(err)
	}
	c, at := control.New(wiring), "local:"+dir
	_, aborted := c.Tell(t.Context(), control.Order{At: at, ID: "junk", Verb: movement.Abort})
	_, throttled := c.Throttle(t.Context(), control.Order{At: at, ID: "junk"}, control.LimitsChange{})
	_, notDamaged := c.SetAside(t.Context(), at, "sound")
	for err, next := range map[error]string{
		aborted:    "reshelve movement set-aside junk --at '" + at + "'",
		throttled:  "reshelve movement set-aside junk --at '" + at + "'",
		notDamaged: "reshelve movement abort sound --at '" + at + "'",
	} {
		if fault.Next(err) != next {
			t.Errorf("%v → %s, want %s", err, fault.Next(err), next)
		}
	}
}

// TestAMovementThatTheTargetRecords is met by one that is recorded elsewhere: both would write to
// the same indices.
func TestAMovementThatTheTargetRecords(t *testing.T) {
	c, data, records := control.New(wiring), filepath.Join(t.TempDir(), "data"), "local:"+filepath.Join(t.TempDir(), "records")
	request := control.MigrateRequest{Target: data, NoWait: true, Yes: true, Selection: control.Selection{Repository: repository}}
	m, err := c.Migrate(t.Context(), request, func(*control.Movement) {})
	if err != nil {
		t.Fatal(err)
	}
	request.Coordinate = records
	_, err = c.Migrate(t.Context(), request, func(*control.Movement) {})
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "the records on the target itself: movement "+m.ID) || fault.Next(err) == "" {
		t.Errorf("%v → %s", err, fault.Next(err))
	}
	request.Rename = []string{"*=other-*"}
	if _, err := c.Migrate(t.Context(), request, func(*control.Movement) {}); err != nil {
		t.Errorf("into other indices: %v", err)
	}
}

func TestLiveRecordsInPostgres(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	coordinated(t, database(t))
}

// database is a real one, until the test ends.
func database(t *testing.T) (url string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "reshelve-records-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p, err := servers.StartPostgres(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop() })
	return p.URL
}

// openSearch is a real server, until the test ends.
func openSearch(t *testing.T) *servers.Server {
	t.Helper()
	server, err := servers.Start(t.Context(), servers.OpenSearch("2.19.0"), servers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	return server
}

// TestNoPlaceForRecords is refused before anything is made.
func TestNoPlaceForRecords(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	_, err := control.New(wiring).Migrate(t.Context(), control.MigrateRequest{Target: data, Coordinate: "mysql://u:secret@h/d",
		Selection: control.Selection{Repository: repository}}, nil)
	if !fault.Is(err, fault.Usage) {
		t.Error(err)
	}
	if _, err := os.Stat(data); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the target was made: %v", err)
	}
}

// TestAMovementThatIsRecordedElsewhere is met by those that the target records, and by those
// that are recorded in yet another place, until it has ended.
func TestAMovementThatIsRecordedElsewhere(t *testing.T) {
	meetElsewhere(t, filepath.Join(t.TempDir(), "data"), "local:"+filepath.Join(t.TempDir(), "records"))
}

// TestLiveRecordsElsewhere: the same of a real cluster, and of records in a real database.
func TestLiveRecordsElsewhere(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts real servers")
	}
	meetElsewhere(t, openSearch(t).URL, database(t))
}

func meetElsewhere(t *testing.T, target, records string) {
	c, told := control.New(wiring), records
	if u, err := url.Parse(records); err == nil && u.Host != "" { // nobody is told a user's name
		u.User, u.RawQuery = nil, ""
		told = u.String()
	}
	first := control.MigrateRequest{Target: target, Coordinate: records, NoWait: true, Yes: true, Selection: control.Selection{Repository: repository}}
	m, err := c.Migrate(t.Context(), first, nil)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(second control.MigrateRequest) {
		t.Helper()
		_, err := c.Migrate(t.Context(), second, nil)
		if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "movement "+m.ID+", which is recorded at "+told) || !strings.Contains(fault.Next(err), "--at "+told) {
			t.Errorf("%v → %s", err, fault.Next(err))
		}
	}
	there, other := first, first
	there.Coordinate, other.Coordinate = "target", "local:"+filepath.Join(t.TempDir(), "other")
	refused(there)
	refused(other)
	if all, err := c.Movements(t.Context(), other.Coordinate); err != nil || len(all) != 0 {
		t.Errorf("the one that was refused is recorded: %v %v", all, err)
	}
	if _, err := c.Movement(t.Context(), target, m.ID); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), told) {
		t.Errorf("asked of the target: %v", err)
	}
	elsewhere := first
	elsewhere.Target = filepath.Join(t.TempDir(), "elsewhere")
	if _, err := c.Migrate(t.Context(), elsewhere, nil); err != nil {
		t.Errorf("into another target: %v", err)
	}

	if _, err := c.Tell(t.Context(), control.Order{At: records, ID: m.ID, Verb: movement.Abort}); err != nil {
		t.Fatal(err)
	}
	refused(there) // it is at work until it has ended
	worker := control.WorkerRequest{Join: records, Once: true, Memory: 64 << 20}
	if strings.HasPrefix(target, "http") {
		worker.Allow.Targets = []string{target}
	}
	if _, err := c.Work(t.Context(), worker); err != nil {
		t.Fatal(err)
	}
	if m, err = c.Movement(t.Context(), records, m.ID); err != nil || m.State != movement.Aborted {
		t.Fatalf("%v %+v", err, m)
	}
	if _, err := c.Migrate(t.Context(), there, nil); err != nil {
		t.Errorf("after the end of the first: %v", err)
	}
}

// TestRecordsThatAreLost leave a claim on the target, which blocks until it is lifted.
func TestRecordsThatAreLost(t *testing.T) {
	c, data, dir := control.New(wiring), filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "records")
	request := control.MigrateRequest{Target: data, Coordinate: "local:" + dir, NoWait: true, Yes: true, Selection: control.Selection{Repository: repository}}
	m, err := c.Migrate(t.Context(), request, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	request.Coordinate = ""
	if _, err := c.Migrate(t.Context(), request, nil); !fault.Is(err, fault.Conflict) || !strings.Contains(fault.Next(err), "abort --records-lost "+m.ID+" --at ") {
		t.Errorf("%v → %s", err, fault.Next(err))
	}
	if err := c.LiftClaim(t.Context(), data, m.ID); err != nil {
		t.Fatal(err)
	}
	if err := c.LiftClaim(t.Context(), data, m.ID); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	if _, err := c.Migrate(t.Context(), request, nil); err != nil {
		t.Error(err)
	}
}

// TestDamagedRecordsOfAServedFolder hinder no new movement, and orders at the address and at the folder
// take them out of the way.
func TestDamagedRecordsOfAServedFolder(t *testing.T) {
	c, data, id := control.New(wiring), filepath.Join(t.TempDir(), "data"), "20261121-221500-abcdef"
	at, stop := serving(t, data, control.Allowed{Repositories: []string{repository}})
	defer stop()
	damage := func(key string) {
		t.Helper()
		r, err := http.NewRequest(http.MethodPut, at+"/_reshelve/coord/record?key="+key, strings.NewReader(`{"id"`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("If-None-Match", "*")
		r.Header.Set("Content-Type", "application/octet-stream")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if response.Body.Close(); response.StatusCode >= 300 {
			t.Fatal(response.Status)
		}
	}
	for _, place := range []string{at, data} {
		damage("movements/" + id)
		damage("claims/" + id)
		if place == at {
			if status, p := begin(t, at, map[string]any{"from": repository}); status != http.StatusAccepted {
				t.Errorf("beside damaged records: %d %v", status, p)
			}
		}
		aside, err := c.SetAside(t.Context(), place, id)
		if err != nil || !strings.Contains(aside.Key, id) {
			t.Errorf("%s: %+v %v", place, aside, err)
		}
		if err := c.LiftClaim(t.Context(), place, id); err != nil {
			t.Errorf("%s: %v", place, err)
		}
	}
}
