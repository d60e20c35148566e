package control

import "testing"

// TestOrdersCanBePasted: each has the movement and the place, once.
func TestOrdersCanBePasted(t *testing.T) {
	const id = "20261121-221500-abcdef"
	for _, tc := range []struct{ id, place, text, want string }{
		{id, "./data", "reshelve movement set-aside", "reshelve movement set-aside " + id + " --at ./data"},
		{id, "./data", "mend it, then reshelve movement redrive or repair; or reshelve movement finish; or abort",
			"mend it, then reshelve movement redrive " + id + " --at ./data or repair; or reshelve movement finish " + id + " --at ./data; or abort"},
		{id, "./data", "reshelve movement abort " + id + " takes it back", "reshelve movement abort " + id + " --at ./data takes it back"},
		{id, "./data", "reshelve movement abort " + id + " --at ./data", "reshelve movement abort " + id + " --at ./data"},
		{id, "./data", "reshelve movement abort 20261121-221500-others --at x", "reshelve movement abort 20261121-221500-others --at x"},
		{id, "./data", "reshelve movement ls --at ./data", "reshelve movement ls --at ./data"},
		{id, "./data", "reshelve movement --at x; reshelve movement abort --records-lost " + id, "reshelve movement --at x; reshelve movement abort --records-lost " + id},
		{id, "https://user:secret@search:9200", "reshelve movement resume", "reshelve movement resume " + id + " --at https://search:9200"},
		{"odd; name", "my data", "reshelve movement set-aside", "reshelve movement set-aside 'odd; name' --at 'my data'"},
		{"odd; name", "my data", "reshelve movement set-aside 'odd; name' now", "reshelve movement set-aside 'odd; name' --at 'my data' now"},
		{id, "./data", "mend the cause and resume it, or reverse it", "mend the cause and reshelve movement resume " + id + " --at ./data, or reshelve movement reverse " + id + " --at ./data"},
		{id, "./data", "restore the file", "restore the file"},
		{id, "./data", "", ""},
	} {
		got := Orders(tc.text, tc.id, tc.place)
		if got != tc.want || Orders(got, tc.id, tc.place) != got {
			t.Errorf("%s:\n%s\n%s", tc.text, got, Orders(got, tc.id, tc.place))
		}
	}
}
