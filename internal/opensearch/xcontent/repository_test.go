package xcontent_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/reshelve/reshelve/internal/opensearch/xcontent"
)

// repositories are the folders with real snapshot repositories: the committed
// ones and, when there are more, those of RESHELVE_SHARED.
func repositories(t testing.TB) []string {
	shared := os.Getenv("RESHELVE_SHARED")
	if shared == "" {
		shared = "../../../../shared"
	}
	var found []string
	for _, dir := range []string{"../../../testdata/repositories", filepath.Join(shared, "snapshots")} {
		if _, err := os.Stat(dir); err == nil {
			found = append(found, dir)
		} else {
			t.Logf("%s is not here: its files are left out", dir)
		}
	}
	return found
}

// payload is what the servers' checksummed wrapper holds (header with a codec
// name, footer of 16 bytes), when it is one of their metadata files.
func payload(file []byte) (codec string, content []byte) {
	const header, footer = 0x3fd76c17, 16
	if len(file) < 5+footer || binary.BigEndian.Uint32(file) != header {
		return "", nil
	}
	name := int(file[4])
	start := 5 + name + 4
	if start > len(file)-footer {
		return "", nil
	}
	switch codec := string(file[5 : 5+name]); codec {
	case "metadata", "index-metadata", "snapshot", "snapshots":
		return codec, file[start : len(file)-footer]
	}
	return "", nil
}

// metadata calls visit with the payload of each metadata file below the folders.
func metadata(t testing.TB, visit func(path, codec string, content []byte)) {
	for _, dir := range repositories(t) {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			file, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if codec, content := payload(file); content != nil {
				visit(path, codec, content)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestMetadataOfRealRepositories(t *testing.T) {
	codecs, compressed := map[string]int{}, 0
	metadata(t, func(path, codec string, content []byte) {
		plain, err := expand(content)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return
		}
		if xcontent.Sniff(plain) != xcontent.SMILE {
			t.Errorf("%s: %s, want SMILE", path, xcontent.Sniff(plain))
		}
		if !bytes.Equal(plain, content) {
			compressed++
		}
		text, err := toJSON(nil, plain)
		if err != nil || !json.Valid(text) {
			t.Errorf("%s: %v, %.80s", path, err, text)
			return
		}
		codecs[codec]++
	})
	t.Logf("%v, %d of them compressed", codecs, compressed)
	for _, codec := range []string{"metadata", "index-metadata", "snapshot", "snapshots"} {
		if codecs[codec] == 0 {
			t.Errorf("no file of codec %s was seen", codec)
		}
	}
}
