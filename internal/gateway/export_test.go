package gateway

import "strings"

// Requests are all that the API of documents knows: methods and patterns.
func Requests() (all [][2]string) {
	for _, r := range allRoutes() {
		for method := range strings.FieldsSeq(r.methods) {
			all = append(all, [2]string{method, r.pattern})
		}
	}
	return all
}
