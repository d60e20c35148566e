package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// scene is a movement of the matrix: how it begins, and with how many shards it ends.
type scene struct {
	name   string
	shards int    // before
	order  string // what is posted
	wait   string // the first step of this name waits until the verb was taken
	verb   string // what the steps are counted from; "": from the order
	state  string // in which the movement ends
	after  int    // shards then
}

var scenes = []scene{
	{name: "split", shards: 2, order: `{"kind":"split","index":"shelf","shard":0,"into":3,"pauseBudget":"5s"}`, state: "finished", after: 4},
	{name: "merge", shards: 3, order: `{"kind":"merge","index":"shelf","shards":[0,1,2],"pauseBudget":"5s"}`, state: "finished", after: 1},
	{name: "reverse", shards: 1, order: `{"kind":"split","index":"shelf","into":2,"keepWayBack":true,"pauseBudget":"5s"}`, verb: "reverse", state: "reversed", after: 1},
	{name: "abort", shards: 1, order: `{"kind":"split","index":"shelf","into":2,"pauseBudget":"5s"}`, wait: "stage", verb: "abort", state: "aborted", after: 1},
}

// disturbances of a step: the process is killed right before and right after it; the disk is
// full from it on, until space is given back, to the process that went on or to one that
// was started on the full disk.
var disturbances = []string{"before", "after", "full", "full, killed"}

// cell is one disturbance of one step.
type cell struct {
	scene
	step string
	nth  int
	do   string
}

func (c *cell) String() string { return fmt.Sprintf("%s/%s #%d/%s", c.name, c.step, c.nth, c.do) }

// stepping is the program that tells its durable steps: see cmd/reshelve's TestMain.
var stepping = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "reshelve-steps-")
	if err != nil {
		return "", err
	}
	scratches = append(scratches, dir)
	name := filepath.Join(dir, "reshelve")
	command := exec.CommandContext(context.Background(), "go", "test", "-c", "-o", name, "github.com/reshelve/reshelve/cmd/reshelve")
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("proof: build the binary with steps: %w\n%s", err, output)
	}
	return name, nil
})

// stage is one play of a scene: one data folder and its lives.
type stage struct {
	*scene
	t    *testing.T
	talk *Talk
	dir  string // the data folder
	disk string // the disk that it lies on; "" when that is not its own
	log  string
	*crowd
	p     *Process
	id    string // of the movement; "" when nobody was told it
	taken bool   // the server has said that it does what the scene asks for
	ended string // the state in which the movement has
}

// prepared is a data folder of a scene before its movement.
func (s *scene) prepared(t *testing.T) string {
	t.Helper()
	dir := dataFolder(t)
	p, url := serve(t, dir)
	lay(t, talk(t), url, s.shards)
	stop(t, p)
	return dir
}

// play sets a scene on a copy of a prepared folder.
func (s *scene) play(t *testing.T, prepared, disk string, seed uint64) *stage {
	t.Helper()
	st := &stage{scene: s, t: t, talk: talk(t), disk: disk, log: filepath.Join(t.TempDir(), "steps"), dir: dataFolder(t)}
	if disk != "" {
		st.dir = filepath.Join(disk, "data")
	}
	if output, err := exec.Command("cp", "-a", prepared+"/.", st.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, output)
	}
	st.crowd = newCrowd(t, st.talk, seed, modest)
	return st
}

// live starts a life; with steps, the program that tells them.
func (st *stage) live(disturbed ...map[string]any) {
	st.t.Helper()
	words := []string{"serve", "--data", st.dir, "--listen", "127.0.0.1:0", "--memory", "64MiB"}
	if disturbed == nil {
		st.p = start(st.t, words...)
	} else {
		name, err := stepping()
		if err != nil {
			st.t.Fatal(err)
		}
		told, _ := json.Marshal(map[string]any{"Log": st.log, "Disk": st.disk, "At": disturbed})
		if st.p, err = Start(append([]string{"env", "RESHELVE_STEPS=" + string(told), name}, words...)...); err != nil {
			st.t.Fatal(err)
		}
		p := st.p
		st.t.Cleanup(func() {
			if st.t.Failed() {
				st.t.Logf("%s", p.Stderr())
			}
			_ = p.Kill()
		})
	}
	url := serving(st.t, st.p)
	st.url.Store(&url)
}

// die ends a life.
func (st *stage) die() {
	st.t.Helper()
	st.url.Store(nil)
	if err := st.p.Kill(); err != nil {
		st.t.Fatal(err)
	}
}

// post tells the server something; false when it is gone.
func (st *stage) post(path, body string, want ...int) ([]byte, bool) {
	st.t.Helper()
	at := st.url.Load()
	if at == nil {
		return nil, false
	}
	answer, err := st.talk.Do(st.t.Context(), "POST", *at+path, []byte(body))
	if err != nil {
		return nil, false
	}
	if !slices.Contains(want, answer.Status) {
		st.t.Errorf("POST %s %s: %s", path, body, answer)
	}
	return answer.Body, answer.Status < 300
}

