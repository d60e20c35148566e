package blob_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/memory"
)

func TestALocationIsReadAsTheDocumentationSays(t *testing.T) {
	for _, tc := range []struct{ location, scheme, bucket, prefix, text, place string }{
		{"repo", "file", "", "repo", "repo", "repo/k"},
		{"./a/b/", "file", "", "a/b", "a/b", "a/b/k"},
		{"/a b/100%?x#y", "file", "", "/a b/100%?x#y", "/a b/100%?x#y", "/a b/100%?x#y/k"},
		{`C:\repo`, "file", "", `C:\repo`, `C:\repo`, `C:\repo/k`},
		{"file:///a%20b/c", "file", "", "/a b/c", "/a b/c", "/a b/c/k"},
		{"file://localhost/c", "file", "", "/c", "/c", "/c/k"},
		{"s3://bucket", "s3", "bucket", "", "s3://bucket", "s3://bucket/k"},
		{"s3://bucket/", "s3", "bucket", "", "s3://bucket", "s3://bucket/k"},
		{"s3://bucket/a/b%20c/?region=eu-west-1&path-style", "s3", "bucket", "a/b c", "s3://bucket/a/b c", "s3://bucket/a/b c/k"},
		{"gs://bucket/a//b", "gs", "bucket", "a//b", "gs://bucket/a//b", "gs://bucket/a//b/k"},
		{"https://host:8443/repo/", "https", "host:8443", "repo", "https://host:8443/repo", "https://host:8443/repo/k"},
	} {
		l, err := blob.ParseLocation(tc.location)
		if err != nil || l.Scheme != tc.scheme || l.Bucket != tc.bucket || l.Prefix != tc.prefix || l.String() != tc.text || l.Place("k") != tc.place {
			t.Errorf("%s: %+v, text %s, place %s, %v", tc.location, l, l.String(), l.Place("k"), err)
		}
	}
}

func TestABadLocationIsWrongUsageAndItsSecretsAreNotRepeated(t *testing.T) {
	openers := map[string]blob.Opener{
		"s3":   func(context.Context, blob.Location) (blob.Bucket, error) { return memory.Bucket{}, nil },
		"file": func(context.Context, blob.Location) (blob.Bucket, error) { return memory.Bucket{}, nil },
	}
	for _, location := range []string{
		"", "ftp://host/hunter2", "s3:///hunter2", "s3://", "s3://id:hunter2@bucket/prefix", "s3://bucket/%zz?secret=hunter2",
		"s3://bucket/a#hunter2", "s3://bucket/?a=%zzhunter2", "file://host/hunter2", "file://",
	} {
		_, err := blob.Open(t.Context(), location, openers)
		if !fault.Is(err, fault.Usage) || strings.Contains(err.Error()+fault.Next(err), "hunter2") {
			t.Errorf("%q: %v (%s)", location, err, fault.Next(err))
		}
	}
	_, err := blob.Open(t.Context(), "ftp://host/x", openers)
	if next := fault.Next(err); !strings.Contains(next, "file://…, s3://…") {
		t.Errorf("the known schemes are not listed: %q", next)
	}
}

func TestOptions(t *testing.T) {
	l, err := blob.ParseLocation("s3://bucket/?path-style&anonymous=true&requester-pays=no-idea&region=here")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"path-style": true, "anonymous": true, "absent": false} {
		if yes, err := l.Flag(name); yes != want || err != nil {
			t.Errorf("%s: %v, %v", name, yes, err)
		}
	}
	if _, err := l.Flag("requester-pays"); !fault.Is(err, fault.Usage) {
		t.Errorf("no truth value: %v", err)
	}
	environment := func(name string) string { return map[string]string{"SECOND": "2"}[name] }
	for want, got := range map[string]string{
		"here": l.Option("region", environment, "SECOND"),
		"2":    l.Option("endpoint", environment, "FIRST", "SECOND"),
		"":     l.Option("endpoint", environment),
	} {
		if got != want {
			t.Errorf("option %q, want %q", got, want)
		}
	}
	if err := l.CheckOptions("path-style", "anonymous", "requester-pays", "region"); err != nil {
		t.Error(err)
	}
	err = l.CheckOptions("path-style", "anonymous", "region")
	if !fault.Is(err, fault.Usage) || !strings.Contains(err.Error(), "requester-pays") || strings.Contains(err.Error(), "no-idea") {
		t.Errorf("unknown option: %v", err)
	}
	twice, _ := blob.ParseLocation("s3://bucket/?region=a&region=b")
	if err := twice.CheckOptions("region"); !fault.Is(err, fault.Usage) {
		t.Errorf("given twice: %v", err)
	}
}

func TestOuter(t *testing.T) {
	for _, tc := range []struct{ location, base, want string }{
		{"s3://bucket/a/b/c", "b/c", "s3://bucket/a"},
		{"s3://bucket/b/c", "b/c", "s3://bucket"},
		{"s3://bucket/ab/c", "b/c", ""},
		{"s3://bucket/a/b/c", "", ""},
		{"s3://bucket", "b", ""},
		{"/data/backups/base", "backups/base", "/data"},
		{"/base", "base", "/"},
		{"/data/base", "other", ""},
		{"https://host/x/base/", "base", "https://host/x"},
	} {
		l, err := blob.ParseLocation(tc.location)
		if err != nil {
			t.Fatal(err)
		}
		outer, err := l.Outer(tc.base)
		switch {
		case tc.want == "" && !fault.Is(err, fault.Refused):
			t.Errorf("%s without %q: %v, %v; want refused", tc.location, tc.base, outer, err)
		case tc.want != "" && (err != nil || outer.String() != tc.want):
			t.Errorf("%s without %q: %v, %v; want %s", tc.location, tc.base, outer, err, tc.want)
		}
	}
	t.Chdir(t.TempDir())
	if l, err := (blob.Location{Scheme: "file", Prefix: "x"}).Outer("x"); err != nil || !filepath.IsAbs(l.Prefix) {
		t.Errorf("a relative folder: %v, %v", l, err)
	}
}
