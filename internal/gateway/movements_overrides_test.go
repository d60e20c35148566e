package gateway

import (
	"encoding/json"
	"testing"
)

// TestOverridesAreOrdered: the settings and mappings of an order reach the plan, in their order.
func TestOverridesAreOrdered(t *testing.T) {
	var w createMovementRequest
	const order = `{"kind":"migrate","from":"/x","metadata":{"set":[{"index":"a*","name":"index.codec","value":null},{"index":"ab","name":"number_of_shards","value":3}],
		"mapping":[{"index":"ab","mapping":{"dynamic":false}}]}}`
	if err := json.Unmarshal([]byte(order), &w.Body); err != nil {
		t.Fatal(err)
	}
	req, err := w.request()
	if err != nil {
		t.Fatal(err)
	}
	m, err := req.Metadata.Checked()
	if err != nil || len(m.Set) != 2 || m.Set[0].Value != nil || m.Set[1].Name != "index.number_of_shards" || m.Set[1].Value != "3" || string(m.Mappings[0].Mapping) != `{"dynamic":false}` {
		t.Errorf("%+v %v", m, err)
	}
}
