package control

import (
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
)

// refuseBlocked refuses an index of the target that has a block, which keeps documents out of it.
func refuseBlocked(name string, settings map[string]any) error {
	for _, block := range []string{"index.blocks.read_only_allow_delete", "index.blocks.read_only", "index.blocks.write", "index.blocks.metadata", "index.blocks.read"} {
		if on, _ := settings[block].(string); on != "true" {
			continue
		}
		err := fault.New(fault.Refused, "index %s of the target has the block %s", name, strings.TrimPrefix(block, "index."))
		next := `remove it: PUT /` + name + `/_settings {"` + block + `":null}`
		if strings.HasSuffix(block, "allow_delete") { // servers set it by themselves
			err = fault.New(fault.Refused, "index %s of the target has the block %s, which a server sets when its disk is full", name, strings.TrimPrefix(block, "index."))
			next = "free disk space on the target first; if the block stays, " + next
		}
		return fault.WithNext(err, "%s", next)
	}
	return nil
}
