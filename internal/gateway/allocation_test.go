package gateway_test

import (
	"fmt"
	"net/http"
	"strconv"
	"syscall"
	"testing"

	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// TestTheDiskIsTold as a migration asks for it: what may be written is what the store would take.
func TestTheDiskIsTold(t *testing.T) {
	s := serveOnDisk(t)
	s.ask("PUT", "/books", `{"settings":{"number_of_shards":3}}`)
	client, err := cluster.New(s.address, http.DefaultTransport)
	if err != nil {
		t.Fatal(err)
	}
	disk, err := client.Disk(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, _, stats := s.ask("GET", "/_nodes/stats/fs", "")
	var free float64
	for _, node := range stats["nodes"].(map[string]any) {
		data := node.(map[string]any)["fs"].(map[string]any)["data"].([]any) // what exporters read
		if total, is := data[0].(map[string]any)["total_in_bytes"].(float64); len(data) != 1 || !is || total == 0 {
			t.Errorf("the disk of the data folder is %v", data)
		}
		free = node.(map[string]any)["fs"].(map[string]any)["total"].(map[string]any)["available_in_bytes"].(float64)
	}
	_, _, settings := s.ask("GET", "/_cluster/settings?include_defaults&flat_settings", "")
	mark := settings["defaults"].(map[string]any)["cluster.routing.allocation.disk.watermark.flood_stage"].(string)
	kept, err := strconv.ParseFloat(mark[:len(mark)-1], 64)
	if err != nil {
		t.Fatal(err)
	}
	if len(disk.Nodes) != 1 || disk.Nodes[0].Total == 0 || kept == 0 {
		t.Fatalf("%+v, of which %v are kept", disk.Nodes, kept)
	}
	const others = 1 << 30 // may be written beside meanwhile
	if first, all := disk.Free(); first != all || float64(first) < free-kept-others || float64(first) > free-kept+others {
		t.Errorf("%d may be written, of %v that are free and %v that are kept", first, free, kept)
	}
	var is syscall.Statfs_t
	if err := syscall.Statfs(t.TempDir(), &is); err != nil {
		t.Fatal(err)
	}
	_, _, told := s.ask("GET", "/_cat/allocation?h=disk.total,disk.used,disk.indices&bytes=b", "")
	var total, used, held int64
	if _, err := fmt.Sscan(told["text"].(string), &total, &used, &held); err != nil {
		t.Fatal(told, err)
	}
	//nolint:unconvert // the type of Bsize differs between systems
	if whole := int64(is.Blocks) * int64(is.Bsize); total != whole || used < whole-int64(is.Bavail)*int64(is.Bsize)-others || used > whole || held > used {
		t.Errorf("of a disk of %d bytes it tells %v", whole, told["text"])
	}
	_, _, memory := serveMovements(t).ask("GET", "/_cat/allocation?h=disk.total,disk.avail,shards", "")
	if memory["text"] != "  0\n" {
		t.Errorf("a store in memory has %q", memory["text"])
	}
}
