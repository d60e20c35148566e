package sim

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// Script is a run: a seed, a fleet, and what befalls it. Its text form is one line each:
//
//	seed 7
//	workers 3 slots 2
//	lease 40s heartbeat 1.5s attempts 40
//	bulk 1500 takes 2s
//	shards 2 keys 12 clients 3 budget 250ms    an index is reshaped; without it, snapshots are migrated
//	into-existing
//	transform                         documents are dropped, and changed, on their way
//	delta forth                       the older snapshot first, then what has changed since; or back
//	crash w1 at 12.5s for 3s          the process dies, and another begins after 3 s
//	stop w1 at 12.5s for 3s           the same, but told to (SIGTERM)
//	pause w2 at 20s for 1m30s         it stands still (SIGSTOP), and wakes
//	crash-before 57 for 1s            who is about to take step 57 dies, and it is not taken
//	crash-after 57 for 1s             it is taken, and nobody hears of it
//	cut-off w1 at 20s for 1m30s       the store is away from this worker alone
//	store away at 10s for 20s         see [Befalls]
//	target busy at 10s for 20s
//	source away at 10s for 20s
//	lost 7 at 5s for 20s              a blob of the snapshot is not there; without for: for good
//	damaged 7 at 5s                   the same, with a flipped bit
//	clock 3m at 30s                   the store's clock leaps; -3m: it is set back
//	skew w1 for -20m                  the clock of a machine is behind the store's
//	verb abort at 40s                 an operator asks for it
//	limit 3 at 5s                     an operator allows so many documents a second; 0: any number
//	hours 00:01-00:05 at 5s           an operator allows these hours, of the day that begins with the run
//	steal loans at 50s                somebody deletes a document of the target's index
//	others 300ms at 5s for 40s        others write on the target, so often
//
// And of those that reshape an index, whose steps are the changes of the disk, too, but for writes:
//
//	split 0/3 at 5s                   the shard with the lowest range becomes three; all/2: each becomes two
//	merge 1+2 at 5s                   the second by range is joined with the one behind it
//	split-keeping 0/3 at 5s           the same, and the way back is kept; so merge-keeping
//	delete books at 5s                an operator deletes the index
//	delete-at 57                      the same, when step 57 is about to be taken
//	follows                           somebody follows the changes of all shards
//	disk full at 10s for 20s
//	clients cut at 10s for 20s        nothing passes between the process and who asks it, and answers are lost
//	stall 57 for 1m                   the slot that is about to take step 57 stands still, the others go on
//	pause-before 57 for 1m            its whole process does
//	full-at 57 for 20s                the disk is full from step 57 on, also the coordination store's
//	torn 12 for 1s                    the process dies in the middle of the 12th request that writes
type Script struct {
	Seed      uint64
	Workers   int
	Slots     int
	Lease     time.Duration
	Heartbeat time.Duration
	Attempts  int
	Bulk      int           // bytes that a request to the target may have
	Takes     time.Duration // about, one way of a bulk request
	Into      bool          // the target has an index with documents before
	Transform bool          // documents go through [steps]
	Shards    int           // of the index that is reshaped; 0: snapshots are migrated
	Keys      int           // documents that clients work with
	Clients   int
	Budget    time.Duration // of the pause of a hand-off
	Follows   bool          // somebody follows the changes
	Delta     string        // forth: the older snapshot is brought first; back: the newer one; "": there is one movement
	Mishaps   []Mishap
}

// Mishap is one line of what befalls a fleet.
type Mishap struct {
	What string // the first word of the line
	Whom string // a process, a step, a kind of failure, a distance, a verb, an index, a blob, a limit
	At   time.Duration
	For  time.Duration
}

// Befalls are the kinds of failures of the store and of the target, by who fails.
var Befalls = map[string][]string{
	// Unreachable; answers late; changes things and does not say so; refuses most requests for
	// now, as adapters tell of 429 and 5xx; makes no successors of items.
	"store": {"away", "slow", "unsure", "busy", "barren"},
	// 429; 503 and 500; unreachable; the connection breaks after the request was applied;
	// answers late; the disks are full: 403 for each document; the flood stage of the disks: 429
	// for each; every third item is rejected; some documents are refused for good: 400.
	"target": {"busy", "broken", "away", "unsure", "slow", "full", "flood", "picky", "refuses"},
	// Unreachable, also in the middle of a blob; 503 and broken connections; answers late.
	"source": {"away", "broken", "slow"},
	// Full: nothing is written; answers late; a write is there and nobody is told so.
	"disk": {"full", "slow", "unsure"},
	// Cut off: they do not reach the process, and do not hear what it has answered.
	"clients": {"cut"},
}

// String is the line.
func (m Mishap) String() string {
	text := m.What + " " + m.Whom
	if !m.stepped() {
		text += " at " + m.At.String()
	}
	if m.For != 0 {
		text += " for " + m.For.String()
	}
	return text
}

// stepped tells whether it happens at a step, or at a write, and not at an instant.
func (m Mishap) stepped() bool {
	switch m.What {
	case "crash-before", "crash-after", "stall", "pause-before", "full-at", "torn", "delete-at":
		return true
	}
	return false
}

