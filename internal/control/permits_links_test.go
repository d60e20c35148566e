//go:build unix

package control

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/folder"
)

// linked is a folder with links: below allowed, which the operator has named, and beside it.
func linked(t *testing.T) (base string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"allowed/repo/deep", "allowed-2", "outside/repo"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"allowed/out": "../outside", "allowed/absolute": filepath.Join(base, "outside"), "allowed/dangling": "../outside/later", "allowed/twice": "dangling/../repo",
		"allowed/in": "repo", "allowed/later-in": "repo/later", "allowed/deeper": filepath.Join(base, "allowed/repo/deep"),
		"allowed/circle": "circle", "allowed/there": "back", "allowed/back": "there", "outside/into": "../allowed/repo", "outside/into-later": "../allowed/later", "named": "allowed",
	} {
		if err := os.Symlink(target, filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	return base
}

// TestWhatIsAllowedIsWhatIsOpened: links count for what they lead to, also when that, or the last step behind one,
// is not there yet; and so do steps upwards.
func TestWhatIsAllowedIsWhatIsOpened(t *testing.T) {
	base := linked(t)
	t.Chdir(base)
	for _, prefix := range []string{filepath.Join(base, "allowed"), filepath.Join(base, "allowed") + "/", "allowed", "file://" + base + "/allowed", filepath.Join(base, "named")} {
		c, err := New(Wiring{}).bound(Allowed{Repositories: []string{prefix}}, "reshelve serve", false)
		if err != nil {
			t.Fatal(err)
		}
		for path, leads := range map[string]string{ // "": nowhere that is allowed
			"allowed": "allowed", "allowed/": "allowed", "allowed/repo": "allowed/repo", "allowed/new": "allowed/new", "allowed/new/and/new": "allowed/new/and/new",
			"allowed/in": "allowed/repo", "allowed/in/deep": "allowed/repo/deep", "allowed/in/new": "allowed/repo/new", "allowed/later-in": "allowed/repo/later", "allowed/deeper": "allowed/repo/deep",
			"allowed/deeper/../x": "allowed/repo/x", "outside/into": "allowed/repo", "outside/into-later/x": "allowed/later/x", "named/repo": "allowed/repo",
			"allowed/repo/../..": "", "allowed/../outside": "", "allowed-2": "", "outside": "", "": "", "/": "",
			"allowed/out": "", "allowed/out/repo": "", "allowed/out/new": "", "allowed/out/new/and/new": "", "allowed/absolute/new": "", "allowed/dangling": "", "allowed/dangling/new": "",
			"allowed/twice": "", "allowed/circle": "", "allowed/circle/new": "", "allowed/there/new": "", "allowed/out/../allowed-2": "", "allowed/new/../../outside": "",
			"allowed/out/into": "allowed/repo", "allowed/out/../allowed/new": "allowed/new",
		} {
			for _, text := range []string{filepath.FromSlash(base + "/" + path), "file://" + base + "/" + path, path} {
				if text == "" || strings.HasPrefix(text, "/") && path == "/" {
					text = "/"
				}
				l, err := blob.ParseLocation(text)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(path, "..") && !strings.Contains(text, "://") { // such a path is cleaned before anybody follows it
					continue
				}
				err = c.permits.repository(text, &l)
				if leads == "" && (!fault.Is(err, fault.Refused) || !strings.Contains(fault.Next(err), "--allow-repository")) {
					t.Errorf("%s, allowed is %s: %v, %+v", text, prefix, err, l)
				}
				if leads != "" && (err != nil || l.Prefix != filepath.Join(base, leads) || l.Within != filepath.Join(base, "allowed")) {
					t.Errorf("%s, allowed is %s: %v, %+v", text, prefix, err, l)
				}
			}
		}
	}
}

// TestWhatBecomesALinkMeanwhile, between the check and the opening, leads nowhere else.
func TestWhatBecomesALinkMeanwhile(t *testing.T) {
	for _, path := range []string{"allowed/new", "allowed/new/repo", "allowed/repo", "allowed/repo/deep"} {
		base := linked(t)
		c, err := New(Wiring{}).bound(Allowed{Repositories: []string{filepath.Join(base, "allowed")}}, "reshelve serve", false)
		if err != nil {
			t.Fatal(err)
		}
		l, err := blob.ParseLocation(filepath.Join(base, path))
		if err == nil {
			err = c.permits.repository(path, &l)
		}
		if err != nil {
			t.Fatal(path, err)
		}
		first := filepath.Join(base, strings.Join(strings.Split(path, "/")[:2], "/"))
		if err := os.RemoveAll(first); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(base, "outside/deep"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("../outside", first); err != nil {
			t.Fatal(err)
		}
		bucket, err := folder.Open(t.Context(), l)
		if bucket != nil || !fault.Is(err, fault.Refused) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
