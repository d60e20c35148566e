package xcontent_test

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/xcontent"
)

// toJSON is ToJSON within the usual limit.
func toJSON(dst, data []byte) ([]byte, error) {
	return xcontent.ToJSON(dst, data, xcontent.Limit(len(data)))
}

// expand is Expand within the usual limit.
func expand(data []byte) ([]byte, error) { return xcontent.Expand(data, xcontent.Limit(len(data))) }

// stored expands and converts as readers of files do: within the limit of what is
// stored, for both steps.
func stored(data []byte) ([]byte, error) {
	most := xcontent.Limit(len(data))
	plain, err := xcontent.Expand(data, most)
	if err != nil {
		return nil, err
	}
	return xcontent.ToJSON(nil, plain, most)
}

// allocated is how many bytes of memory a call takes in all, freed ones included.
func allocated(call func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// longName is SMILE of an object whose one long name is repeated.
func longName(size, references int) []byte {
	name := strings.Repeat("n", size)
	return []byte(":)\n\x01\xfa\x34" + name + "\xfc\x21" + strings.Repeat("\x40\x21", references) + "\xfb")
}

// hardly is about size bytes of pattern, broken up so that DEFLATE makes them some
// two hundred times shorter, not a thousand times.
func hardly(pattern string, size int) string {
	var b strings.Builder
	rng := rand.New(rand.NewPCG(1, 2))
	for run := strings.Repeat(pattern, 900/len(pattern)); b.Len() < size; {
		for range 1 + rng.IntN(2) {
			b.WriteString(run)
		}
		b.WriteString(run[:rng.IntN(len(run)/len(pattern))*len(pattern)])
		b.WriteString(strings.Repeat("9", len(pattern)-1) + pattern[len(pattern)-1:])
	}
	return b.String()
}

// TestBombsAreRefused: each is some ten kilobytes that ask for more than they can
// hold by right, up to 2 GB. They are refused, in memory that grows with their own
// length: buffers double, or grow by a quarter, until the limit is reached.
func TestBombsAreRefused(t *testing.T) {
	for _, bomb := range []struct {
		name string
		data []byte
		kind fault.Kind
	}{
		{"DEFLATE", deflated(t, []byte("{\"a\":\""+strings.Repeat(" ", 32<<20)+"\"}")), fault.Refused},
		{"DEFLATE of DEFLATE's best", deflated(t, make([]byte, 64<<20)), fault.Refused},
		{"zstd", zstandard(t, make([]byte, 64<<20)), fault.Refused},
		{"zstd that claims 64 GiB", []byte("ZSTD\x00\x28\xb5\x2f\xfd\xe0\x00\x00\x00\x00\x10\x00\x00\x00\x01\x00\x00"), fault.Corrupt},
		{"SMILE, a long name", longName(20_000, 10_000), fault.Refused},
		{"SMILE in DEFLATE", deflated(t, []byte(":)\n\x01\xfa\x34"+hardly("n", 20_000)+"\xfc\x21"+strings.Repeat("\x40\x21", 10_000)+"\xfb")), fault.Refused},
		{"SMILE, escapes in DEFLATE", deflated(t, []byte(":)\n\x00\xfa\x80a\xe0"+hardly("\x01\x01", 9<<20)+"\xfc\xfb")), fault.Refused},
		{"CBOR, escapes in DEFLATE", deflated(t, []byte("\xbf\x61a\x7a\x00\x90\x00\x00"+hardly("\x01\x01", 9<<20)[:9<<20]+"\xff")), fault.Refused},
		{"YAML, escapes in DEFLATE", deflated(t, []byte("--- {a: \""+hardly("\\0", 1<<16)+"\"}")), fault.Refused},
		{"CBOR, infinities in DEFLATE", deflated(t, []byte("\xbf\x61a\x9f"+strings.ReplaceAll(hardly("\xf9\x7c\x00", 9<<20), "99\x00", "\xf9\x7b\x00")+"\xff\xff")), fault.Refused},
		{"YAML in DEFLATE", deflated(t, []byte("--- {a: ["+hardly("0,", 8<<20)+"]}")), fault.Refused},
	} {
		t.Run(bomb.name, func(t *testing.T) {
			var got []byte
			var err error
			took := allocated(func() { got, err = stored(bomb.data) })
			if !fault.Is(err, bomb.kind) || got != nil {
				t.Errorf("kind %v, %d bytes, want kind %v: %v", fault.KindOf(err), len(got), bomb.kind, err)
			}
			if bomb.kind == fault.Refused && fault.Next(err) == "" {
				t.Error("a refusal without a next action")
			}
			// Eight million are the window of a Zstandard frame.
			if most := 8*xcontent.Limit(len(bomb.data)) + 8<<20; took > most {
				t.Errorf("%d bytes took %d bytes of memory, want %d at most", len(bomb.data), took, most)
			}
			t.Logf("%d bytes, limit %d, took %d: %v", len(bomb.data), xcontent.Limit(len(bomb.data)), took, err)
		})
	}
}

// TestWhatServersWriteIsNoBomb: the most repetitive metadata that a real cluster
// may have, each far below the limit.
func TestWhatServersWriteIsNoBomb(t *testing.T) {
	const field = "\xfa\x83type\x43text\x85fields\xfa\x86keyword\xfa\x83type\x46keyword\x8bignore_above\xc8\xfb\xfb\xfb"
	template := "\xfa" + strings.Repeat("\x83name"+field, 100) + "\xfb"
	trace := strings.Repeat("\tat org.elasticsearch.snapshots.SnapshotShardsService.snapshot(SnapshotShardsService.java:370)\n", 40)
	for _, tc := range []struct {
		name  string
		smile string
	}{
		{"2,000 templates of the same 100 fields", ":)\n\x00\xfa" + strings.Repeat("\x83name"+template, 2_000) + "\xfb"},
		{"20,000 shards that failed in one way", ":)\n\x00\xfa\x87failures\xf8" + strings.Repeat("\xfa\x85reason\xe0"+trace+"\xfc\xfb", 20_000) + "\xf9\xfb"},
	} {
		data := deflated(t, []byte(tc.smile))
		got, err := stored(data)
		if err != nil {
			t.Errorf("%s: %d bytes: %v", tc.name, len(data), err)
		}
		t.Logf("%s: %d bytes become %d, %d times as many; the limit is %d", tc.name, len(data), len(got), len(got)/len(data), xcontent.Limit(len(data)))
	}
	usual := longName(4<<10, 400) // a long name 400 times: 5 kB to 1.6 MB
	if got, err := toJSON(nil, usual); err != nil || len(got) < 400*4<<10 {
		t.Errorf("%d bytes give %d, %v", len(usual), len(got), err)
	}
}

// TestTheLimitIsExact: what fits to the byte passes, one byte less does not, and
// dst is no part of it.
func TestTheLimitIsExact(t *testing.T) {
	for name, data := range map[string]string{
		"JSON":  `{"a":"b"}`,
		"SMILE": ":)\n\x03\xfa\x80a\x40b\xfb",
		"CBOR":  "\xa1\x61a\x61b",
	} {
		const want = `{"a":"b"}`
		if got, err := xcontent.ToJSON([]byte("kept"), []byte(data), len(want)); err != nil || string(got) != "kept"+want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if got, err := xcontent.ToJSON([]byte("kept"), []byte(data), len(want)-1); !fault.Is(err, fault.Refused) || string(got) != "kept" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	plain := bytes.Repeat([]byte("{}"), 500)
	for name, data := range map[string][]byte{
		"DEFLATE": deflated(t, plain),
		"zstd":    zstandard(t, plain),
		"LZF":     append([]byte("ZV\x00\x03\xe8"), plain...),
	} {
		if got, err := xcontent.Expand(data, len(plain)); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		if got, err := xcontent.Expand(data, len(plain)-1); !fault.Is(err, fault.Refused) || got != nil {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}