// begin begins the movement and tells it the verb, from where on steps are counted. It ends early
// when the server does, or refuses.
func (st *stage) begin(want ...int) {
	st.t.Helper()
	if st.verb == "" {
		st.file("armed")
	}
	body, went := st.post("/_reshelve/movements", st.order, append(want, 202)...)
	var told toldMovement
	_ = json.Unmarshal(body, &told)
	st.id = told.ID
	if st.taken = went; !went || st.verb == "" {
		return
	}
	if st.wait != "" {
		st.until("the step "+st.wait, func() bool { return slices.Contains(st.marks(), "!wait") })
	} else {
		st.until("the way back is open", func() bool { return st.look().State == "switched" })
	}
	st.file("armed")
	_, st.taken = st.post("/_reshelve/movements/"+st.id+"/"+st.verb, "", append(want, 200, 202)...)
	st.file("go")
}

// file makes a file that the program that tells its steps looks for.
func (st *stage) file(name string) {
	st.t.Helper()
	if err := os.WriteFile(st.log+"."+name, nil, 0o600); err != nil {
		st.t.Fatal(err)
	}
}

// look is the movement as the server tells it.
func (st *stage) look() (told toldMovement) {
	if at := st.url.Load(); at != nil && st.id != "" {
		answer, err := st.talk.Do(st.t.Context(), "GET", *at+"/_reshelve/movements/"+st.id, nil)
		if err == nil && answer.Status == 200 {
			_ = json.Unmarshal(answer.Body, &told)
		}
	}
	return told
}

// lines of the log: steps, and marks of what was done at them.
func (st *stage) lines(marks bool) (lines []string) {
	text, _ := os.ReadFile(st.log)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "!") == marks {
			lines = append(lines, line)
		}
	}
	return lines
}

func (st *stage) steps() []string { return st.lines(false) }
func (st *stage) marks() []string { return st.lines(true) }

// until waits for something.
func (st *stage) until(what string, is func() bool) {
	st.t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			st.t.Fatalf("it takes too long: %s: movement %+v\n%s\n%s", what, st.look(), strings.Join(st.lines(false), "\n"), st.p.Stderr())
		}
	}
}

// settle waits for the end of whatever movement there is, and holds it to its promise.
func (st *stage) settle() {
	st.t.Helper()
	var last toldMovement
	resumed := 0
	st.until("the movement ends", func() bool {
		var listed struct{ Movements []toldMovement }
		answer, err := st.talk.Do(st.t.Context(), "GET", *st.url.Load()+"/_reshelve/movements", nil)
		if err != nil || answer.Status != 200 || json.Unmarshal(answer.Body, &listed) != nil {
			st.t.Fatalf("the movements: %s %v", answer, err)
		}
		if len(listed.Movements) == 0 {
			if st.id != "" {
				st.t.Fatalf("movement %s is not there", st.id)
			}
			return true
		}
		last = listed.Movements[0]
		verb := ""
		switch last.State {
		case "planned": // nobody was told that it was begun
			verb = "abort"
		case "switched": // nobody was told that the verb was taken
			verb = st.verb
		case "held", "failed":
			if verb = "resume"; last.Cause == "" || resumed > 5 {
				st.t.Fatalf("it is held again and again, or without a cause: %+v", last)
			}
			resumed++
		case "running":
			if st.verb == "abort" {
				verb = st.verb
			}
		}
		if verb != "" {
			st.post("/_reshelve/movements/"+last.ID+"/"+verb, "", 200, 202, 400, 409)
		}
		return slices.Contains(endings, last.State)
	})
	if st.id = last.ID; st.taken && last.State != st.state {
		st.t.Errorf("it has ended as %s, and should be %s", last.State, st.state)
	}
	st.ended = last.State
}

// TestCells kills the server and fills its disk at each durable step of a movement; see package
// doc. PROOF_CELLS is how many of the cells are played, drawn evenly; "all" for all.
func TestCells(t *testing.T) {
	binary(t)
	s := seed(t)
	var all []cell
	prepared := map[string]string{}
	for i := range scenes {
		prepared[scenes[i].name] = scenes[i].prepared(t)
		all = append(all, scenes[i].cells(t, prepared[scenes[i].name], s)...)
	}
	drawn := draw(t, all, s)
	t.Logf("%d of %d cells are played", len(drawn), len(all))
	var played, unmet atomic.Int32
	t.Run("of", func(t *testing.T) {
		for _, c := range drawn {
			t.Run(c.String(), func(t *testing.T) {
				t.Parallel()
				if c.play(t, prepared[c.name], s) {
					played.Add(1)
				} else if !t.Failed() {
					unmet.Add(1)
				}
			})
		}
	})
	t.Logf("%d of %d cells were played to their end; of %d the step was never met", played.Load(), len(all), unmet.Load())
	if n := int(unmet.Load()); n > 1+len(drawn)/50 {
		t.Errorf("of %d cells of %d the step was never met", n, len(drawn))
	}
}

