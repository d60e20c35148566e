package placement

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// Local is the node that is the data folder itself.
const Local = "local"

// Placement is the map of one index at one version. Treat it as immutable: it is
// shared by everybody who routes by it.
type Placement struct {
	Index   uint32  `json:"index"` // the index's number; see package catalog
	Version int64   `json:"version"`
	Next    uint32  `json:"next"`   // the number of the next new shard
	Shards  []Shard `json:"shards"` // by range
	Last    Change  `json:"last"`   // what made this version
	// Transfer is the reshaping of the index that is under way, as package transfer writes
	// it; nil when there is none. It stands here because a hand-off changes both at once.
	Transfer json.RawMessage `json:"transfer,omitempty"`
}

// Shard is one row of the map.
type Shard struct {
	Number uint32        `json:"shard"`
	Range  routing.Range `json:"range"`
	Epoch  int64         `json:"epoch"`
	Term   int64         `json:"term"`
	Node   string        `json:"node"`
}

// Change says who made a version of the map, why and when.
type Change struct {
	By  string    `json:"by"`
	Why string    `json:"why"`
	At  time.Time `json:"at"`
}

// New is the first placement of an index: n equal ranges on one node, numbered
// in order. N is from 1 to 1024.
func New(index uint32, n int, node string, change Change) Placement {
	p := Placement{Index: index, Version: 1, Next: uint32(n), Last: change}
	for i, r := range routing.Equal(n) {
		p.Shards = append(p.Shards, Shard{Number: uint32(i), Range: r, Epoch: 1, Term: 1, Node: node})
	}
	return p
}

// Owner is the shard that owns key.
func (p Placement) Owner(key routing.Key) Shard {
	i := sort.Search(len(p.Shards), func(i int) bool { return p.Shards[i].Range.To >= key })
	return p.Shards[i]
}

// Shard finds a shard by its number.
func (p Placement) Shard(number uint32) (Shard, bool) {
	i := slices.IndexFunc(p.Shards, func(s Shard) bool { return s.Number == number })
	if i < 0 {
		return Shard{}, false
	}
	return p.Shards[i], true
}

// Check reports what breaks the package's invariants 1 and 2, as fault.Corrupt.
func (p Placement) Check() error {
	damaged := func(format string, args ...any) error {
		return fault.At(fault.New(fault.Corrupt, format, args...), fmt.Sprintf("placement of index %d, version %d", p.Index, p.Version))
	}
	if len(p.Shards) == 0 {
		return damaged("it has no shards")
	}
	expected := routing.Key(0)
	seen := map[uint32]bool{}
	for i, s := range p.Shards {
		switch {
		case i > 0 && expected == 0, s.Range.From != expected, s.Range.To < s.Range.From:
			return damaged("shard %d owns %s, expected from %s", s.Number, s.Range, expected)
		case seen[s.Number], s.Number >= p.Next:
			return damaged("shard number %d is used twice, or not given out: next is %d", s.Number, p.Next)
		case s.Epoch < 1, s.Epoch > p.Version, s.Term < 1:
			return damaged("shard %d has epoch %d and term %d", s.Number, s.Epoch, s.Term)
		}
		seen[s.Number] = true
		expected = s.Range.To + 1
	}
	if expected != 0 {
		return damaged("nobody owns the keys from %s", expected)
	}
	return nil
}

// Encode is the JSON form, as it is stored.
func (p Placement) Encode() []byte {
	data, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("placement: %v", err)) // numbers, strings and times always encode
	}
	return data
}

// Decode reads the JSON form and checks it.
func Decode(data []byte) (Placement, error) {
	var p Placement
	if err := json.Unmarshal(data, &p); err != nil {
		return Placement{}, fault.At(fault.New(fault.Corrupt, "%w", err), "placement")
	}
	return p, p.Check()
}

// String is for people and logs: a line for the version, one for each shard. Nothing reads it.
func (p Placement) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "index %d version %d next %d by %s: %s\n", p.Index, p.Version, p.Next, p.Last.By, p.Last.Why)
	for _, s := range p.Shards {
		fmt.Fprintf(&b, "shard %d %s epoch %d term %d on %s\n", s.Number, s.Range, s.Epoch, s.Term, s.Node)
	}
	return b.String()
}
