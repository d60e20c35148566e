package cli

import (
	"strings"
	"testing"
	"time"
)

func TestColumnsAreAligned(t *testing.T) {
	table := newTable("INDEX", ">DOCUMENTS", "STATE")
	table.row("books", "1,234", "SUCCESS")
	table.row("éclairs-2026", "7", "a\nb\x1b[31m")
	var out strings.Builder
	table.print(&out)
	want := "" +
		"INDEX         DOCUMENTS  STATE\n" +
		"books             1,234  SUCCESS\n" +
		"éclairs-2026          7  a\ufffdb\ufffd[31m\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestNumbersForPeople(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{bytesText(0), "0 B"},
		{bytesText(1023), "1023 B"},
		{bytesText(1024), "1.0 KiB"},
		{bytesText(1<<20 - 1), "1.0 MiB"},
		{bytesText(1536 << 20), "1.5 GiB"},
		{bytesText(5 << 50), "5.0 PiB"},
		{count(0), "0"},
		{count(999), "999"},
		{count(1000), "1,000"},
		{count(1234567), "1,234,567"},
		{count(-1234), "-1,234"},
		{counted(1, "document"), "1 document"},
		{counted(2000, "document"), "2,000 documents"},
		{counted(1, "index"), "1 index"},
		{counted(2, "index"), "2 indices"},
		{spanText(401 * time.Millisecond), "401 ms"},
		{spanText(59 * time.Second), "59.0 s"},
		{spanText(61 * time.Second), "1 min 01 s"},
		{spanText(3*time.Hour + 5*time.Minute), "3 h 05 min"},
		{progressLine("document", 2000, 4_000_000, 0.25, 2*time.Second), "2,000 documents, 3.8 MiB, 1,000 documents/s, 2.0 MB/s, 25 %, 6.0 s left"},
		{progressLine("file", 7, 0, -1, time.Second), "7 files, 0 B, 7 files/s, 0.0 MB/s"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}
