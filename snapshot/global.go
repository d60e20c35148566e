package snapshot

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/reshelve/reshelve/internal/fault"
)

// Global is the cluster state that a snapshot may include, each part the JSON
// object that the repository holds, nil when absent. Mappings and aliases that
// are stored compressed are given as the objects that they are.
type Global struct {
	Templates           json.RawMessage // legacy index templates by name
	ComposableTemplates json.RawMessage // from 7.8 on, by name
	ComponentTemplates  json.RawMessage // from 7.8 on, by name
	DataStreams         json.RawMessage // from 7.9 on, by name
	DataStreamAliases   json.RawMessage // from Elasticsearch 7.14 on, by name
	Settings            json.RawMessage // persistent cluster settings, flat or nested
	Ingest              json.RawMessage // ingest pipelines, as stored: {"pipeline":[…]}
}

// globalFile is the metadata of the cluster. Its custom parts come in objects of
// their own names, as component templates in {"component_template": {…}}.
type globalFile struct {
	Settings   json.RawMessage            `json:"settings"`
	Templates  json.RawMessage            `json:"templates"`
	Composable map[string]json.RawMessage `json:"index_template"`
	Components map[string]json.RawMessage `json:"component_template"`
	Streams    map[string]json.RawMessage `json:"data_stream"`
	Ingest     json.RawMessage            `json:"ingest"`
}

// Global reads the cluster state that the snapshot includes. A snapshot that
// was made without it (GlobalState false) still has its data streams.
func (s *Snapshot) Global(ctx context.Context) (*Global, error) {
	key := s.layout.globalKey()
	var file struct {
		Meta *globalFile `json:"meta-data"`
	}
	e, err := s.repo.readPacked(ctx, key, s.layout.codec(codecGlobal), &file)
	if fault.Is(err, fault.NotFound) && !s.GlobalState {
		return &Global{}, nil
	}
	if err != nil {
		return nil, s.orDeleted(ctx, dangling(err, "snapshot %q includes the global state, but %s is missing", s.Name, key))
	}
	if file.Meta == nil {
		return nil, fault.At(fault.New(fault.Corrupt, `has no key "meta-data"`), key)
	}
	g := &Global{
		ComposableTemplates: file.Meta.Composable["index_template"],
		ComponentTemplates:  file.Meta.Components["component_template"],
		DataStreams:         file.Meta.Streams["data_stream"],
		DataStreamAliases:   file.Meta.Streams["data_stream_aliases"],
		Settings:            file.Meta.Settings,
		Ingest:              file.Meta.Ingest,
	}
	g.Templates, err = e.templates(file.Meta.Templates, s.version.typed())
	for _, part := range []*json.RawMessage{&g.ComposableTemplates, &g.ComponentTemplates} {
		if err == nil {
			*part, err = e.newTemplates(*part)
		}
	}
	return g, fault.At(err, key)
}

// templates makes objects of the mappings and aliases of legacy templates.
// Typed tells whether mappings have types.
func (e *expander) templates(data json.RawMessage, typed bool) (json.RawMessage, error) {
	templates, err := namedObjects(data)
	if templates == nil || err != nil {
		return nil, err
	}
	for name, template := range templates {
		mappings, err := e.mappings(template["mappings"])
		template["mappings"] = mappings[onlyType]
		if err == nil && (typed || len(mappings) != 1 || mappings[onlyType] == nil) {
			template["mappings"], err = json.Marshal(mappings)
		}
		if err == nil {
			template["aliases"], err = e.aliases(template["aliases"])
		}
		if err != nil {
			return nil, fault.At(err, "template "+name)
		}
	}
	return json.Marshal(templates)
}

// newTemplates makes objects of the mappings of composable and component
// templates.
func (e *expander) newTemplates(data json.RawMessage) (json.RawMessage, error) {
	templates, err := namedObjects(data)
	if templates == nil || err != nil {
		return nil, err
	}
	for name, template := range templates {
		if len(template["template"]) == 0 {
			continue
		}
		var inner map[string]json.RawMessage
		err := decodeJSON(template["template"], &inner)
		if mappings, ok := inner["mappings"]; ok && err == nil {
			inner["mappings"], err = e.compressed(mappings)
		}
		if err == nil && inner != nil {
			template["template"], err = json.Marshal(inner)
		}
		if err != nil {
			return nil, fault.At(err, "template "+name)
		}
	}
	return json.Marshal(templates)
}

// namedObjects decodes objects by name; nil for nothing.
func namedObjects(data json.RawMessage) (map[string]map[string]json.RawMessage, error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || string(data) == "null" {
		return nil, nil
	}
	objects := map[string]map[string]json.RawMessage{}
	if err := decodeJSON(data, &objects); err != nil {
		return nil, err
	}
	return objects, nil
}
