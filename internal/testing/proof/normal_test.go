package proof

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// forgotten are the members of answers that two servers never have alike.
var forgotten = []string{"took", "index_uuid", "uuid", "creation_date", "creation_date_string", "node", "_shards", "shard"}

// made are the ids, UUIDs, times and places that servers make up.
var made = []struct {
	pattern *regexp.Regexp
	to      string
}{
	{regexp.MustCompile(`"acknowledged":false`), `"acknowledged":true`}, // a busy OpenSearch does not wait for itself
	{regexp.MustCompile(`"shards_acknowledged":false`), `"shards_acknowledged":true`},
	{regexp.MustCompile(`"_id":"[A-Za-z0-9_-]{20}"`), `"_id":"MADE"`},
	{regexp.MustCompile(`with id '[A-Za-z0-9_-]{20}'`), `with id 'MADE'`},
	{regexp.MustCompile(`"\[[A-Za-z0-9_-]{20}\]: `), `"[MADE]: `},
	{regexp.MustCompile(`(^|[^A-Za-z0-9_-])[A-Za-z0-9_-]{22}($|[^A-Za-z0-9_-])`), `${1}UUID$2`},
	{regexp.MustCompile(`"(version|created)":\{"created":"\d+"`), `"version":{"created":"VERSION"`},
	{regexp.MustCompile(`"took":\d+`), `"took":0`},
	{regexp.MustCompile(`/_doc/[A-Za-z0-9_-]{20}($|[^A-Za-z0-9_-])`), `/_doc/MADE$1`},
}

// normal is an answer without what cannot be equal, in one form: the status, the
// content type, the body with sorted keys.
func normal(a Answer, prefix string) string {
	body := a.Body
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) == nil && !decoder.More() {
		forget(value)
		var sorted bytes.Buffer
		encoder := json.NewEncoder(&sorted)
		encoder.SetEscapeHTML(false)
		if encoder.Encode(value) == nil {
			body = bytes.TrimSpace(sorted.Bytes())
		}
	}
	text := strings.ReplaceAll(string(body), prefix, "NAME-")
	location := strings.ReplaceAll(a.Header.Get("Location"), prefix, "NAME-")
	for _, m := range made {
		text, location = m.pattern.ReplaceAllString(text, m.to), m.pattern.ReplaceAllString(location, m.to)
	}
	return fmt.Sprintf("%d %s %s %s", a.Status, a.Header.Get("Content-Type"), location, text)
}

func forget(value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range forgotten {
			delete(v, name)
		}
		for _, member := range v {
			forget(member)
		}
	case []any:
		for _, element := range v {
			forget(element)
		}
	}
}
