package gateway

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func set(names string) map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		m[name] = true
	}
	return m
}

// The orders are those of answers of OpenSearch 2.19.0.
func TestKeysComeInTheOrderOfTheServer(t *testing.T) {
	for _, tc := range []struct {
		keys, want string
		table      int
	}{
		{"creation_date number_of_replicas number_of_shards provided_name refresh_interval replication uuid verified_before_close version blocks hidden",
			"replication verified_before_close refresh_interval hidden number_of_shards blocks provided_name creation_date number_of_replicas uuid version", usualTable},
		{"books books3", "books3 books", usualTable},
		{"r-000001 r-000002 other", "other r-000002 r-000001", usualTable},
		{"t1 t2 t4", "t4 t1 t2", usualTable},
		{"i1 i2 ds ds2", "i1 i2 ds2 ds", copiedTable(4)},
		{"created created_string", "created_string created", usualTable},
		{"", "", usualTable},
	} {
		if got := serverOrder(set(tc.keys), tc.table); !slices.Equal(got, strings.Fields(tc.want)) {
			t.Errorf("got  %s\nwant %s", strings.Join(got, " "), tc.want)
		}
	}
}

func TestTheTableOfACopyHoldsItsKeys(t *testing.T) {
	for size, want := range map[int]int{0: 1, 1: 4, 2: 4, 3: 8, 4: 8, 5: 8, 6: 16, 12: 32} {
		if got := copiedTable(size); got != want {
			t.Errorf("a copy of %d has %d places, want %d", size, got, want)
		}
	}
}

func TestSettingsBecomeATree(t *testing.T) {
	flat := map[string]string{
		"index.number_of_shards": "2", "index.version.created": "1", "index.uuid": "u", "index.sort.field": `["a","b"]`,
		"clash": "x", "clash.inner": "y",
	}
	want := `{"index":{"number_of_shards":"2","sort":{"field":["a","b"]},"uuid":"u","version":{"created":"1"}},"clash":"x","clash.inner":"y"}`
	if got := string(appendJSON(nil, settingsJSON(flat, settingsLook{}))); !sameJSON(t, got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	want = `{"clash":"x","clash.inner":"y","index.number_of_shards":"2","index.sort.field":["a","b"],"index.uuid":"u","index.version.created":"1"}`
	if got := string(appendJSON(nil, settingsJSON(flat, settingsLook{flat: true}))); got != want {
		t.Errorf("flat:\ngot  %s\nwant %s", got, want)
	}
}

func TestNamesAndPatterns(t *testing.T) {
	for _, tc := range []struct {
		list, name string
		want       bool
	}{
		{"", "x", true}, {"x,y", "y", true}, {"*,-x", "x", false}, {"*,-x", "y", true}, {"-x", "x", false}, {"-x", "-x", true},
		{"x*,-x1,x1", "x1", true}, {"_all", "z", true}, {"*,-_all", "z", false}, {"a,-a", "a", true},
	} {
		if got := chosen(splitList(tc.list), tc.name); got != tc.want {
			t.Errorf("%s means %s: %t", tc.list, tc.name, got)
		}
	}
}

// sameJSON compares two JSON texts whatever the order of their members.
func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Errorf("%v: %s", err, a)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Errorf("%v: %s", err, b)
	}
	return reflect.DeepEqual(x, y)
}
