package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Rounds agree when the best and the worst of three differ by so much at most; after so many rounds
// a peer is not waited for.
const (
	agree     = 1.05
	mostWarms = 40
)

// steady reports whether the last three values agree.
func steady(values []float64) bool {
	if len(values) < 3 {
		return false
	}
	last := values[len(values)-3:]
	return slices.Max(last) <= agree*slices.Min(last)
}

// Warm does a round again and again until three after another took the same, which is what round
// returns, within 5 %. A peer of which they never do has no ratios.
func (r *Run) Warm(what string, round func(i int) (float64, error)) error {
	var values []float64
	for i := 0; i < mostWarms && !steady(values); i++ {
		value, err := round(i)
		if err != nil {
			return err
		}
		values = append(values, value)
	}
	if !steady(values) {
		r.Refuse("%s: three rounds never agreed within 5 %%, the last of %d were %.4g", what, mostWarms, values[len(values)-3:])
		return nil
	}
	Progress("%s: warm after %d rounds", what, len(values))
	return nil
}

// WarmUp loads so many documents again and again, each time into an index of its own that is removed,
// until the server needs the same processor time for it; and says with which options the peer runs.
// The time that passes would be that of the disk, whose pauses no warming ends; and in one index that
// grows, rounds differ by the merges that fall into them.
func (r *Run) WarmUp(ctx context.Context, p *Peer, documents int) error {
	if err := r.tellOptions(p); err != nil {
		return err
	}
	return r.Warm(p.Name+", loading", func(int) (float64, error) {
		const warm = "warm"
		before, err := p.CPU()
		if err == nil {
			err = p.Create(warm)
		}
		if err == nil {
			_, err = p.Load(warm, 0, documents, 4)
		}
		if err == nil {
			err = p.Settle(ctx, time.Minute)
		}
		if err != nil {
			return 0, err
		}
		after, err := p.CPU()
		if err != nil {
			return 0, err
		}
		return (after - before).Seconds(), p.Concurrently(1, func(c *Conn) error { return c.Must("DELETE", "/"+warm, "") })
	})
}

// tellOptions asks a server of Java for its options.
func (r *Run) tellOptions(p *Peer) error {
	if p.flags != nil {
		r.Tell("%s: %s", p.Name, strings.Join(append([]string{"serve"}, p.flags...), " "))
		return nil
	}
	return p.Concurrently(1, func(c *Conn) error {
		status, answer, err := c.Do(Request("GET", "/_nodes/_local/jvm", "", nil))
		if err != nil || status != 200 {
			return fmt.Errorf("%s: its options: %d %.300s: %w", p.Name, status, answer, err)
		}
		var told struct {
			Nodes map[string]struct {
				JVM struct {
					Version    string
					Collectors []string `json:"gc_collectors"`
					Arguments  []string `json:"input_arguments"`
				}
			}
		}
		if err := json.Unmarshal(answer, &told); err != nil {
			return err
		}
		for _, node := range told.Nodes {
			var options []string
			for _, argument := range node.JVM.Arguments {
				if strings.HasPrefix(argument, "-X") && !strings.Contains(argument, "/") {
					options = append(options, argument)
				}
			}
			r.Tell("%s on Java %s, its own options but for the heap: %s (%s)", p.Name, node.JVM.Version, strings.Join(options, " "), strings.Join(node.JVM.Collectors, ", "))
		}
		return nil
	})
}
