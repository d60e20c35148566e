package snapshot

import (
	"errors"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
)

// at says where an error was met: in which shard, which of its segments ("": its commit), and in
// which blob, so that whoever is told of damage finds what to look at, or to fetch again.
func (sh *Shard) at(err error, segment string) error {
	if err == nil {
		return nil
	}
	place := []string{sh.Path}
	if segment != "" {
		place = append(place, "segment "+segment)
	}
	if blob := sh.blobOf(err, segment); blob != "" {
		place = append(place, "blob "+blob)
	}
	return fault.At(err, place...)
}

// blobOf is the blob that holds the file of which an error tells: its own, or that of the segment's
// compound file. It is "" where the manifest holds the file, and where the error names the blob.
func (sh *Shard) blobOf(err error, segment string) string {
	var told *fault.Error
	if !errors.As(err, &told) {
		return ""
	}
	blob := ""
	for _, place := range told.Place() {
		if strings.HasPrefix(place, "blob ") {
			return ""
		}
		if name, is := strings.CutPrefix(place, "file "); is && blob == "" {
			f := sh.byName[name]
			if f == nil {
				f = sh.byName[segment+".cfs"]
			}
			if f != nil && !f.Virtual {
				blob = f.Blob
			}
		}
	}
	return blob
}
