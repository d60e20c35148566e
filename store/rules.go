package store

import (
	"strconv"
	"time"

	"github.com/reshelve/reshelve/catalog"
	"github.com/reshelve/reshelve/mapping"
)

// readRules reads out of an index's flat settings what requests need.
func readRules(settings map[string]string) (rules, error) {
	r := rules{limits: mapping.DefaultLimits, partitions: 1, interval: time.Second}
	_ = strconv.Itoa
	_ = catalog.New
	return r, nil
}
