package cluster

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/fault"
)

// Repository is a snapshot repository as a cluster knows it.
type Repository struct {
	Type     string         `json:"type"` // fs, s3, gcs, azure, url
	Settings map[string]any `json:"settings"`
}

// Repositories are those that the cluster knows, by name.
func (c *Client) Repositories(ctx context.Context) (map[string]Repository, error) {
	found := map[string]Repository{}
	return found, c.get(ctx, []string{"_snapshot"}, nil, true, &found)
}

// RegisterRepository makes a repository known under a name, which must be free,
// and has every node try it. One that exists with the same type and settings is
// taken as it is; made tells that it was not there.
func (c *Client) RegisterRepository(ctx context.Context, name string, r Repository) (made bool, err error) {
	known, err := c.Repositories(ctx)
	if err != nil {
		return false, err
	}
	if is, ok := known[name]; ok {
		if is.Type == r.Type && sameSettings(is.Settings, r.Settings) {
			return false, nil
		}
		err := fault.At(fault.New(fault.Conflict, "it has a repository %q already, of type %s and with other settings", name, is.Type), c.place)
		return false, fault.WithNext(err, "choose another name with --snapshot-repository")
	}
	body, err := json.Marshal(r)
	if err != nil {
		return false, fault.Wrap(fault.Usage, err)
	}
	return true, c.change(ctx, http.MethodPut, []string{"_snapshot", name}, body)
}

// sameSettings compares as servers do: every value is a text.
func sameSettings(a, b map[string]any) bool {
	text := func(m map[string]any) string {
		flat := map[string]string{}
		for k, v := range m {
			raw, _ := json.Marshal(v)
			flat[k] = strings.Trim(string(raw), `"`)
		}
		raw, _ := json.Marshal(flat) // sorted
		return string(raw)
	}
	return text(a) == text(b)
}

// ForgetRepository takes a repository's registration away; its snapshots stay
// where they are. One that is not known is no error.
func (c *Client) ForgetRepository(ctx context.Context, name string) error {
	return gone(c.change(ctx, http.MethodDelete, []string{"_snapshot", name}, nil))
}

// SnapshotOptions say what is put into a snapshot.
type SnapshotOptions struct {
	Indices     []string       // patterns; none: all
	GlobalState bool           // templates and settings of the cluster
	Partial     bool           // take what is there of indices that lack a shard
	Metadata    map[string]any // shown with the snapshot; servers from Elasticsearch 7.3 on
}

// Snapshot is the state of a snapshot.
type Snapshot struct {
	Name     string            `json:"snapshot"`
	UUID     string            `json:"uuid"`
	State    string            `json:"state"` // IN_PROGRESS, SUCCESS, PARTIAL, FAILED, INCOMPATIBLE
	Indices  []string          `json:"indices"`
	Reason   string            `json:"reason"` // of FAILED
	Failures []json.RawMessage `json:"failures"`
	Metadata map[string]any    `json:"metadata"`

	// While it is being made, and after, as far as the server tells: shards and bytes.
	Shards, ShardsDone, ShardsFailed int   `json:"-"`
	Bytes, BytesDone                 int64 `json:"-"`
}

// CreateSnapshot begins a snapshot and does not wait for it. A name that is in
// use is fault.Conflict; see Exists.
func (c *Client) CreateSnapshot(ctx context.Context, repository, name string, o SnapshotOptions) error {
	about := map[string]any{"include_global_state": o.GlobalState, "partial": o.Partial}
	if len(o.Indices) > 0 {
		about["indices"] = strings.Join(o.Indices, ",")
	}
	if o.Metadata != nil {
		about["metadata"] = o.Metadata
	}
	body, err := json.Marshal(about)
	if err != nil {
		return fault.Wrap(fault.Usage, err)
	}
	return c.create(ctx, []string{"_snapshot", repository, name}, url.Values{"wait_for_completion": {"false"}}, body)
}

// Snapshot asks for the state of one, with its progress while it is being made.
func (c *Client) Snapshot(ctx context.Context, repository, name string) (*Snapshot, error) {
	var told struct {
		Snapshots []Snapshot `json:"snapshots"`
	}
	if err := c.get(ctx, []string{"_snapshot", repository, name}, nil, false, &told); err != nil {
		return nil, err
	}
	if len(told.Snapshots) == 0 { // so Elasticsearch 7.17 tells that there is none
		err := fault.At(fault.New(fault.NotFound, "there is no snapshot %s in repository %s", name, repository), c.place)
		return nil, fault.WithNext(err, "name a snapshot of that repository")
	}
	if len(told.Snapshots) != 1 {
		return nil, fault.At(fault.New(fault.Unavailable, "%d snapshots are called %s", len(told.Snapshots), name), c.place)
	}
	s := &told.Snapshots[0]
	return s, c.progress(ctx, repository, name, s)
}

// progress adds what _status tells.
func (c *Client) progress(ctx context.Context, repository, name string, s *Snapshot) error {
	type sizes struct {
		Bytes int64 `json:"size_in_bytes"`
	}
	var told struct {
		Snapshots []struct {
			Shards struct {
				Done, Failed, Total int
			} `json:"shards_stats"`
			Stats struct {
				Total, Processed, Incremental sizes
			} `json:"stats"`
		} `json:"snapshots"`
	}
	if err := c.get(ctx, []string{"_snapshot", repository, name, "_status"}, nil, false, &told); err != nil {
		return err
	}
	for _, t := range told.Snapshots {
		s.Shards, s.ShardsDone, s.ShardsFailed = t.Shards.Total, t.Shards.Done, t.Shards.Failed
		s.Bytes, s.BytesDone = t.Stats.Incremental.Bytes, t.Stats.Processed.Bytes
		if s.State == "SUCCESS" {
			s.BytesDone = s.Bytes
		}
	}
	return nil
}

// AwaitSnapshot polls until a snapshot has ended, telling its state each time. One
// that ended otherwise than well is returned with an error that says so.
func (c *Client) AwaitSnapshot(ctx context.Context, repository, name string, every time.Duration, tell func(*Snapshot)) (*Snapshot, error) {
	for {
		s, err := c.Snapshot(ctx, repository, name)
		if err != nil {
			return nil, err
		}
		if tell != nil {
			tell(s)
		}
		switch s.State {
		case "SUCCESS":
			return s, nil
		case "IN_PROGRESS", "STARTED":
		case "PARTIAL":
			err := fault.New(fault.Refused, "snapshot %s is PARTIAL: %d of its %d shards failed: %s", name, s.ShardsFailed, s.Shards, first(s.Failures))
			return s, fault.WithNext(fault.At(err, c.place), "repair the indices that are red, or allow it with --allow-partial")
		default:
			err := fault.New(fault.Refused, "snapshot %s is %s: %s %s", name, s.State, s.Reason, first(s.Failures))
			return s, fault.WithNext(fault.At(err, c.place), "see the cluster's log, delete the snapshot, and take another")
		}
		if err := rest(ctx, every); err != nil {
			return nil, err
		}
	}
}

// first is how the failures begin.
func first(failures []json.RawMessage) string {
	if len(failures) == 0 {
		return "no reason is told"
	}
	return string(failures[0][:min(len(failures[0]), 300)])
}

// DeleteSnapshot deletes a snapshot; one that is being made is stopped. One that
// is not there is no error.
func (c *Client) DeleteSnapshot(ctx context.Context, repository, name string) error {
	return gone(c.change(ctx, http.MethodDelete, []string{"_snapshot", repository, name}, nil))
}
