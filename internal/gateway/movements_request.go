package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"time"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
)

// createMovementRequest is an order for a movement. What belongs to another kind than its own is refused.
type createMovementRequest struct {
	Body struct {
		Kind string `json:"kind" enum:"migrate,split,merge" doc:"What is to be done. migrate needs from; split needs index and one of by, into, cut and halveLargest; merge needs index and shards"`
		Migration
		control.Shape
		KeepWayBack bool       `json:"keepWayBack,omitempty" doc:"Do not finish by itself: abort, or reverse, stays possible until finish"`
		Limits      Throttling `json:"limits,omitempty" doc:"A split and a merge know bytesPerSecond alone: of what is written again behind the scenes"`
		Why         string     `json:"why,omitempty" doc:"For its history"`
		AskedBy     string     `json:"askedBy,omitempty" doc:"Who asks, for its history; absent: http"`
	}
}

// Migration is what belongs to a migration alone.
type Migration struct {
	Origin
	Rename        map[string]string `json:"rename,omitempty" doc:"New names by old ones; or patterns with one * by patterns with one *"`
	Transform     string            `json:"transform,omitempty" doc:"Steps that documents go through on their way, in YAML or JSON: see docs/transform.md"`
	IntoExisting  bool              `json:"intoExisting,omitempty" doc:"Write into indices that hold documents"`
	NoVersions    bool              `json:"noVersions,omitempty" doc:"Send documents without the versions that the snapshot holds"`
	Delta         bool              `json:"delta,omitempty" doc:"Send only what has changed since the newest movement that brought an older snapshot into the same indices"`
	Since         string            `json:"since,omitempty" doc:"The same since the movement with this id, or the one that moved this snapshot"`
	AllowPartial  bool              `json:"allowPartial,omitempty" doc:"Take what there is of a snapshot that is not complete"`
	AllowFailures int64             `json:"allowFailures,omitempty" minimum:"0" doc:"How many documents may fail without holding it"`
	AcceptLoss    bool              `json:"acceptLoss,omitempty" doc:"Accept what loses meaning here"`
	Metadata      wantedMetadata    `json:"metadata,omitempty"`
	Templates     wantedTemplates   `json:"templates,omitempty"`
	Leases        wantedLeases      `json:"leases,omitempty"`
}

// Origin is where the documents come from.
type Origin struct {
	From               string   `json:"from,omitempty" doc:"The repository: a folder of this machine, s3://…, gs://…, az://…, http(s)://…, at or below an --allow-repository of the server; with fromCluster the one that the snapshot is taken into"`
	FromCluster        string   `json:"fromCluster,omitempty" doc:"Take a snapshot of the cluster at this URL first, with the credentials of the server: RESHELVE_SOURCE_…; it must be at or below an --allow-source of the server"`
	SnapshotRepository string   `json:"snapshotRepository,omitempty" doc:"With fromCluster: the name under which that cluster knows the repository; absent: the repository is registered there for as long as the movement lasts"`
	Snapshot           string   `json:"snapshot,omitempty" doc:"Its name or UUID; absent: the newest successful one"`
	Indices            []string `json:"indices,omitempty" doc:"Names, or patterns with *; absent: all"`
}

// wantedMetadata says how indices are made.
type wantedMetadata struct {
	Types          string `json:"types,omitempty" enum:"split,merge,refuse" doc:"What becomes of an index of several mapping types; absent: refuse"`
	DataStreams    string `json:"dataStreams,omitempty" enum:"as-indices,append" doc:"What becomes of data streams; absent: as-indices"`
	Shards         int    `json:"shards,omitempty" minimum:"0" doc:"Of each index that is made; 0: as many as it had"`
	ReduceReplicas bool   `json:"reduceReplicas,omitempty" doc:"No replicas until they are filled"`
	ReduceRefresh  bool   `json:"reduceRefresh,omitempty" doc:"No refreshes until they are filled"`
	NoAliases      bool   `json:"noAliases,omitempty" doc:"Make no aliases"`
	// Set and Mapping are in the place of what the snapshot has.
	Set     []wantedSetting `json:"set,omitempty" doc:"Settings of indices that are created, in the place of the snapshot's; the last one that fits counts"`
	Mapping []wantedMapping `json:"mapping,omitempty" doc:"Mappings of indices that are created, in the place of the snapshot's; the last one that fits counts"`
}

