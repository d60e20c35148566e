package control

import (
	"os"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// The clusters whose credentials the environment holds.
const (
	ofTarget = "RESHELVE_TARGET_"
	ofSource = "RESHELVE_SOURCE_" // of which a snapshot is taken
)

// access is how a cluster at a URL is reached: who we say we are, and whom we trust. It comes
// from the environment, so that neither records nor lists of processes hold secrets; for a
// source, SOURCE stands in place of TARGET:
//
//	RESHELVE_TARGET_USER, RESHELVE_TARGET_PASSWORD   basic authentication
//	RESHELVE_TARGET_API_KEY                          an API key, as the cluster gave it out
//	RESHELVE_TARGET_BEARER                           a bearer token
//	RESHELVE_TARGET_AWS_REGION                       requests are signed for Amazon OpenSearch Service there, with
//	                                                 the keys of the environment, of a profile, or of a role
//	RESHELVE_TARGET_AWS_SERVICE                      es, the default, or aoss for serverless collections
//	RESHELVE_TARGET_AWS_PROFILE                      of the files of the AWS tools
//	RESHELVE_TARGET_CA                               a file of certificates that are trusted
//	RESHELVE_TARGET_CERT, RESHELVE_TARGET_KEY        our own certificate
//	RESHELVE_TARGET_INSECURE=true                    any certificate is taken
//
// They are for the clusters that the operator has named, and for no other that a record or an
// order by HTTP names.
func (c *Control) access(prefix, url string) (cluster.Options, error) {
	if err := c.permits.cluster(prefix, url); err != nil {
		return cluster.Options{}, err
	}
	env := func(name string) string { return os.Getenv(prefix + name) }
	o := cluster.Options{
		URL:             url,
		Wary:            c.permits.wary(),
		Credentials:     cluster.Credentials{User: env("USER"), Password: env("PASSWORD"), APIKey: env("API_KEY"), Bearer: env("BEARER")},
		CredentialsFrom: prefix + "USER and " + prefix + "PASSWORD, " + prefix + "API_KEY, " + prefix + "BEARER, or, for Amazon OpenSearch Service, " + prefix + "AWS_REGION",
		TLS:             cluster.TLS{CA: env("CA"), CAFrom: prefix + "CA", Cert: env("CERT"), Key: env("KEY")},
	}
	if region := env("AWS_REGION"); region != "" {
		o.Credentials.AWS = &cluster.AWS{Region: region, Service: env("AWS_SERVICE"), Keys: cluster.AmbientKeys(env("AWS_PROFILE"))}
	} else if env("AWS_SERVICE") != "" || env("AWS_PROFILE") != "" {
		return o, fault.New(fault.Usage, "%sAWS_SERVICE and %sAWS_PROFILE need %sAWS_REGION", prefix, prefix, prefix)
	}
	switch insecure := env("INSECURE"); insecure {
	case "":
	case "true":
		o.TLS.Insecure = true
	default:
		return o, fault.New(fault.Usage, "%sINSECURE is %q; it is true, or not set", prefix, insecure)
	}
	return o, nil
}
