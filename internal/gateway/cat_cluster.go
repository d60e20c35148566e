package gateway

import (
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/store"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

var clockColumns = []column{
	{"epoch", "t,time", "seconds since 1970-01-01 00:00:00", 0},
	{"timestamp", "ts,hms,hhmmss", "time in HH:MM:SS", 0},
}

var countTable = slices.Concat(clockColumns, []column{{"count", "dc,docs.count,docsCount", "the document count", 0}})

func clockCells() []any {
	at := time.Now().UTC()
	return []any{at.Unix(), at.Format("15:04:05")}
}

func (c *call) catCount() error {
	return c.show(countTable, func() ([][]any, error) {
		e, err := c.expression("index", searched)
		if err != nil {
			return nil, err
		}
		total, _, err := c.s.store.Count(c.ctx(), store.Where{Expression: e}, nil)
		return [][]any{append(clockCells(), total)}, err
	})
}

var healthColumns = slices.Concat(clockColumns, []column{
	{"cluster", "cl", "cluster name", 0},
	{"status", "st", "health status", 0},
	{"node.total", "nt,nodeTotal", "total number of nodes", right},
	{"node.data", "nd,nodeData", "number of nodes that can store data", right},
	{"discovered_cluster_manager", "dcm,dm,discovered_master", "cluster manager is discovered or not", right},
	{"shards", "t,sh,shards.total,shardsTotal", "total number of shards", right},
	{"pri", "p,shards.primary,shardsPrimary", "number of primary shards", right},
	{"relo", "r,shards.relocating,shardsRelocating", "number of relocating nodes", right},
	{"init", "i,shards.initializing,shardsInitializing", "number of initializing nodes", right},
	{"unassign", "u,shards.unassigned,shardsUnassigned", "number of unassigned shards", right},
	{"pending_tasks", "pt,pendingTasks", "number of pending tasks", right},
	{"max_task_wait_time", "mtwt,maxTaskWaitTime", "wait time of longest task pending", right},
	{"active_shards_percent", "asp,activeShardsPercent", "active number of shards in percent", right},
})

func (c *call) catHealth() error {
	clock, err := c.boolean("ts", true)
	if err != nil {
		return err
	}
	columns, from := healthColumns, 0
	if !clock {
		columns, from = healthColumns[len(clockColumns):], len(clockColumns)
	}
	return c.show(columns, func() ([][]any, error) {
		found, err := c.s.store.Status(c.ctx(), catalog.Expression{Options: allOfThem})
		if err != nil {
			return nil, err
		}
		h := healthOf(found)
		row := append(clockCells(), c.s.options.Cluster, h.colour(), 1, 1, true, h.active, h.active, 0, 0, h.unassigned, 0, "-",
			strconv.FormatFloat(h.percent(), 'f', 1, 64)+"%")
		return [][]any{row[from:]}, nil
	})
}

var allocationColumns = []column{
	{"shards", "s", "number of shards on node", right},
	{"disk.indices", "di,diskIndices", "disk used by ES indices", right},
	{"disk.used", "du,diskUsed", "disk used (total, not just ES)", right},
	{"disk.avail", "da,diskAvail", "disk available", right},
	{"disk.total", "dt,diskTotal", "total capacity of all volumes", right},
	{"disk.percent", "dp,diskPercent", "percent disk used", right},
	{"host", "h", "host of node", 0}, {"ip", "", "ip of node", 0}, {"node", "n", "name of node", 0},
}

// catAllocation tells of the disk what _nodes/stats does, by which a migration finds out whether
// what it brings fits. Replicas are on no node.
func (c *call) catAllocation() error {
	return c.show(allocationColumns, func() ([][]any, error) {
		found, err := c.s.store.Status(c.ctx(), catalog.Expression{Options: allOfThem})
		if err != nil {
			return nil, err
		}
		h, disk := healthOf(found), c.s.store.Health().Disk
		_, host := c.address()
		row := []any{h.active, nil, nil, nil, nil, nil, host, host, c.s.options.Name}
		if disk.Total > 0 { // else nobody knows
			used := disk.Total - disk.Free // by whomever
			copy(row[1:], []any{size(disk.Used), size(used), size(disk.Free), size(disk.Total), percentOf(uint64(used), uint64(disk.Total))})
		}
		rows := [][]any{row}
		if h.unassigned > 0 {
			rows = append(rows, []any{h.unassigned, nil, nil, nil, nil, nil, nil, nil, "UNASSIGNED"})
		}
		return rows, nil
	})
}

// nodeColumns are the columns of _cat/nodes. What nobody measures here (load, cpu)
// is shown as nothing.
var nodeColumns = []column{
	{"id", "id,nodeId", "unique node id", hidden},
	{"pid", "p", "process id", right | hidden},
	{"ip", "i", "ip address", 0},
	{"port", "po", "bound transport port", right | hidden},
	{"http_address", "http", "bound http address", hidden},
	{"version", "v", "os version", hidden},
	{"type", "t", "os distribution type", hidden},
	{"build", "b", "os build hash", hidden},
	{"disk.avail", "d,da,disk,diskAvail", "available disk space", right | hidden},
	{"heap.current", "hc,heapCurrent", "used heap", right | hidden},
	{"heap.percent", "hp,heapPercent", "used heap ratio", right},
	{"heap.max", "hm,heapMax", "max configured heap", right | hidden},
	{"ram.percent", "rp,ramPercent", "used machine memory ratio", right},
	{"cpu", "cpu", "recent cpu usage", right},
	{"load_1m", "l", "1m load avg", right},
	{"load_5m", "l", "5m load avg", right},
	{"load_15m", "l", "15m load avg", right},
	{"uptime", "u", "node uptime", right | hidden},
	{"node.role", "r,role,nodeRole", "m:master eligible node, d:data node, i:ingest node, -:coordinating node only", 0},
	{"node.roles", "rs,all roles", " -:coordinating node only", 0},
	{"cluster_manager", "cm,m,master", "*:current cluster manager", 0},
	{"name", "n", "node name", 0},
}

func (c *call) catNodes() error {
	whole, err := c.boolean("full_id", false)
	if err != nil {
		return err
	}
	return c.show(nodeColumns, func() ([][]any, error) {
		address, host := c.address()
		_, port, _ := net.SplitHostPort(address) // address made it
		id := c.s.nodeID()
		if !whole {
			id = id[:4]
		}
		m := memory()
		return [][]any{{id, os.Getpid(), host, port, address, c.s.version(), "reshelve", c.s.options.Version,
			size(c.s.store.Health().Disk.Free), size(m.HeapAlloc), percentOf(m.HeapAlloc, m.HeapSys), size(m.HeapSys),
			nil, nil, nil, nil, nil, time.Since(c.s.started).Truncate(time.Millisecond),
			"dimr", strings.Join(roles, ","), "*", c.s.options.Name}}, nil
	})
}

var managerColumns = []column{
	{"id", "", "node id", 0}, {"host", "h", "host name", 0}, {"ip", "", "ip address ", 0}, {"node", "n", "node name", 0},
}

func (c *call) catManager() error {
	return c.show(managerColumns, func() ([][]any, error) {
		_, host := c.address()
		return [][]any{{c.s.nodeID(), host, host, c.s.options.Name}}, nil
	})
}

func (c *call) catMaster() error {
	c.warn("[GET /_cat/master] is deprecated! Use [GET /_cat/cluster_manager] instead.")
	return c.catManager()
}
