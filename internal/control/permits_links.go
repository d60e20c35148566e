package control

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
)

// mostLinks are followed on the way to one file, as systems have it.
const mostLinks = 255

// followed is the file that a path leads to when it is opened, without links: step by step, as the system goes. It
// may not be there: a link to nothing leads to where its target would be made, and below what is not there
// is no link.
func followed(path string) (string, error) {
	if !filepath.IsAbs(path) {
		here, err := os.Getwd()
		if err != nil {
			return "", fault.New(fault.Unavailable, "%w", err)
		}
		path = here + string(filepath.Separator) + path // as it is: a step upwards leads back from where a link has led
	}
	root := filepath.VolumeName(path) + string(filepath.Separator)
	split := func(path string) []string {
		return strings.Split(filepath.ToSlash(path[len(filepath.VolumeName(path)):]), "/")
	}
	at, links := root, 0
	for steps := split(path); len(steps) > 0; {
		step := steps[0]
		steps = steps[1:]
		switch step {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, step)
		info, err := os.Lstat(next)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", fault.New(fault.Unavailable, "%w", err)
		case err != nil || info.Mode()&fs.ModeSymlink == 0:
			at = next
			continue
		}
		if links++; links > mostLinks {
			return "", fault.New(fault.Refused, "%s leads in a circle", next)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", fault.New(fault.Unavailable, "%w", err)
		}
		if filepath.IsAbs(target) {
			at = root
		}
		steps = append(split(target), steps...)
	}
	return at, nil
}
