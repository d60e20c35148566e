package servers

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// unprivileged returns as whom the server runs: the servers refuse root, so root starts them as "nobody"; anybody else
// starts them as himself, which is nil.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return nil, fmt.Errorf("servers: the servers refuse to run as root, and there is no user nobody to run them: %w", err)
	}
	uid, err := strconv.ParseUint(nobody.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(nobody.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// handOver gives the whole folder to the server's user.
func handOver(dir string, to *syscall.Credential) error {
	if to == nil {
		return nil
	}
	if closed := unreachable(filepath.Dir(dir)); closed != "" {
		return fmt.Errorf("servers: the server's user cannot reach %s, because %s is closed to others; choose a folder outside it", dir, closed)
	}
	return filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(to.Uid), int(to.Gid))
	})
}

// unreachable names the first folder on the way to dir through which other users may not go, "" when there is none.
func unreachable(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&1 == 0 {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}
