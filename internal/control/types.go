package control

import (
	"fmt"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot"
)

// refuseTypes refuses indices with several mapping types, as Elasticsearch before
// 6.0 had them: an id is unique within its type only.
func refuseTypes(indices []*snapshot.Index) error {
	var refused []string
	for _, idx := range indices {
		if len(idx.Types) > 1 {
			refused = append(refused, fmt.Sprintf("%s (%s)", idx.Name, strings.Join(idx.Types, ", ")))
		}
	}
	if len(refused) == 0 {
		return nil
	}
	err := fault.New(fault.Refused, "without their types, documents of several mapping types would overwrite each other, in %s", strings.Join(refused, ", "))
	return fault.WithNext(err, "read it as ndjson, which tells the types, or choose other indices with --index")
}
