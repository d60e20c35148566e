package control

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
)

// asked reads a split back from the command that was told: what can be pasted works as it stands.
func asked(t *testing.T, command string) (s Shape) {
	t.Helper()
	words := strings.Fields(command)
	if len(words) < 5 || words[0] != "reshelve" || words[1] != "split" {
		t.Fatalf("%q is no split", command)
	}
	s.Index = words[2]
	for i := 3; i+1 < len(words); i += 2 {
		n, err := strconv.Atoi(words[i+1])
		number := uint32(n)
		switch words[i] {
		case "--shard":
			s.Shard = &number
		case "--into":
			s.Into = n
		case "--cut":
			s.Cut, err = []string{words[i+1]}, nil
		case "--at":
			s.At, err = words[i+1], nil
		default:
			return s
		}
		if err != nil {
			t.Fatalf("%q: %v", command, err)
		}
	}
	return s
}

// TestAnIndexIsCutBeforeItIsLoaded: whatever is asked for of an index with no document, with one, with many of
// one routing value, is planned with a note, or is refused with a command that works.
func TestAnIndexIsCutBeforeItIsLoaded(t *testing.T) {
	k, _ := vetoed(t)
	s := k.side.lane.Store
	put := func(index, id, route string) {
		t.Helper()
		w := document.Write{Operation: document.Index, Target: index, ID: id, Routing: route, Condition: document.Always, Source: []byte(`{}`)}
		if a := s.Write(t.Context(), []document.Write{w}, document.Eventually); a[0].Err != nil {
			t.Fatal(a[0].Err)
		}
	}
	for _, name := range []string{"none", "one", "routed"} {
		if _, err := s.CreateIndex(t.Context(), name, []byte(`{"settings":{"number_of_shards":1}}`)); err != nil {
			t.Fatal(err)
		}
	}
	put("one", "1", "")
	for i := range 20 {
		put("routed", strconv.Itoa(i), "here")
	}
	for _, name := range []string{"none", "one", "routed"} {
		for _, shape := range []Shape{{By: 4}, {Into: 4}, {Cut: []string{"4000000000000000"}}, {HalveLargest: true}} {
			shape.Index, shape.At = name, "./data"
			told := fmt.Sprintf("%+v", shape)
			p, err := k.PlanReshape(t.Context(), ReshapeRequest{Kind: movement.Split, Shape: shape})
			if shape.HalveLargest {
				if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "the largest,") {
					t.Fatalf("%s: %v", told, err)
				}
				if p, err = k.PlanReshape(t.Context(), ReshapeRequest{Kind: movement.Split, Shape: asked(t, fault.Next(err))}); err != nil {
					t.Errorf("%s: what it is told to do: %v", told, err)
				}
				if name == "routed" && err == nil && len(p.Plan.Notes) > 0 {
					t.Errorf("%s does not halve it: %s", told, p.Plan)
				}
				continue
			}
			if err == nil {
				err = p.Outcome()
			}
			if err == nil && len(p.Plan.Notes) != 1 {
				err = errors.New("no note")
			}
			if err != nil {
				t.Errorf("%s: %v", told, err)
			}
		}
	}
}
