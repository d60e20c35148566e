package snapshot

import "testing"

func TestVersionsAsText(t *testing.T) {
	for id, want := range map[versionID]string{
		1070699:   "1.7.6",
		2040699:   "2.4.6",
		5000001:   "5.0.0-alpha1",
		5000026:   "5.0.0-beta1",
		5000051:   "5.0.0-rc1",
		6082399:   "6.8.23",
		7100299:   "7.10.2",
		7172999:   "7.17.29",
		8100299:   "8.10.2",
		8512000:   "8.x (index version 8512000)", // written by 8.15.0
		9039001:   "9.x (index version 9039001)", // written by 9.2.0
		135247827: "1.3.0",
		136407827: "2.19.0",
		137277827: "3.6.0",
		0:         "unknown",
		-5:        "unknown",
	} {
		if got := id.String(); got != want {
			t.Errorf("%d: %s, want %s", id, got, want)
		}
	}
}

func TestVersionsAreComparedByNumber(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"7.12.0", "7.9.0", true}, {"7.9.0", "7.12.0", false}, {"7.12.0", "7.12.0", false},
		{"10.0.0", "9.9.9", true}, {"", "7.12.0", false}, {"8", "7.12.0", true}, {"9999999999999999999999", "1", true},
		{"7.12.0-SNAPSHOT", "7.12.0", false},
	} {
		if got := newerThan(tc.a, tc.b); got != tc.want {
			t.Errorf("newerThan(%q, %q) is %v", tc.a, tc.b, got)
		}
	}
}
