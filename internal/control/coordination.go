package control

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// isRecords tells whether at names a coordination store, and no target.
func isRecords(at string) bool {
	for _, prefix := range []string{"local:", "postgres://", "postgresql://"} {
		if strings.HasPrefix(at, prefix) {
			return true
		}
	}
	return false
}

// isRecordsAlone tells whether at is a folder that holds a coordination store and no documents.
func isRecordsAlone(at string) bool {
	_, format := os.Stat(filepath.Join(at, "format"))
	_, records := os.Stat(filepath.Join(at, "coord.db"))
	return os.IsNotExist(format) && records == nil
}

// checkTarget refuses a place that holds records alone.
func checkTarget(at string) error {
	if !isRecords(at) {
		return nil
	}
	err := fault.New(fault.Usage, "%q is a place for records, and no target", Bare(at))
	return fault.WithNext(err, "write it as --coordinate, and as the target the folder of a store or http://HOST:PORT")
}

// sideOf opens the target of a migration, which is at, and the coordination store that was
// chosen for it.
func (c *Control) sideOf(ctx context.Context, at string, req *MigrateRequest) (*side, error) {
	create := !req.compares // what is compared with is there
	if err := checkTarget(at); err != nil {
		return nil, err
	}
	switch {
	case req.Coordinate == "" || req.Coordinate == "auto" || req.Coordinate == "target":
		s, err := c.side(ctx, at, create, req.Memory, req.Logger)
		if err == nil && s.client == nil { // records alone
			err = errors.Join(fault.WithNext(fault.At(fault.New(fault.NotFound, "it is no data folder of reshelve"), at), "name the folder of a store"), s.leave())
			return nil, err
		}
		return s, err
	case !isRecords(req.Coordinate):
		err := fault.New(fault.Usage, "--coordinate %q is no place for records", Bare(req.Coordinate))
		return nil, fault.WithNext(err, "write auto, target, local:DIR or postgres://USER@HOST/DATABASE")
	}
	t, err := c.target(ctx, at, create, req.Memory, req.Logger)
	if err != nil {
		return nil, err
	}
	if req.admit != nil {
		err = req.admit(&side{client: t.Client})
	}
	var s *side
	if err == nil { // the place is made where it is not there
		s, err = c.elsewhere(ctx, req.Coordinate, true, req.Memory, req.Logger)
	}
	if err != nil {
		return nil, errors.Join(err, t.leave())
	}
	s.targets.add(req.recorded(), t)
	s.client = t.Client
	return s, nil
}

// Place is where the movement is recorded, as workers are told of it.
func (req *MigrateRequest) Place() string {
	if req.Coordinate == "" || req.Coordinate == "auto" || req.Coordinate == "target" {
		return req.Target
	}
	return req.Coordinate
}

// recorded is the target as a record names it: without credentials, and the same wherever a
// worker is started when workers do not come through the target.
func (req *MigrateRequest) recorded() string {
	at := Bare(req.Target)
	if isRecords(req.Coordinate) {
		at = absolute(at)
	}
	return at
}

// elsewhere opens a coordination store that lies beside all targets. A folder is opened by one
// process, through which others come; it is made where create says so.
func (c *Control) elsewhere(ctx context.Context, at string, create bool, memory int64, logger *slog.Logger) (*side, error) {
	s := &side{beside: true, at: Bare(at), targets: &targets{memory: memory, logger: logger}}
	dir, isLocal := strings.CutPrefix(at, "local:")
	if !isLocal && isRecords(at) {
		records, err := c.contact.records(ctx, at, func(ctx context.Context) (coord.Store, error) { return c.wiring.Records(ctx, at) })
		if err != nil {
			return nil, err
		}
		s.coord, s.leave = records, func() error { return errors.Join(s.targets.leave(), records.Close()) }
		return s, nil
	}
	s.at = "local:" + absolute(dir)
	var records coord.Store
	var leave func() error
	err := untilOpen(ctx, func() (err error) {
		records, leave, s.alone, err = c.localRecords(ctx, dir, create)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.coord, s.leave = records, func() error { return errors.Join(s.targets.leave(), leave()) }
	return s, nil
}

// localRecords opens the coordination store in a folder, or reaches the process that has: alone tells
// that this one has.
func (c *Control) localRecords(ctx context.Context, dir string, create bool) (records coord.Store, leave func() error, alone bool, err error) {
	if conn, err := dialInside(ctx, dir); err == nil {
		_ = conn.Close()
		transport := over(func(ctx context.Context) (net.Conn, error) { return dialInside(ctx, dir) })
		records, err := c.wiring.Remote(ctx, Reached{Client: cluster.Via(transport, dir), Address: "http://store", Transport: transport})
		if err != nil {
			transport.CloseIdleConnections()
			return nil, nil, false, err
		}
		return records, func() error {
			err := records.Close()
			transport.CloseIdleConnections()
			return err
		}, false, nil
	}
	if _, err := os.Stat(filepath.Join(dir, "coord.db")); os.IsNotExist(err) && !create { // to look makes no store
		err := fault.At(fault.New(fault.NotFound, "no movements are recorded there"), "local:"+dir)
		return nil, nil, false, fault.WithNext(err, "name the folder that migrate was given as --coordinate, as this machine sees it")
	}
	if records, err = c.wiring.Records(ctx, "local:"+dir); err != nil {
		return nil, nil, false, err
	}
	socket, err := listenInside(ctx, dir)
	if err != nil {
		return nil, nil, false, errors.Join(err, records.Close())
	}
	server := guardLocal(c.wiring.Offer(records))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.serve(socket) // ends with Close
	}()
	return records, func() error {
		_ = server.Close()
		<-ended
		return records.Close()
	}, true, nil
}

// targets are those of the movements of one coordination store, as they are met. Safe for
// concurrent use.
type targets struct {
	memory int64
	logger *slog.Logger

	mu   sync.Mutex
	open map[string]*target
}

func (t *targets) add(at string, opened *target) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open = map[string]*target{}
	}
	t.open[at] = opened
}

func (t *targets) leave() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []error
	for _, opened := range t.open {
		all = append(all, opened.leave())
	}
	t.open = nil
	return errors.Join(all...)
}

// source is a client of a cluster of which a snapshot is taken.
func (s *side) source(ctx context.Context, c *Control, at string) (*cluster.Client, error) {
	s.sources.Lock()
	defer s.sources.Unlock()
	if there := s.sources.open[at]; there != nil {
		return there, nil
	}
	client, err := c.openSource(ctx, at)
	if err != nil {
		return nil, err
	}
	if s.sources.open == nil {
		s.sources.open = map[string]*cluster.Client{}
	}
	s.sources.open[at] = client
	return client, nil
}

// reach is a client of the target of a movement.
func (s *side) reach(ctx context.Context, c *Control, at string) (*cluster.Client, error) {
	if !s.beside {
		return s.client, nil
	}
	t, err := s.target(ctx, c, at)
	if err != nil {
		return nil, err
	}
	return t.Client, nil
}

// target is a target of a movement that is recorded beside it.
func (s *side) target(ctx context.Context, c *Control, at string) (*target, error) {
	s.targets.mu.Lock()
	defer s.targets.mu.Unlock()
	if there := s.targets.open[at]; there != nil {
		return there, nil
	}
	opened, err := c.target(ctx, at, false, s.targets.memory, s.targets.logger)
	if err != nil {
		return nil, err
	}
	if s.targets.open == nil {
		s.targets.open = map[string]*target{}
	}
	s.targets.open[at] = opened
	return opened, nil
}