// draw takes every nth cell, beginning anywhere.
func draw(t *testing.T, all []cell, seed uint64) (drawn []cell) {
	if os.Getenv("PROOF_CELLS") == "all" {
		return all
	}
	want := number(t, "PROOF_CELLS", 24)
	every := float64(len(all)) / float64(want)
	for at := rand.New(rand.NewPCG(seed, 7)).Float64() * every; int(at) < len(all); at += every {
		drawn = append(drawn, all[int(at)])
	}
	return drawn
}

// plays are how often a scene is played without a disturbance. What two slots do when they meet
// is by chance: a step is one that each of the plays took.
const plays = 3

// cells are what can be disturbed of a scene.
func (s *scene) cells(t *testing.T, prepared string, seed uint64) (cells []cell) {
	t.Helper()
	var first []string
	least := map[string]int{}
	for play := range uint64(plays) {
		steps := s.undisturbed(t, prepared, seed+play)
		met := map[string]int{}
		for _, step := range steps {
			met[step]++
		}
		if play == 0 {
			first, least = steps, met
		}
		for step := range least {
			least[step] = min(least[step], met[step])
		}
	}
	met := map[string]int{}
	for _, step := range first {
		if met[step]++; met[step] <= least[step] {
			for _, do := range disturbances {
				cells = append(cells, cell{*s, step, met[step], do})
			}
		}
	}
	return cells
}

// undisturbed plays a scene, and gives its steps.
func (s *scene) undisturbed(t *testing.T, prepared string, seed uint64) []string {
	t.Helper()
	st := s.play(t, prepared, "", seed)
	st.live(s.waits()...)
	st.begin()
	st.settle()
	for n := -1; n != len(st.steps()); time.Sleep(300 * time.Millisecond) {
		n = len(st.steps())
	}
	st.end()
	return st.steps()
}

// waits is what a play of a scene waits for.
func (s *scene) waits() []map[string]any {
	if s.wait == "" {
		return []map[string]any{}
	}
	return []map[string]any{{"Step": s.wait, "Nth": 1, "Do": "wait"}}
}

// attempts are how often a cell is played at most, until its step is met.
const attempts = 8

// play tells whether the cell was played to its end. How many segments there are to be written
// depends on what clients have just done, so that a step may not be met at all.
func (c *cell) play(t *testing.T, prepared string, seed uint64) bool {
	for n := range uint64(attempts) {
		if c.attempt(t, prepared, seed+n) {
			return !t.Failed()
		}
		if t.Failed() {
			return false
		}
	}
	t.Logf("the step was not met in %d attempts", attempts)
	return false
}

// attempt plays the cell; false when its step was not met.
func (c *cell) attempt(t *testing.T, prepared string, seed uint64) bool {
	disk, full := "", strings.HasPrefix(c.do, "full")
	do := map[string]any{"Step": c.step, "Nth": c.nth, "Do": strings.TrimSuffix(c.do, ", killed")}
	if full {
		disk = smallDisk(t, 64)
	}
	st := c.scene.play(t, prepared, disk, seed)
	st.lax.Store(full)
	st.live(append(c.waits(), do)...)
	refusals := []int{}
	if full {
		refusals = []int{429, 503}
	}
	st.begin(refusals...)
	met := func() bool { return slices.Contains(st.marks(), "!"+do["Do"].(string)) }
	st.until("the step or the end", func() bool { return met() || slices.Contains(endings, st.look().State) })
	for deadline := time.Now().Add(time.Second); !met() && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) { // it may be one behind the end
	}
	switch {
	case !met():
		st.stop()
		stop(t, st.p)
		return false
	case full:
		st.full(c.do == "full")
	default:
		<-st.p.Exited()
		st.die()
		st.live()
	}
	st.settle()
	st.end()
	return true
}

// full goes on for a while with a disk that is full, and then with one that is not.
func (st *stage) full(goesOn bool) {
	st.t.Helper()
	st.until("the disk is full", func() bool { return slices.Contains(st.marks(), "!eaten <nil>") })
	time.Sleep(300 * time.Millisecond)
	if !goesOn {
		st.die()
		st.live()
		time.Sleep(300 * time.Millisecond)
	}
	writes := func() int {
		answer, err := st.talk.Do(st.t.Context(), "DELETE", *st.url.Load()+"/shelf/_doc/none", nil)
		if err != nil {
			st.t.Fatal(err)
		}
		return answer.Status
	}
	st.until("writes are refused", func() bool { return writes() == 429 })
	if err := os.Remove(filepath.Join(st.disk, "eaten")); err != nil {
		st.t.Fatal(err)
	}
	st.until("writes are taken again", func() bool { return writes() == 404 })
}

// endings are the states of a movement that has ended.
var endings = []string{"finished", "aborted", "reversed"}
