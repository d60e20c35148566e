package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/control"
)

// TestTheRateOfShedding is that of the shard at work, and of all that was written when none is:
// shards shed one after another.
func TestTheRateOfShedding(t *testing.T) {
	for _, c := range []struct{ shared, says string }{
		{`{"bytes":0,"written":10240,"bytesPerSecond":10240},{"bytes":2048,"written":1024,"bytesPerSecond":1024,"rests":2},{"bytes":0,"written":4096,"bytesPerSecond":4096}`,
			"15.0 KiB written again, at 1.0 KiB/s, resting 2x as long as it works"},
		{`{"bytes":0,"written":30720,"bytesPerSecond":10240},{"bytes":0,"written":1024,"bytesPerSecond":1024}`,
			"31.0 KiB written again, at 7.8 KiB/s"},
		{`{"bytes":2048,"written":30720,"bytesPerSecond":0}`, "30.0 KiB written again"}, // a rate is measured over some time
		{`{"bytes":0,"written":30720,"bytesPerSecond":10240},{"bytes":2048,"written":1024,"bytesPerSecond":0}`,
			"31.0 KiB written again, at 10.0 KiB/s"},
	} {
		var way control.ReshapedWay
		if err := json.Unmarshal([]byte(`{"shared":[`+c.shared+`]}`), &way); err != nil {
			t.Fatal(err)
		}
		if line := sharedLine(&way); !strings.HasSuffix(line, c.says) {
			t.Errorf("%s, expected %s", line, c.says)
		}
	}
}
