package cluster

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// blocked finds, in the reason of a refusal, the indices that are blocked (none: the cluster is) and the number of the block.
var blocked = regexp.MustCompile(`(?:index \[([^\]]+)\] )?blocked by: \[[A-Z_]+/(\d+)/`)

// blocks are the settings of blocks, by their numbers, that operators put on and take off.
var blocks = map[string]string{
	"5": "index.blocks.read_only", "7": "index.blocks.read", "8": "index.blocks.write", "9": "index.blocks.metadata",
	"6": "cluster.blocks.read_only", "13": "cluster.blocks.read_only_allow_delete",
}

// unblock is the request that takes off the first block that a reason names; "" when it names none that a request can take off.
func unblock(reason string) string {
	setting := ""
	var names []string
	for _, m := range blocked.FindAllStringSubmatch(reason, -1) {
		if setting == "" {
			setting = blocks[m[2]]
		}
		if blocks[m[2]] == setting && m[1] != "" && !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	switch {
	case strings.HasPrefix(setting, "cluster."):
		return fmt.Sprintf(`PUT /_cluster/settings {"persistent":{%q:null},"transient":{%q:null}}`, setting, setting)
	case setting != "" && len(names) > 0:
		return fmt.Sprintf(`PUT /%s/_settings {%q:null}`, strings.Join(names, ","), setting)
	}
	return ""
}
