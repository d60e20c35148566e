package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// mostTried is how many different bodies of indices the target is asked about.
const mostTried = 200

// lookPlugins checks that the target has what the settings and mappings of created indices need: by its list of
// plugins, and by simulating a template, which makes nothing. The simulation decides about a plugin that no node lists,
// since it may be built in. The list decides where only some nodes have the plugin, or nothing can be simulated.
func lookPlugins(ctx context.Context, l *looking) (string, error) {
	var bodies []translate.Body
	for i := range l.Indices {
		if l.Indices[i].Stream == "" {
			bodies = append(bodies, l.Indices[i].bodies...)
		}
	}
	if len(bodies) == 0 {
		return "nothing is created", nil
	}
	nodes, err := l.side.client.Plugins(ctx)
	known := err == nil && len(nodes) > 0
	if err != nil && !fault.Is(err, fault.Refused) && !fault.Is(err, fault.Unauthorised) && !fault.Is(err, fault.NotFound) {
		return "", err
	}
	server, err := l.side.client.Server(ctx)
	if err != nil {
		return "", err
	}
	tried, refusals := map[string]bool{}, map[string]error{}
	for i := range bodies {
		var parts struct{ Settings, Mappings json.RawMessage }
		if err := json.Unmarshal(bodies[i].JSON, &parts); err != nil {
			return "", fault.Wrap(fault.Bug, err)
		}
		content := string(parts.Settings) + "\x00" + string(parts.Mappings)
		was, seen := tried[content]
		if !seen && len(tried) < mostTried {
			if was, refusals[content], err = trial(l.side.client.Tries(ctx, parts.Settings, parts.Mappings)); err != nil {
				return "", err
			}
			tried[content] = was
		}
		if err := l.lookPlugin(&bodies[i], server.Product, nodes, known, was, refusals[content]); err != nil {
			return "", err
		}
	}
	asked := 0
	for _, was := range tried {
		if was {
			asked++
		}
	}
	switch {
	case asked > 0:
		return fmt.Sprintf("the target was asked about %s, by simulating a template that is not made", have(asked, "kind of index", "kinds of indices")), nil
	case !known:
		return "the target neither lists its plugins nor simulates templates: what it lacks shows when the indices are created", nil
	}
	return "the target lists its plugins and simulates no templates: what it lacks besides shows when the indices are created", nil
}

// trial separates the refusal of a simulated template from the failure of the request.
func trial(tried bool, err error) (bool, error, error) { //nolint:revive // two errors of two kinds
	if tried {
		return true, err, nil
	}
	return false, nil, err
}

// lookPlugin refuses what one body needs and the target lacks.
func (l *looking) lookPlugin(body *translate.Body, product cluster.Product, nodes map[string][]string, known, tried bool, refusal error) error {
	needs, err := translate.Needs(body.JSON)
	if err != nil {
		return err
	}
	refused := false
	for _, need := range needs {
		lacking := slices.DeleteFunc(slices.Sorted(maps.Keys(nodes)), func(node string) bool { return slices.Contains(nodes[node], need.Plugin) })
		every := len(lacking) == len(nodes)
		if !known || len(lacking) == 0 || tried && refusal == nil && every && product != cluster.Reshelve {
			continue // it may be built in, or have another name; but a store of reshelve does not simulate analyzers
		}
		where := "the target lacks it"
		if !every {
			where = "these of its nodes lack it: " + listed(lacking)
		}
		l.refuse(remedyOf(product, body.Name, &need), "index %s: %s is %s, which needs the plugin %s; %s", body.Name, need.Where, need.Value, need.Plugin, where)
		refused = true
	}
	if refusal == nil || refused {
		return nil
	}
	reason := reasonOf(refusal)
	if of := l.settingIn(reason, body.Name); of != nil {
		l.refuseIn("overrides", "write a value that the target takes, or leave it out", "--set %s:%s=%v: index %s cannot be made with it: %s", of.Index, of.Name, of.Value, body.Name, strings.TrimPrefix(reason, string(exception.IllegalArgument)+": "))
	} else {
		l.refuse("override it with --set "+Quoted(body.Name+":SETTING=VALUE")+" or --mapping "+Quoted(body.Name+"=FILE")+", or install on the target what it lacks",
			"index %s cannot be made: %s", body.Name, reason)
	}
	return nil
}

// simulated is what servers say around their reasons, of settings and of mappings: the name that they have given to the template that was simulated.
var simulated = regexp.MustCompile(`index_template \[[^\]]*\] invalid, cause \[(?:Validation Failed: 1: )?(.*?);?\]$|` +
	`^composable template \[[^\]]*\] template after composition is invalid: (?:invalid composite mappings for \[[^\]]*\]: )?(.*)$`)

// nextReason is what is between several of its reasons.
var nextReason = regexp.MustCompile(`;\d+: `)

// reasonOf is why the target would not make an index, without what is about the simulation alone.
func reasonOf(refusal error) string {
	var told *exception.Error
	if !errors.As(refusal, &told) {
		return refusal.Error()
	}
	if inner := simulated.FindStringSubmatch(told.Reason); inner != nil {
		return nextReason.ReplaceAllString(inner[1]+inner[2], "; ")
	}
	return told.Error()
}

// settingIn is the setting of the request for an index that a reason names; nil: none.
func (l *looking) settingIn(reason, index string) *migrate.Setting {
	all := l.Plan.Metadata.Set
	for i := len(all) - 1; i >= 0; i-- { // the last one counts
		if all[i].Value != nil && all[i].Fits(index) && strings.Contains(reason, "["+all[i].Name+"]") {
			return &all[i]
		}
	}
	return nil
}

// remedyOf is what can be done about a plugin that is missing.
func remedyOf(product cluster.Product, index string, need *translate.Need) string {
	instead := "--mapping " + Quoted(index+"=FILE") + " with a mapping that does without it"
	switch {
	case need.Instead != "":
		instead = "--set " + Quoted(index+":"+need.Instead)
	case strings.HasPrefix(need.Where, "settings."):
		instead = "--set " + Quoted(index+":"+strings.TrimPrefix(need.Where, "settings.")+"=OTHER")
	}
	switch product {
	case cluster.OpenSearch:
		return "install it on each node (bin/opensearch-plugin install " + need.Plugin + ") and start the nodes again, or do without: " + instead
	case cluster.Elasticsearch:
		return "install it on each node (bin/elasticsearch-plugin install " + need.Plugin + ") and start the nodes again, or do without: " + instead
	}
	return "do without: " + instead
}
