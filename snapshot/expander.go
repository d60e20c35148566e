package snapshot

import (
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/xcontent"
)

// expander turns what one metadata file holds into JSON: the whole of it, and the
// parts that are compressed again. All of that together stays within what
// xcontent.Limit allows for the length of the file, in whatever way it is nested.
type expander struct{ left int }

func newExpander(file []byte) *expander { return &expander{xcontent.Limit(len(file))} }

// json undoes compression and turns any x-content into JSON.
func (e *expander) json(data []byte) ([]byte, error) {
	plain, err := xcontent.Expand(data, e.left)
	if err != nil {
		return nil, err
	}
	switch xcontent.Sniff(plain) {
	case xcontent.Unknown:
		return nil, fault.New(fault.Corrupt, "holds neither JSON nor SMILE, but % x", plain[:min(8, len(plain))])
	case xcontent.JSON:
	default:
		if plain, err = xcontent.ToJSON(nil, plain, e.left); err != nil {
			return nil, err
		}
	}
	if e.left -= len(plain); e.left < 0 {
		return nil, fault.New(fault.Corrupt, "expands to more than a file of its length can hold by right")
	}
	return plain, nil
}
