package snapshot

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
)

// manifest is the file of a shard in one snapshot, see
// BlobStoreIndexShardSnapshot of Elasticsearch 7.10. Its own counts and sizes
// are of what this snapshot added, and so are not used.
type manifest struct {
	Name  string   `json:"name"` // of the snapshot
	Files fileList `json:"files"`
}

// fileList are the files of a manifest, each checked as it is read.
type fileList []File

// UnmarshalJSON reads an array of manifestFile.
func (l *fileList) UnmarshalJSON(data []byte) error {
	*l = nil
	if string(data) == "null" {
		return nil
	}
	return eachElement(data, func(element json.RawMessage) error {
		var m manifestFile
		if err := decodeJSON(element, &m); err != nil {
			return err
		}
		file, err := m.file()
		*l = append(*l, file)
		return fault.At(err, "file "+strconv.Quote(m.PhysicalName))
	})
}

// manifestFile is one file in a manifest.
type manifestFile struct {
	Name         string `json:"name"` // of the blob
	PhysicalName string `json:"physical_name"`
	Length       *int64 `json:"length"`
	Checksum     string `json:"checksum"` // in base 36
	PartSize     *int64 `json:"part_size"`
	WrittenBy    string `json:"written_by"` // a Lucene version
	MetaHash     []byte `json:"meta_hash"`
}

const (
	virtualPrefix = "v__"
	// hashedPrefix is how much of a longer file meta_hash may hold.
	hashedPrefix = 1 << 20
	// unsplit is the part size that stands for none where a repository was told to
	// have none, as a size of −1.
	unsplit = -1
	// maxParts bounds the parts of a file: far more than a repository would hold.
	maxParts = 1 << 24
)

// fill makes the shard's files of a manifest.
func (sh *Shard) fill(m *manifest) error {
	sh.Files = m.Files
	sort.Slice(sh.Files, func(i, j int) bool { return sh.Files[i].Name < sh.Files[j].Name })
	sh.byName = make(map[string]*File, len(sh.Files))
	for i := range sh.Files {
		f := &sh.Files[i]
		if sh.byName[f.Name] != nil {
			return fault.New(fault.Corrupt, "file %q is listed twice", f.Name)
		}
		sh.byName[f.Name] = f
	}
	return nil
}

// file checks one entry of a manifest. The commit is read from its blob where it
// has one (up to 6.8), although the manifest holds a copy: a manifest does not say
// whose it is, and that of another shard would be believed.
func (m *manifestFile) file() (File, error) {
	f := File{Name: m.PhysicalName, Blob: m.Name, Virtual: strings.HasPrefix(m.Name, virtualPrefix)}
	if err := checkComponent("file", f.Name); err != nil {
		return f, err
	}
	if err := checkComponent("blob", f.Blob); err != nil {
		return f, err
	}
	if m.Length == nil || *m.Length < 0 {
		return f, fault.New(fault.Corrupt, "has no length, or a negative one")
	}
	f.Length = *m.Length
	if m.PartSize != nil && *m.PartSize < f.Length && *m.PartSize != unsplit {
		f.PartSize = *m.PartSize
		if f.PartSize <= 0 || f.Length/f.PartSize >= maxParts {
			return f, fault.New(fault.Corrupt, "has %d bytes in parts of %d", f.Length, f.PartSize)
		}
	}
	if err := m.checksum(&f); err != nil {
		return f, err
	}
	if err := m.content(&f); err != nil {
		return f, err
	}
	if strings.HasPrefix(f.Name, commitPrefix) && !f.Virtual {
		f.Content = nil
	}
	return f, nil
}

// checksum takes the CRC-32 of the file's footer. Files that Lucene before 4.8
// wrote have no footer, and their checksum is another one; manifests before 1.3
// do not say which Lucene it was.
func (m *manifestFile) checksum(f *File) error {
	f.old, f.unsure = !hasFooter(m.WrittenBy), m.WrittenBy == ""
	if m.Checksum == "" || f.old {
		return nil
	}
	sum, err := strconv.ParseUint(m.Checksum, 36, 64)
	if err != nil || sum > math.MaxUint32 {
		return fault.New(fault.Corrupt, "its checksum %q is no CRC-32 in base 36", m.Checksum)
	}
	f.Checksum, f.HasChecksum = uint32(sum), true
	return nil
}

// hasFooter tells by the Lucene version whether files end with a footer.
func hasFooter(writtenBy string) bool { return newerThan(writtenBy, "4.7.999") }

// content takes meta_hash where it is the whole file.
func (m *manifestFile) content(f *File) error {
	n := int64(len(m.MetaHash))
	switch {
	case n == f.Length && (n > 0 || f.Virtual):
		f.Content = append([]byte{}, m.MetaHash...) // never nil
	case f.Virtual:
		return fault.New(fault.Corrupt, "has %d bytes, but the manifest that holds it has %d", f.Length, n)
	case n == 0 || n == hashedPrefix && n < f.Length:
		return nil
	default:
		return fault.New(fault.Corrupt, "has %d bytes; its meta_hash holds %d", f.Length, n)
	}
	if !f.HasChecksum {
		return nil
	}
	if n < footerLength || binary.BigEndian.Uint32(f.Content[n-footerLength:]) != footerMagic {
		return fault.New(fault.Corrupt, "its content in the manifest has no footer")
	}
	if sum := binary.BigEndian.Uint64(f.Content[n-8:]); sum != uint64(f.Checksum) {
		return fault.New(fault.Corrupt, "its checksum is %08x; its content in the manifest says %08x", f.Checksum, sum)
	}
	return nil
}
