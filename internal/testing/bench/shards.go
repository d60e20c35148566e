package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/reshelve/reshelve/internal/testing/servers"
)

// shard is one index of one shard and one segment, kept both as a snapshot and as a Lucene directory.
type shard struct {
	Name    string // of the index and of the Lucene directory: "articles-lz4"
	Lucene  string // the series that wrote it: "9.12"
	Codec   string // how stored fields are compressed: "LZ4", "DEFLATE", "zstd"
	Shape   shape
	Content content
	home    string // the folder of its family
	family  family
}

// repository is the folder of the snapshot repository that holds the shard.
func (s shard) repository() string { return filepath.Join(s.home, "repos", repository) }

// directory is the shard's Lucene directory.
func (s shard) directory() string { return filepath.Join(s.home, "shards", s.Name) }

// String names the shard in messages and for -only.
func (s shard) String() string {
	return strings.ToLower(fmt.Sprintf("lucene %s %s %s", s.Lucene, s.Codec, s.Shape))
}

// storedBytes is the length of the file that holds the documents: the stored fields, or the compound file around them.
func (s shard) storedBytes() (n int64, err error) {
	for _, pattern := range []string{"*.fdt", "*.cfs"} {
		paths, err := filepath.Glob(filepath.Join(s.directory(), pattern))
		if err != nil {
			return 0, err
		}
		for _, path := range paths {
			info, err := os.Stat(path)
			if err != nil {
				return 0, err
			}
			n += info.Size()
		}
	}
	return n, nil
}

// family is what one server writes: the same documents in each of its codecs.
type family struct {
	server servers.Version
	lucene string
	codecs []codec
}

// codec is a value of the setting index.codec and what it means for stored fields in that version.
type codec struct{ setting, name string }

// families are the servers. OpenSearch's default codecs are those of plain Lucene; the codec with zstd is Elasticsearch's own.
var families = []family{
	{servers.OpenSearch("2.19.0"), "9.12", []codec{{"default", "LZ4"}, {"best_compression", "DEFLATE"}}},
	{servers.OpenSearch("3.0.0"), "10.1", []codec{{"default", "LZ4"}, {"best_compression", "DEFLATE"}}},
	{servers.Elasticsearch("8.19.0"), "9.12", []codec{{"best_compression", "zstd"}}},
}

// cacheDir is where the shards are kept: $RESHELVE_BENCH, else beside the servers, which a server's user can reach.
func cacheDir() (string, error) {
	if dir := os.Getenv("RESHELVE_BENCH"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := servers.CacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(dir), "bench"), nil
}

// loadShards returns the shards of every family of that size, and makes those that the cache lacks. The text size names
// the folder, so that shards of several sizes may stand side by side.
func loadShards(ctx context.Context, cache, size string) (all []shard, err error) {
	for _, f := range families {
		home := filepath.Join(cache, size, f.server.String())
		found, err := readShards(home)
		if errors.Is(err, fs.ErrNotExist) {
			if err = makeFamily(ctx, home, f, size); err == nil {
				found, err = readShards(home)
			}
		}
		if err != nil {
			return nil, err
		}
		for _, s := range found {
			s.home, s.family = home, f
			all = append(all, s)
		}
	}
	return all, nil
}

const listName = "shards.json"

func readShards(home string) (list []shard, err error) {
	text, err := os.ReadFile(filepath.Join(home, listName))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%s: %w; remove the folder to have it made again", home, err)
	}
	return list, nil
}

func writeShards(home string, list []shard) error {
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(home, listName), append(text, '\n'), 0o644)
}