// wantedSetting is one setting.
type wantedSetting struct {
	Index string `json:"index" doc:"A name on the target, or a pattern with *"`
	Name  string `json:"name" doc:"As index.codec; with .* at the end, and the value null, all that begin so"`
	Value any    `json:"value" doc:"A text, a number, true, false, or a list of texts; null removes it"`
}

// wantedMapping is one mapping.
type wantedMapping struct {
	Index   string         `json:"index" doc:"A name on the target, or a pattern with *"`
	Mapping map[string]any `json:"mapping" doc:"As an index is created with: properties and what goes with them"`
}

// overrides are the settings and mappings that are asked for.
func (w *wantedMetadata) overrides(m *control.Metadata) error {
	for _, s := range w.Set {
		m.Set = append(m.Set, control.Setting(s))
	}
	for _, of := range w.Mapping {
		text, err := json.Marshal(of.Mapping)
		if err != nil {
			return fault.Wrap(fault.Usage, err)
		}
		m.Mappings = append(m.Mappings, control.Mapping{Index: of.Index, Mapping: text})
	}
	return nil
}

// wantedTemplates says which templates are made.
type wantedTemplates struct {
	Composable []string `json:"composable,omitempty" doc:"Only those whose names fit these patterns"`
	Components []string `json:"components,omitempty" doc:"Only those whose names fit these patterns"`
	Legacy     []string `json:"legacy,omitempty" doc:"Only those whose names fit these patterns"`
	None       bool     `json:"none,omitempty" doc:"Make none"`
}

// wantedLeases are the leases of its pieces: what is absent is as it is by default.
type wantedLeases struct {
	Initial        string `json:"initial,omitempty" doc:"How long the first lease of a piece lasts; each next one lasts twice as long" example:"10m"`
	Heartbeat      string `json:"heartbeat,omitempty" doc:"How often a worker stores how far it is" example:"5s"`
	MaxAttempts    int    `json:"maxAttempts,omitempty" minimum:"1" doc:"Attempts without progress after which a piece has failed"`
	ClockTolerance string `json:"clockTolerance,omitempty" doc:"How far the clock of a worker may be from the records'" example:"5s"`
}

// policy is what a request says of leases.
func (w *wantedLeases) policy() (p control.Leases, err error) {
	p = control.DefaultLeases
	for _, d := range []struct {
		name, text string
		to         *time.Duration
	}{{"initial", w.Initial, &p.InitialLease}, {"heartbeat", w.Heartbeat, &p.Heartbeat}, {"clockTolerance", w.ClockTolerance, &p.ClockTolerance}} {
		if d.text == "" {
			continue
		}
		if *d.to, err = time.ParseDuration(d.text); err != nil {
			err = fault.New(fault.Usage, "leases.%s: %q is no duration", d.name, d.text)
			return p, fault.WithNext(err, "write 10m, or 30s")
		}
	}
	if w.MaxAttempts > 0 {
		p.MaxAttempts = w.MaxAttempts
	}
	return p, fault.WithNext(fault.At(p.Check(), "leases"), "leave these flags out: %s, %s and %s suit most targets",
		control.DefaultLeases.InitialLease, control.DefaultLeases.Heartbeat, control.DefaultLeases.ClockTolerance)
}

// caller is who gives orders here, for the history: nobody has said who it is.
const caller = "http"

