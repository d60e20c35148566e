package search

import (
	"container/list"
	"encoding/binary"
	"sync"

	"github.com/reshelve/reshelve/internal/index/segment"
)

// A search of an index of many segments, as one of many shards has, looks each term up in the dictionary of each.
// What it finds is kept for later searches of the same segments, as long as there is room.

// manySegments are so many that what is found is kept.
const manySegments = 8

// segmentSet is the distinct segments of one index that a search visits, with what is known of their
// terms and fields. It holds numbers of segments and no segment, so that none is kept in memory. It is
// safe for concurrent use.
type segmentSet struct {
	at   map[uint64]int // the places of segments, by their numbers; not changed any more
	kept *setCache      // nil: no later search uses the set

	mu     sync.Mutex
	fields map[string]*fieldStatistics
	terms  map[termName]*termStatistics
}

// newSegmentSet is the set of segments that are all different.
func newSegmentSet(segments []*segment.Segment) *segmentSet {
	set := &segmentSet{at: make(map[uint64]int, len(segments)), fields: map[string]*fieldStatistics{}, terms: map[termName]*termStatistics{}}
	for i, s := range segments {
		set.at[s.Number()] = i
	}
	return set
}

// term is what is known of a term; nil: nothing.
func (s *segmentSet) term(name termName) *termStatistics {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.terms[name]
}

// learnTerm remembers a term.
func (s *segmentSet) learnTerm(name termName, t *termStatistics) {
	s.mu.Lock()
	s.terms[name] = t
	s.mu.Unlock()
	s.kept.grow(s, int64(entryBytes*len(t.entries)+len(name.field)+len(name.term)+otherBytes))
}

// field is what is known of a field; nil: nothing.
func (s *segmentSet) field(name string) *fieldStatistics {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fields[name]
}

// learnField remembers a field.
func (s *segmentSet) learnField(name string, f *fieldStatistics) {
	s.mu.Lock()
	s.fields[name] = f
	s.mu.Unlock()
	s.kept.grow(s, int64(4*256+len(name)+otherBytes))
}

// How many bytes of memory an entry takes, and all else that is kept with a term or a segment, about.
const (
	entryBytes = 48
	otherBytes = 128
)

// Limits of memory, in bytes. Variables for tests.
var (
	knownLimit    = int64(2 << 20) // of one set
	allKnownLimit = int64(8 << 20) // of all sets that are kept
)

// setCache keeps the sets that were used last. A search goes on with the set that it has got, also when
// the cache has removed it. It is safe for concurrent use.
type setCache struct {
	mu    sync.Mutex
	sets  map[string]*list.Element // by the numbers of the segments
	used  list.List                // of *keptSet, the last one used in front
	where map[*segmentSet]*list.Element
	bytes int64
}

// keptSet is an entry of the cache.
type keptSet struct {
	key   string
	set   *segmentSet
	bytes int64
}

var knownSets = newSetCache()

func newSetCache() *setCache {
	return &setCache{sets: map[string]*list.Element{}, where: map[*segmentSet]*list.Element{}}
}

// get is the set of segments that are all different: the one that earlier searches used, or a new one.
func (c *setCache) get(segments []*segment.Segment) *segmentSet {
	key := make([]byte, 0, 8*len(segments))
	for _, s := range segments {
		key = binary.LittleEndian.AppendUint64(key, s.Number())
	}
	c.mu.Lock()
	if e := c.sets[string(key)]; e != nil {
		c.used.MoveToFront(e)
		c.mu.Unlock()
		return e.Value.(*keptSet).set
	}
	c.mu.Unlock()
	set := newSegmentSet(segments)
	set.kept = c
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.sets[string(key)]; e != nil { // another search was faster
		return e.Value.(*keptSet).set
	}
	k := &keptSet{key: string(key), set: set}
	e := c.used.PushFront(k)
	c.sets[k.key], c.where[set] = e, e
	c.add(e, int64((3*8+otherBytes/2)*len(segments)+2*otherBytes))
	return set
}

// grow notes that a set takes so many bytes more. A set that takes too many is not kept any longer, nor
// are those that were not used for the longest time, while all take too many.
func (c *setCache) grow(set *segmentSet, by int64) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.where[set]; e != nil {
		c.add(e, by)
	}
}

func (c *setCache) add(e *list.Element, bytes int64) {
	k := e.Value.(*keptSet)
	k.bytes += bytes
	c.bytes += bytes
	if k.bytes > knownLimit {
		c.remove(e)
	}
	for c.bytes > allKnownLimit {
		c.remove(c.used.Back())
	}
}

func (c *setCache) remove(e *list.Element) {
	k := c.used.Remove(e).(*keptSet)
	c.bytes -= k.bytes
	delete(c.sets, k.key)
	delete(c.where, k.set)
}
