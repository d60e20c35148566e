package embedded

import (
	"sync"

	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/routing"
)

// narrowed remembers which docs of a segment lie outside of a range, which takes a look at
// each: it is worked out before a fence, and needed behind it. Safe for concurrent use.
type narrowed struct {
	mu  sync.Mutex
	out map[outside]*segment.Bits
}

// outside tells whose docs.
type outside struct {
	of     *segment.Segment
	within routing.Range
}

// of is the set of docs of a segment outside of a range.
func (n *narrowed) of(s *segment.Segment, within routing.Range) (out *segment.Bits, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if out = n.out[outside{s, within}]; out != nil {
		return out, nil
	}
	if err = segment.Guard(func() error { out = s.OutOf(within); return nil }); err != nil {
		return nil, err
	}
	if n.out == nil {
		n.out = map[outside]*segment.Bits{}
	}
	n.out[outside{s, within}] = out
	return out, nil
}

// drop forgets one that is not needed again.
func (n *narrowed) drop(s *segment.Segment, within routing.Range) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.out, outside{s, within})
}

// forget forgets all.
func (n *narrowed) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.out = nil
}

// entry is what an entry shows of a range.
func (n *narrowed) entry(e *entry, within routing.Range) (*entry, error) {
	out, err := n.of(e.Segment, within)
	if err != nil {
		return nil, err
	}
	changed := *e
	changed.hidden = out
	if e.hidden != nil {
		changed.hidden = out.Clone()
		changed.hidden.Add(e.hidden)
	}
	if err := changed.count(); err != nil {
		return nil, err
	}
	if changed.shown == e.Docs() {
		changed.hidden = nil
	}
	return &changed, nil
}
