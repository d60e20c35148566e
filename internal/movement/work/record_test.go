package work_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/work"
)

func TestARecordOfANewerSchemaIsLeftAlone(t *testing.T) {
	for record, want := range map[string]fault.Kind{
		`{"schemaVersion":2,"index":"books","end":5}`:                          fault.Refused,
		`{"schemaVersion":"2","index":"books","end":5}`:                        fault.Corrupt,
		`{"schemaVersion":0,"index":"books","end":5}`:                          fault.Corrupt,
		`{"schemaVersion":1,"index":"books","end":5,"cursor":6}`:               fault.Corrupt,
		`{"schemaVersion":1,"index":"books","start":3,"end":-1}`:               fault.Corrupt,
		`{"schemaVersion":1,"index":"","end":5}`:                               fault.Corrupt,
		`{`:                                                                    fault.Corrupt,
		`{"schemaVersion":1,"index":"books","end":5,"expiration":"yesterday"}`: fault.Corrupt,
	} {
		if _, err := work.ReadItem([]byte(record)); !fault.Is(err, want) {
			t.Errorf("%s: %v, want %v", record, err, want)
		}
	}
	// What another has written before there were versions.
	i, err := work.ReadItem([]byte(`{"index":"books","shard":1,"start":3,"end":9,"cursor":4,"nextAcquisitionLeaseExponent":2}`))
	if err != nil || i.Name() != "books__1__3" || i.NextAcquisitionLeaseExponent != 2 {
		t.Errorf("%v, %v", i, err)
	}
}

func TestARecordComesBackAsItWas(t *testing.T) {
	now := time.Date(2026, 3, 1, 3, 0, 0, 5, time.FixedZone("elsewhere", 7200))
	i := work.Item{Index: "books", End: work.ToEnd, Counts: work.Counts{Read: 3, Failed: 1}}
	lease, _, err := i.Claim(work.Default, "w1", now)
	if err != nil {
		t.Fatal(err)
	}
	i.Lease, i.SuccessorWorkItems = lease, []string{"books__0__7"}
	record, err := json.Marshal(i)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(record), `"expiration":"2026-03-01T01:10:00.000000005Z"`) {
		t.Errorf("not in UTC: %s", record)
	}
	back, err := work.ReadItem(record)
	if err != nil || back.String() != i.String() || back.Counts != i.Counts || !back.Expiration.Equal(i.Expiration) {
		t.Errorf("%v came back as %v, %v", i, back, err)
	}
}

func TestCountsNeverGoBack(t *testing.T) {
	now := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	i := work.Item{Index: "books", End: 100}
	i.Lease, _, _ = i.Claim(work.Default, "w1", now)
	all := work.Counts{Read: 10, Acknowledged: 4, Conflicts: 3, Failed: 2, Dropped: 1, Bytes: 99, Retries: 5}
	if !all.Balanced() {
		t.Errorf("%+v is not balanced", all)
	}
	i, err := i.Advance("w1", now, 20, all)
	if err != nil {
		t.Fatal(err)
	}
	for name, less := range map[string]work.Counts{
		"read": {Read: 1}, "acknowledged": {Acknowledged: 1}, "conflicts": {Conflicts: 1}, "failed": {Failed: 1},
		"dropped": {Dropped: 1}, "bytes": {Bytes: 1}, "retries": {Retries: 1},
	} {
		counts := all
		counts.Add(work.Counts{Read: -less.Read, Acknowledged: -less.Acknowledged, Conflicts: -less.Conflicts,
			Failed: -less.Failed, Dropped: -less.Dropped, Bytes: -less.Bytes, Retries: -less.Retries})
		if _, err := i.Advance("w1", now, 21, counts); !fault.Is(err, fault.Bug) {
			t.Errorf("one less %s: %v", name, err)
		}
		if less.Bytes+less.Retries == 0 && counts.Balanced() {
			t.Errorf("one less %s, and it is balanced", name)
		}
	}
}

func TestPoliciesThatGetNowhere(t *testing.T) {
	if err := work.Default.Check(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*work.Policy){
		"no lease":     func(p *work.Policy) { p.InitialLease = 0 },
		"for ever":     func(p *work.Policy) { p.InitialLease = 1 << 62 },
		"no heartbeat": func(p *work.Policy) { p.Heartbeat = 0 },
		"too slow":     func(p *work.Policy) { p.Heartbeat = 4 * time.Minute },
		"no attempts":  func(p *work.Policy) { p.MaxAttempts = 0 },
		"no tolerance": func(p *work.Policy) { p.ClockTolerance = 0 },
	} {
		p := work.Default
		change(&p)
		if err := p.Check(); !fault.Is(err, fault.Usage) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheNumberOfBuckets(t *testing.T) {
	for items, want := range map[int]int{0: 0, 100: 0, 101: 1, 1600: 1, 1601: 2, 25600: 2, 25601: 3, 1 << 30: 3} {
		if got := work.Digits(items); got != want {
			t.Errorf("%d items: %d digits, want %d", items, got, want)
		}
	}
	for digits, want := range []string{"-", "f", "0f", "00f"} {
		if got := work.BucketAt(15, digits); got != want {
			t.Errorf("%d digits: %s, want %s", digits, got, want)
		}
	}
	if got := work.BucketAt(1<<12+7, 3); got != "007" {
		t.Errorf("the bucket behind the last is %s", got)
	}
	// printf %s books__0__0 | sha256sum
	if got := work.ItemKey("m1", "books__0__0", 3); got != "movement/m1/item/8c1/books__0__0" {
		t.Errorf("key %s", got)
	}
}

func TestNamesInKeys(t *testing.T) {
	for _, tc := range []struct{ name, part string }{
		{"books__0__4200", "books__0__4200"},
		{"größe_日本", "größe_日本"},
		{"a/b%c~d", "a%2fb%25c%7ed"},
		{"", "~"},
		{".kibana\x00\x7f\u0085", ".kibana%00%7f%c2%85"},
		{"\xff\xed\xa0\x80", "%ff%ed%a0%80"},
		{"\ufffd", "\ufffd"},
		{strings.Repeat("\x01", 255), "~" + strings.Repeat("AQEB", 85)},
	} {
		if got := work.Safe(tc.name); got != tc.part {
			t.Errorf("%q is %q in keys, want %q", tc.name, got, tc.part)
		}
		if got, err := work.Plain(tc.part); got != tc.name || err != nil {
			t.Errorf("%q is %q, %v, want %q", tc.part, got, err, tc.name)
		}
	}
	for _, part := range []string{"", "a%2", "a%zz", "a%61", "~~00", "~!", "~YQ", "a/b", strings.Repeat("a", 271)} {
		if name, err := work.Plain(part); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%q became %q", part, name)
		}
	}
}

func FuzzNamesInKeys(f *testing.F) {
	for _, s := range []string{"", "a", "~", "%", "/", "\xff", "日本", strings.Repeat("/", 270)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		part := work.Safe(name)
		if len(part) > 361 || part == "" || strings.Contains(part, "/") || !utf8.ValidString(part) {
			t.Fatalf("%q is no part of a key", part)
		}
		for _, r := range part {
			if r < ' ' || r >= 0x7f && r <= 0x9f {
				t.Fatalf("%q holds a control character", part)
			}
		}
		back, err := work.Plain(part)
		if len(name) <= 270 && (err != nil || back != name) {
			t.Fatalf("%q came back as %q, %v", name, back, err)
		}
		if plain, err := work.Plain(name); err == nil && work.Safe(plain) != name {
			t.Fatalf("%q and %q are one name", name, work.Safe(plain))
		}
	})
}
