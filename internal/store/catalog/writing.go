package catalog

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Writing encodes catalogs that follow each other: of an index that it has encoded before, nothing
// is encoded or checked again. The zero value is ready; it is used by one at a time.
type Writing struct {
	written map[string]writtenEntry
	last    []byte // the newest that was read or written, and what it says
	reads   Catalog
}

type writtenEntry struct {
	entry Entry
	json  []byte // "name":{…}
}

// Decode is the function Decode, which the newest record does not need again.
func (w *Writing) Decode(data []byte) (Catalog, error) {
	if w.last != nil && bytes.Equal(data, w.last) {
		return w.reads, nil
	}
	c, err := Decode(data)
	if err == nil {
		w.last, w.reads = bytes.Clone(data), c
	}
	return c, err
}

// empty stands in the JSON form of a catalog without indices, and nowhere before: what is
// before holds no quote that is not escaped.
const empty = `"indices":{}`

// Encode is the JSON form of a catalog, and what Decode makes of it.
func (w *Writing) Encode(c Catalog) (data []byte, read Catalog, err error) {
	rest := c
	rest.Indices = nil
	frame := rest.filled().Encode()
	at := bytes.Index(frame, []byte(empty)) + len(empty) - 1
	names := slices.Sorted(maps.Keys(c.Indices))
	size, same := len(frame)+len(names), true
	written := make(map[string]writtenEntry, len(names))
	for _, name := range names {
		known, is := w.written[name]
		if !is || known.entry != c.Indices[name] {
			var exact bool
			known, exact = write(name, c.Indices[name])
			same = same && exact
		}
		written[name] = known
		size += len(known.json)
	}
	data = append(make([]byte, 0, size), frame[:at]...)
	for i, name := range names {
		if i > 0 {
			data = append(data, ',')
		}
		data = append(data, written[name].json...)
	}
	data = append(data, frame[at:]...)
	if !same { // it is read as something else
		read, err = Decode(data)
		return data, read, err
	}
	if err = json.Unmarshal(frame, &read); err == nil {
		read = read.filled()
		read.Indices = c.Indices
		err = read.Check()
	}
	if err == nil {
		w.written, w.last, w.reads = written, data, read
	}
	return data, read, err
}

// write encodes one entry; exact is whether it is read as it was.
func write(name string, entry Entry) (written writtenEntry, exact bool) {
	value := map[string]Entry{name: entry}
	data, err := json.Marshal(value)
	var read map[string]Entry
	exact = err == nil && json.Unmarshal(data, &read) == nil && maps.Equal(read, value)
	return writtenEntry{entry, data[1 : len(data)-1]}, exact
}
