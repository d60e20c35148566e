package control

import (
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// TestWhatCannotBeReadOfATargetIsWarnedOf: a migration needs no right to read templates and pipelines.
func TestWhatCannotBeReadOfATargetIsWarnedOf(t *testing.T) {
	denied := `403 {"error":{"type":"security_exception","reason":"no permissions"}}`
	l := looks(t, "target templates", 0, map[string]string{"GET /_component_template": denied})
	if len(l.done.Problems) != 0 || len(l.done.Warnings) != 1 || !strings.HasPrefix(l.done.Warnings[0].Message, "it is not known which templates of the target apply") {
		t.Errorf("%+v", l.done)
	}
	for _, pipeline := range []string{"", "p"} {
		l := looks(t, "", 0, map[string]string{"GET /_ingest/pipeline": denied})
		l.Indices[0].Applied = []migrate.Applied{{Index: "books", DefaultPipeline: pipeline}}
		if _, err := lookPipelines(t.Context(), l); err != nil || len(l.done.Problems) != 0 {
			t.Errorf("%v, %+v", err, l.done)
		}
		if warned := len(l.done.Warnings) == 1; warned != (pipeline != "") {
			t.Errorf("%q: %+v", pipeline, l.done.Warnings)
		}
	}
}
