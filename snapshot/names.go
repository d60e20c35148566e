package snapshot

import (
	"fmt"
	"sort"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
)

// checkComponent refuses a name from a file as one component of a key, where it
// would leave the folder that it belongs to.
func checkComponent(what, name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") {
		return fault.New(fault.Corrupt, "%s %q cannot be part of a path: the repository is damaged or hostile", what, name)
	}
	return nil
}

// dangling is the error for a file that another file names and that is not
// there. Other errors are returned as they are, nil included.
func dangling(err error, format string, args ...any) error {
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	err = fault.New(fault.Corrupt, "%s", fmt.Sprintf(format, args...))
	return fault.WithNext(err, "copy the missing file from where this repository came from; other snapshots and indices can still be read")
}

// enumerate lists names for a message, the first twenty of them.
func enumerate(names []string) string {
	const most = 20
	if len(names) == 0 {
		return "none"
	}
	names = append([]string{}, names...)
	sort.Strings(names)
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
