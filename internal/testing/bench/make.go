package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/testing/bench/peers"
	"github.com/reshelve/reshelve/internal/testing/servers"
)

// repository is the name of the snapshot repository that every server writes.
const repository = "bench"

// makeFamily starts the family's server, fills one index per shape and codec, takes one snapshot of all, and keeps the
// repository and the Lucene directories in the folder home. Home exists only when it is complete.
func makeFamily(ctx context.Context, home string, f family, size string) error {
	bytes, err := parseSize(size)
	if err != nil {
		return err
	}
	peers.Progress("making shards of %s with %s in %s (once)", size, f.server, home)
	making := home + ".making"
	if err := errors.Join(os.RemoveAll(making), os.MkdirAll(making, 0o755)); err != nil {
		return err
	}
	server, err := servers.Start(ctx, f.server, servers.Options{Dir: making, Heap: "1g"})
	if err != nil {
		return err
	}
	list, uuids, err := fillAll(ctx, server, f, bytes)
	if err == nil {
		err = takeSnapshot(server)
	}
	if err = errors.Join(err, server.Stop()); err != nil {
		return fmt.Errorf("make shards with %s: %w", f.server, err)
	}
	if err := keep(making, list, uuids); err != nil {
		return err
	}
	return os.Rename(making, home)
}

// fillAll makes one index per shape and codec and returns them with the identifiers that name their data folders.
func fillAll(ctx context.Context, server *servers.Server, f family, size int64) (list []shard, uuids []string, err error) {
	for _, form := range []shape{articles, logLines} {
		for _, c := range f.codecs {
			s := shard{Name: indexName(form, c), Lucene: f.lucene, Codec: c.name, Shape: form}
			if err := createIndex(server, s.Name, c.setting); err != nil {
				return nil, nil, err
			}
			start := time.Now()
			if s.Content, err = fill(ctx, server, s.Name, newDocuments(form), size); err != nil {
				return nil, nil, err
			}
			uuid, err := settle(server, s)
			if err != nil {
				return nil, nil, err
			}
			peers.Progress("  %s: %d documents, %d MB of sources, %.0f s", s.Name, s.Content.Documents, s.Content.SourceBytes/1e6, time.Since(start).Seconds())
			list, uuids = append(list, s), append(uuids, uuid)
		}
	}
	return list, uuids, nil
}

func indexName(form shape, c codec) string {
	kind := map[shape]string{articles: "articles", logLines: "loglines"}[form]
	return kind + "-" + strings.ToLower(c.name)
}

// createIndex makes an index whose documents are stored whole while one field is indexed, so that filling is quick and the
// segment has every part that a normal one has.
func createIndex(server *servers.Server, name, codec string) error {
	return ask(server, "PUT", "/"+name, fmt.Sprintf(`{
		"settings": {"index": {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "-1", "codec": %q,
			"translog": {"durability": "async", "flush_threshold_size": "2gb"}}},
		"mappings": {"dynamic": false, "properties": {"@timestamp": {"type": "date"}}}}`, codec), nil)
}

// settle merges the index into one segment, checks that it is whole, and returns the index's identifier.
func settle(server *servers.Server, s shard) (uuid string, err error) {
	if err := merge(server, s.Name); err != nil {
		return "", err
	}
	if err := ask(server, "POST", "/"+s.Name+"/_refresh", "", nil); err != nil {
		return "", err
	}
	var answer struct{ Count int64 }
	if err := ask(server, "GET", "/"+s.Name+"/_count", "", &answer); err != nil {
		return "", err
	}
	if answer.Count != s.Content.Documents {
		return "", fmt.Errorf("%s holds %d documents, %d were sent", s.Name, answer.Count, s.Content.Documents)
	}
	var settings map[string]struct {
		Settings struct{ Index struct{ UUID string } }
	}
	if err := ask(server, "GET", "/"+s.Name+"/_settings", "", &settings); err != nil {
		return "", err
	}
	return settings[s.Name].Settings.Index.UUID, nil
}

// merge asks for one segment until there is one: a request may end before the merge that it began.
func merge(server *servers.Server, index string) error {
	for range 30 {
		status, answer, err := server.Do("POST", "/"+index+"/_forcemerge?max_num_segments=1&flush=true", nil)
		if err == nil && status != 200 {
			return fmt.Errorf("force merge of %s: %s", index, answer)
		}
		var segments []struct{ Segment string }
		if err := ask(server, "GET", "/_cat/segments/"+index+"?format=json", "", &segments); err != nil {
			return err
		}
		if err == nil && len(segments) == 1 {
			return nil
		}
		time.Sleep(time.Second)
	}
	return fmt.Errorf("force merge of %s: still more than one segment", index)
}

func takeSnapshot(server *servers.Server) error {
	location, err := json.Marshal(filepath.Join(server.Repos, repository))
	if err != nil {
		return err
	}
	body := fmt.Sprintf(`{"type": "fs", "settings": {"location": %s, "max_snapshot_bytes_per_sec": "0"}}`, location)
	if err := ask(server, "PUT", "/_snapshot/"+repository, body, nil); err != nil {
		return err
	}
	if err := ask(server, "PUT", "/_snapshot/"+repository+"/all", `{"include_global_state": false}`, nil); err != nil {
		return err
	}
	for {
		var answer struct{ Snapshots []struct{ State string } }
		if err := ask(server, "GET", "/_snapshot/"+repository+"/all", "", &answer); err != nil {
			return err
		}
		if len(answer.Snapshots) != 1 {
			return fmt.Errorf("asked for one snapshot, the server shows %d", len(answer.Snapshots))
		}
		switch state := answer.Snapshots[0].State; state {
		case "SUCCESS":
			return nil
		case "IN_PROGRESS":
			time.Sleep(500 * time.Millisecond)
		default:
			return fmt.Errorf("snapshot ended %s", state)
		}
	}
}

// ask sends a request, refuses any status but 200, and decodes the answer into result unless that is nil.
func ask(server *servers.Server, method, path, body string, result any) error {
	var bytes []byte
	if body != "" {
		bytes = []byte(body)
	}
	status, answer, err := server.Do(method, path, bytes)
	if err != nil {
		return err
	}
	if status != 200 {
		return fmt.Errorf("%s %s: status %d: %.500s", method, path, status, answer)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(answer, result)
}

// keep moves the Lucene directories out of the stopped server's data and drops everything but them and the repository.
func keep(dir string, list []shard, uuids []string) error {
	if err := os.Mkdir(filepath.Join(dir, "shards"), 0o755); err != nil {
		return err
	}
	for i, s := range list {
		from, err := dataFolder(dir, uuids[i])
		if err != nil {
			return err
		}
		if err := os.Rename(from, filepath.Join(dir, "shards", s.Name)); err != nil {
			return err
		}
	}
	for _, name := range []string{"data", "logs", "tmp", "config"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return writeShards(dir, list)
}

// dataFolder finds the Lucene directory of an index's only shard; older servers keep theirs below data/nodes/0.
func dataFolder(dir, uuid string) (string, error) {
	for _, above := range []string{"data", filepath.Join("data", "nodes", "0")} {
		path := filepath.Join(dir, above, "indices", uuid, "0", "index")
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: no data of index %s", dir, uuid)
}