// String is the text form.
func (s *Script) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d\nworkers %d slots %d\nlease %s heartbeat %s attempts %d\nbulk %d takes %s\n",
		s.Seed, s.Workers, s.Slots, s.Lease, s.Heartbeat, s.Attempts, s.Bulk, s.Takes)
	if s.Shards > 0 {
		fmt.Fprintf(&b, "shards %d keys %d clients %d budget %s\n", s.Shards, s.Keys, s.Clients, s.Budget)
	}
	if s.Into {
		b.WriteString("into-existing\n")
	}
	if s.Follows {
		b.WriteString("follows\n")
	}
	if s.Transform {
		b.WriteString("transform\n")
	}
	if s.Delta != "" {
		b.WriteString("delta " + s.Delta + "\n")
	}
	for _, m := range s.Mishaps {
		b.WriteString(m.String() + "\n")
	}
	return b.String()
}

// Parse reads the text form. Empty lines, and what follows a #, mean nothing.
func Parse(text string) (*Script, error) {
	s := &Script{Workers: 1, Slots: 1, Lease: time.Minute, Heartbeat: 5 * time.Second, Attempts: 4, Bulk: 1500, Takes: 400 * time.Millisecond,
		Keys: 8, Clients: 2, Budget: 250 * time.Millisecond}
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if err := s.line(words); err != nil {
			return nil, fmt.Errorf("sim: line %d: %q: %w", n, lines.Text(), err)
		}
	}
	return s, lines.Err()
}

func (s *Script) line(words []string) error {
	switch words[0] {
	case "into-existing":
		s.Into = true
		return nil
	case "follows":
		s.Follows = true
		return nil
	case "seed", "workers", "slots", "lease", "heartbeat", "attempts", "bulk", "takes", "shards", "keys", "clients", "budget":
		return s.numbers(words)
	}
	if words[0] == "transform" {
		s.Transform = true
		return nil
	}
	m := Mishap{What: words[0]}
	if len(words) < 2 {
		return fmt.Errorf("it says too little")
	}
	if words[0] == "delta" {
		if s.Delta = words[1]; s.Delta != "forth" && s.Delta != "back" {
			return fmt.Errorf("a delta goes forth or back")
		}
		return nil
	}
	m.Whom = words[1]
	for rest := words[2:]; len(rest) > 0; rest = rest[2:] {
		if len(rest) < 2 {
			return fmt.Errorf("%q has no value", rest[0])
		}
		d, err := time.ParseDuration(rest[1])
		if err != nil {
			return err
		}
		switch rest[0] {
		case "at":
			m.At = d
		case "for":
			m.For = d
		default:
			return fmt.Errorf("%q is no word of it", rest[0])
		}
	}
	s.Mishaps = append(s.Mishaps, m)
	return m.check()
}

func (s *Script) numbers(words []string) (err error) {
	for ; len(words) > 0 && err == nil; words = words[2:] {
		if len(words) < 2 {
			return fmt.Errorf("%q has no value", words[0])
		}
		switch words[0] {
		case "seed":
			s.Seed, err = strconv.ParseUint(words[1], 10, 64)
		case "workers":
			s.Workers, err = strconv.Atoi(words[1])
		case "slots":
			s.Slots, err = strconv.Atoi(words[1])
		case "attempts":
			s.Attempts, err = strconv.Atoi(words[1])
		case "bulk":
			s.Bulk, err = strconv.Atoi(words[1])
		case "shards":
			s.Shards, err = strconv.Atoi(words[1])
		case "keys":
			s.Keys, err = strconv.Atoi(words[1])
		case "clients":
			s.Clients, err = strconv.Atoi(words[1])
		case "budget":
			s.Budget, err = time.ParseDuration(words[1])
		case "lease":
			s.Lease, err = time.ParseDuration(words[1])
		case "takes":
			s.Takes, err = time.ParseDuration(words[1])
		case "heartbeat":
			s.Heartbeat, err = time.ParseDuration(words[1])
		default:
			err = fmt.Errorf("%q is no word of it", words[0])
		}
	}
	return err
}

func (m Mishap) check() (err error) {
	switch m.What {
	case "crash", "stop", "pause", "cut-off", "verb", "steal", "skew", "delete":
	case "split", "split-keeping":
		var n int
		if _, err = fmt.Sscanf(strings.Replace(m.Whom, "all/", "0/", 1), "%d/%d", &n, &n); err != nil {
			err = fmt.Errorf("%q is no shard and parts: 0/2", m.Whom)
		}
	case "merge", "merge-keeping":
		var n int
		if _, err = fmt.Sscanf(m.Whom, "%d+%d", &n, &n); err != nil {
			err = fmt.Errorf("%q is no shard and neighbours: 0+2", m.Whom)
		}
	case "crash-before", "crash-after", "stall", "pause-before", "full-at", "torn", "delete-at", "lost", "damaged":
		_, err = strconv.ParseUint(m.Whom, 10, 31)
	case "limit":
		_, err = strconv.ParseFloat(m.Whom, 64)
	case "hours":
		_, err = migrate.ParseHours(m.Whom)
	case "clock", "others":
		_, err = time.ParseDuration(m.Whom)
	case "store", "target", "source", "disk", "clients":
		for _, kind := range Befalls[m.What] {
			if kind == m.Whom {
				return nil
			}
		}
		err = fmt.Errorf("%q befalls no %s", m.Whom, m.What)
	default:
		err = fmt.Errorf("%q is nothing that befalls", m.What)
	}
	return err
}
