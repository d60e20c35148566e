package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"github.com/reshelve/reshelve/internal/testing/bench/peers"
)

// result is what was measured of one migration.
type result struct {
	target       string
	documents    int64
	copied       time.Duration // the copy
	ours, theirs time.Duration // processor time meanwhile
	whole        time.Duration // processor time of ours, to the end
	peak         int64         // most anonymous bytes of ours
	resident     int64         // most resident bytes, mapped files included
	first        time.Duration // from the command to the first document, where the target tells it
	compared     time.Duration // the comparison
	comparedOurs time.Duration // processor time meanwhile
	sources      int64         // bytes of sources; into the null target of requests
}

// sample is the processor time that processes had used at a moment.
type sample struct {
	at           time.Time
	ours, theirs time.Duration
}

// watched is a running migration and what was seen of it.
type watched struct {
	cmd     *exec.Cmd
	out     bytes.Buffer
	began   time.Time
	samples []sample
	most    int64 // resident bytes
	stop    func() int64
	ended   chan struct{}
	err     error
}

// start starts a process of ours and looks at its processor time fifty times a second; and at that
// of its target, unless that is nil.
func start(ctx context.Context, binary string, target *peers.Peer, args ...string) (*watched, error) {
	w := &watched{ended: make(chan struct{})}
	w.cmd = exec.CommandContext(ctx, binary, append(args, "--output", "json", "-q")...)
	w.cmd.Stdout = &w.out
	var told bytes.Buffer
	w.cmd.Stderr = &told
	w.began = time.Now()
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	ours := peers.Attach("reshelve "+args[0], w.cmd.Process.Pid)
	w.stop = ours.Peak()
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		for {
			w.look(ours, target)
			select {
			case <-w.ended:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	go func() {
		defer close(w.ended)
		if err := w.cmd.Wait(); err != nil {
			w.err = fmt.Errorf("reshelve %s: %w: %s", args[0], err, told.Bytes())
		}
	}()
	wait := w.stop
	w.stop = func() int64 {
		<-w.ended
		<-looked
		return wait()
	}
	return w, nil
}

func (w *watched) look(ours, target *peers.Peer) {
	now := sample{at: time.Now()}
	var err error
	if now.ours, err = ours.CPU(); err != nil {
		return
	}
	if target != nil {
		now.theirs, _ = target.CPU()
	}
	if resident, err := ours.Resident(); err == nil {
		w.most = max(w.most, resident)
	}
	w.samples = append(w.samples, now)
}

// at is the last sample before a moment.
func (w *watched) at(moment time.Time) sample {
	i, _ := slices.BinarySearchFunc(w.samples, moment, func(s sample, t time.Time) int { return s.at.Compare(t) })
	return w.samples[max(i-1, 0)]
}

// told is what a migration prints.
type told struct {
	State    string
	Cause    string
	Created  time.Time
	Progress struct{ Acknowledged, Bytes int64 }
	Phases   []struct {
		Name           string
		Started, Ended time.Time
	}
}

// finish waits for the end of a migration that has to prove itself, and sums it up.
func (w *watched) finish(r *result) error {
	r.peak = w.stop()
	r.resident = w.most
	if w.err != nil {
		return w.err
	}
	var m told
	if err := json.Unmarshal(w.out.Bytes(), &m); err != nil {
		return err
	}
	if m.State != "finished" {
		return errors.New("the migration is " + m.State + ": " + m.Cause)
	}
	for _, phase := range m.Phases {
		from, to := w.at(phase.Started), w.at(phase.Ended)
		switch phase.Name {
		case "documents":
			r.copied, r.ours, r.theirs = phase.Ended.Sub(phase.Started), to.ours-from.ours, to.theirs-from.theirs
		case "verify":
			r.compared, r.comparedOurs = phase.Ended.Sub(phase.Started), to.ours-from.ours
		}
	}
	r.documents, r.sources = m.Progress.Acknowledged, m.Progress.Bytes
	r.whole = w.samples[len(w.samples)-1].ours
	return nil
}

// intoNull migrates into the null target, until everything was sent.
func (b *bench) intoNull(ctx context.Context) (*result, error) {
	var target null
	url, stop, err := target.serve()
	if err != nil {
		return nil, err
	}
	defer stop()
	w, err := start(ctx, b.binary, nil, b.migration(url)...)
	if err != nil {
		return nil, err
	}
	r := &result{target: "null target"}
	first, copied, err := w.sent(&target)
	if err != nil {
		return nil, err
	}
	_ = w.cmd.Process.Kill()
	r.peak = w.stop()
	from, to := w.at(first), w.at(copied)
	r.documents, r.sources, r.resident = target.documents.Load(), target.bytes.Load(), w.most
	r.copied, r.ours, r.first = copied.Sub(first), to.ours-from.ours, first.Sub(w.began)
	return r, nil
}

// sent waits until the null target has all documents.
func (w *watched) sent(target *null) (first, copied time.Time, err error) {
	for copied.IsZero() {
		select {
		case first = <-target.first:
		case copied = <-target.copied:
		case <-w.ended:
			return first, copied, fmt.Errorf("it ended before everything was sent: %w\n%s", w.err, w.out.Bytes())
		}
	}
	return first, copied, nil
}
