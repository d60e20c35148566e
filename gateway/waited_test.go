package gateway

import "testing"

// TestWritesThatWaitForCopies fail at once: there is one copy of each shard.
func TestWritesThatWaitForCopies(t *testing.T) {
	r := newPageReader(t)
	for _, wanted := range []struct {
		settings string
		status   int
	}{
		{`{"write.wait_for_active_shards":2}`, 503}, {`{"write.wait_for_active_shards":"all"}`, 503}, {`{"write.wait_for_active_shards":1}`, 200},
		{`{"write.wait_for_active_shards":0}`, 200}, {`{"write.wait_for_active_shards":"all","number_of_replicas":0}`, 200}, {`{"write.wait_for_active_shards":null}`, 200},
	} {
		r.ask(200, "PUT", "/books/_settings", wanted.settings)
		r.ask(wanted.status, "PUT", "/books/_doc/1", `{"n":1}`)
	}
}
