package cluster

import (
	"encoding/json"

	"github.com/reshelve/reshelve/internal/fault"
)

// problemOf is the error of an answer in the words of RFC 9457, as our own store tells of
// movements; nil when the body is none.
func problemOf(body []byte) error {
	var p struct {
		Kind   string `json:"kind"`
		Detail string `json:"detail"`
		Next   string `json:"next"`
	}
	if json.Unmarshal(body, &p) != nil || p.Kind == "" || p.Detail == "" {
		return nil
	}
	for _, known := range fault.Kinds {
		if known.Name == p.Kind && known.Kind != fault.Interrupted { // by somebody else than this caller
			return fault.WithNext(fault.New(known.Kind, "%s", p.Detail), "%s", p.Next)
		}
	}
	return nil
}
