package gateway

import (
	"regexp"
)

// fieldsOf are the fields of a migration's order by the flags that stand for them at the terminal: errors of a plan name
// flags, since most plans are made there.
var fieldsOf = map[string]string{
	"--from": "from", "--from-cluster": "fromCluster", "--snapshot-to": "from", "--snapshot-repository": "snapshotRepository", "--snapshot": "snapshot", "--index": "indices",
	"--rename": "rename", "--transform": "transform", "--into-existing": "intoExisting", "--no-versions": "noVersions", "--delta": "delta", "--since": "since",
	"--allow-partial": "allowPartial", "--allow-failures": "allowFailures", "--yes": "acceptLoss", "--keep-way-back": "keepWayBack",
	"--types": "metadata.types", "--data-streams": "metadata.dataStreams", "--shards": "metadata.shards", "--reduce-replicas": "metadata.reduceReplicas",
	"--set": "metadata.set", "--mapping": "metadata.mapping", "--reduce-refresh": "metadata.reduceRefresh", "--no-aliases": "metadata.noAliases",
	"--templates": "templates.composable", "--component-templates": "templates.components", "--legacy-templates": "templates.legacy", "--no-templates": "templates.none",
	"--initial-lease": "leases.initial", "--heartbeat": "leases.heartbeat", "--max-attempts": "leases.maxAttempts", "--clock-tolerance": "leases.clockTolerance",
	"--docs-per-second": "limits.documentsPerSecond", "--bytes-per-second": "limits.bytesPerSecond", "--hours": "limits.hours",
}

var (
	// flagged is a command of the terminal, to its end as far as that can be told, which stays; or a flag.
	flagged = regexp.MustCompile("reshelve [^;,]*|--[a-z][a-z-]*")
	renames = regexp.MustCompile("--rename ([^ ;,=]+)=([^ ;,]+)")
)

// byFields is an error of a migration's order that names the order's fields.
func byFields(err error) *problem {
	p := problemOf(err)
	p.Detail, p.Next = inFields(p.Detail), inFields(p.Next)
	place := p.Place
	p.Place = nil
	for _, part := range place {
		p.Place = append(p.Place, inFields(part))
	}
	return p
}

// inFields is a text in which fields stand for flags.
func inFields(text string) string {
	text = renames.ReplaceAllString(text, `rename {"$1":"$2"}`)
	return flagged.ReplaceAllStringFunc(text, func(found string) string {
		if field, known := fieldsOf[found]; known {
			return field
		}
		return found
	})
}
