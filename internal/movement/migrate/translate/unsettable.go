package translate

import "strings"

// unsettable are settings with which an index cannot be made that is to be filled with documents of a
// snapshot, and why. The rules that always apply leave them out; other settings that they leave out
// belong to the machines of the source, and can be set for the target.
var unsettable = []struct {
	names []string
	why   string
}{
	{[]string{"index.blocks."}, "documents could not be written; set it when they are there"},
	{[]string{"index.default_pipeline", "index.final_pipeline"}, "the documents have been through their pipelines, and would go through this one; set it when they are there"},
	{[]string{"index.append_only."}, "what is sent again would be refused; set it when the documents are there"},
	{[]string{"index.composite_index", "index.composite_index."}, "such an index takes no document twice"},
	{[]string{"index.time_series.", "index.routing_path"}, "time series give documents ids of their own"},
	{[]string{"index.translog.retention."}, "targets refuse it"},
}

// Unsettable is why an index that takes documents of a snapshot cannot be made with a setting; "": it
// can, unless the target refuses it.
func Unsettable(name, value string) string {
	switch {
	case startsWith(name, private) && !strings.HasPrefix(name, "index.lifecycle."):
		return "servers set it themselves, and refuse it in requests"
	case name == "index.soft_deletes.enabled" && value == "false":
		return "targets refuse it"
	case name == "index.mode" && value == "time_series":
		return "time series give documents ids of their own"
	}
	for _, u := range unsettable {
		if startsWith(name, u.names) {
			return u.why
		}
	}
	return ""
}