// request is the same as a request to package control.
func (w *createMovementRequest) request() (req control.MigrateRequest, err error) {
	b := &w.Body
	switch {
	case !reflect.DeepEqual(b.Shape, control.Shape{}):
		return req, fault.WithNext(fault.New(fault.Usage, "the order is a migration, and names what belongs to a split or a merge"), "see GET "+openAPIPath+".json")
	case b.From == "":
		return req, fault.WithNext(fault.New(fault.Usage, "from is not named: the repository"), "name it; see GET "+openAPIPath+".json")
	}
	req = control.MigrateRequest{
		Selection:   control.Selection{Repository: b.From, Snapshot: b.Snapshot, Indices: b.Indices, AllowPartial: b.AllowPartial},
		FromCluster: b.FromCluster, SnapshotRepository: b.SnapshotRepository, Transform: b.Transform, Delta: b.Delta, Since: b.Since,
		IntoExisting: b.IntoExisting, NoVersions: b.NoVersions, AllowFailures: b.AllowFailures, Yes: b.AcceptLoss,
		KeepWayBack: b.KeepWayBack, Templates: control.TemplateRequest(b.Templates), By: cmp.Or(b.AskedBy, caller), Why: b.Why,
		Metadata: control.Metadata{Shards: b.Metadata.Shards, ReduceReplicas: b.Metadata.ReduceReplicas, ReduceRefresh: b.Metadata.ReduceRefresh, NoAliases: b.Metadata.NoAliases},
	}
	if b.FromCluster != "" && b.Snapshot != "" {
		err := fault.New(fault.Usage, "a snapshot is named, and one is to be taken")
		return req, fault.WithNext(err, "leave snapshot or fromCluster away")
	}
	switch b.Metadata.Types {
	case "split":
		req.Metadata.Types = "split"
	case "merge":
		req.Metadata.Types = "merge"
	}
	if b.Metadata.DataStreams == "append" {
		req.Metadata.Streams = "append"
	}
	for from, to := range b.Rename {
		req.Rename = append(req.Rename, from+"="+to)
	}
	if err := b.Metadata.overrides(&req.Metadata); err != nil {
		return req, err
	}
	if req.Policy, err = b.Leases.policy(); err != nil {
		return req, err
	}
	req.Limits, err = control.LimitsOf(b.Limits.DocumentsPerSecond, b.Limits.BytesPerSecond, b.Limits.Hours)
	return req, err
}

func (s steering) begin(ctx context.Context, in *createMovementRequest) (*begun, error) {
	m, err := s.beginKind(ctx, in)
	if err != nil && in.Body.Kind == string(movement.Migrate) {
		return nil, byFields(err)
	}
	if err != nil {
		return nil, problemOf(err)
	}
	return &begun{movementsPath + "/" + m.ID, m}, nil
}

func (s steering) beginKind(ctx context.Context, in *createMovementRequest) (*control.Movement, error) {
	if in.Body.Kind != string(movement.Migrate) {
		req, err := in.reshape()
		if err != nil {
			return nil, err
		}
		return s.service.BeginReshape(ctx, req)
	}
	req, err := in.request()
	if err != nil {
		return nil, err
	}
	return s.service.Begin(ctx, req)
}

type previewed struct{ Body *control.ReshapePlan }

func (s steering) preview(ctx context.Context, in *createMovementRequest) (*previewed, error) {
	req, err := in.reshape()
	if err != nil {
		return nil, problemOf(err)
	}
	plan, err := s.service.PlanReshape(ctx, req)
	if err != nil {
		return nil, problemOf(err)
	}
	return &previewed{plan}, nil
}

// reshape is the same of a split or a merge.
func (w *createMovementRequest) reshape() (req control.ReshapeRequest, err error) {
	b := &w.Body
	switch {
	case b.Kind == string(movement.Migrate):
		err = fault.WithNext(fault.New(fault.Refused, "the plan of a migration is not told before it starts"), "reshelve migrate --dry-run tells it")
	case !reflect.DeepEqual(b.Migration, Migration{}):
		err = fault.WithNext(fault.New(fault.Usage, "the order is a %s, and names what belongs to a migration", b.Kind), "see GET "+openAPIPath+".json")
	case b.Limits.DocumentsPerSecond != nil || b.Limits.Hours != nil:
		err = fault.WithNext(fault.New(fault.Usage, "a %s has no limit of documents, and no hours", b.Kind), "limit bytesPerSecond")
	}
	req = control.ReshapeRequest{Kind: movement.Kind(b.Kind), Shape: b.Shape, KeepWayBack: b.KeepWayBack, Why: b.Why, AskedBy: cmp.Or(b.AskedBy, caller)}
	if b.Limits.BytesPerSecond != nil {
		req.Limits = control.AtMost(*b.Limits.BytesPerSecond)
	}
	return req, err
}

type placementAnswer struct{ Body *control.PlacementStatus }

func (s steering) placement(ctx context.Context, in *struct {
	Index string `path:"index" doc:"Its name"`
}) (*placementAnswer, error) {
	told, err := s.service.Placement(ctx, in.Index)
	if err != nil {
		return nil, problemOf(err)
	}
	return &placementAnswer{told}, nil
}
