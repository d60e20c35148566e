package migrate

import (
	"cmp"
	"encoding/json"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot"
)

// stored is a data stream as a global state has it.
type stored struct {
	Indices []struct {
		Name string `json:"index_name"`
	} `json:"indices"`
}

func streamsOf(g *snapshot.Global) (streams map[string]stored, err error) {
	if len(g.DataStreams) > 0 {
		if err := json.Unmarshal(g.DataStreams, &streams); err != nil {
			return nil, fault.New(fault.Corrupt, "the data streams of the snapshot are not understood: %w", err)
		}
	}
	return streams, nil
}

// Backing are the names of the indices that hold the data streams of a snapshot.
func Backing(g *snapshot.Global) (map[string]bool, error) {
	streams, err := streamsOf(g)
	if err != nil {
		return nil, err
	}
	backing := map[string]bool{}
	for _, s := range streams {
		for _, index := range s.Indices {
			backing[index.Name] = true
		}
	}
	return backing, nil
}

// Streams is what becomes of data streams.
type Streams string

// The ways.
const (
	// AsIndices makes an index of each backing index, under its own name.
	AsIndices Streams = ""
	// AppendStreams makes data streams, one backing index for each of the source's. They take
	// new documents alone: without routing, and without the versions that the snapshot holds.
	AppendStreams Streams = "append"
)

// InStream is the place of an index in a data stream.
type InStream struct {
	Name   string `json:"name"`             // on the target
	Source string `json:"source,omitempty"` // in the snapshot, where that is another one
	Nth    int    `json:"nth"`              // of its backing indices, from 0
	Last   bool   `json:"last,omitempty"`
}

// From is the name of the stream in the snapshot.
func (s *InStream) From() string { return cmp.Or(s.Source, s.Name) }

// StreamsOf are the places of the backing indices of a snapshot, by their names.
func StreamsOf(g *snapshot.Global) (map[string]InStream, error) {
	streams, err := streamsOf(g)
	places := map[string]InStream{}
	for name, s := range streams {
		for n, index := range s.Indices {
			places[index.Name] = InStream{Name: name, Nth: n, Last: n == len(s.Indices)-1}
		}
	}
	return places, err
}
