package s3

import (
	"net"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/reshelve/reshelve/internal/fault"
)

// identity is who signs the requests: nobody when anonymous, else the first of
// the environment, the files (with a profile only those) and the role that the
// machine, container or pod has.
func identity(anonymous bool, profile, region string) *credentials.Credentials {
	if anonymous {
		return credentials.New(&credentials.Static{Value: credentials.Value{SignerType: credentials.SignatureAnonymous}})
	}
	files := &credentials.FileAWSCredentials{Profile: profile}
	if profile != "" {
		return credentials.New(&chain{providers: []credentials.Provider{files}})
	}
	role := &credentials.IAM{Region: region, Client: metadataClient()}
	return credentials.New(&chain{providers: []credentials.Provider{&credentials.EnvAWS{}, files, role}})
}

// metadataClient asks for a role. Outside of a cloud nobody answers, and the
// user should learn that in a second.
func metadataClient() *http.Client {
	return &http.Client{
		Timeout: 10 * time.Second,
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: time.Second}).DialContext,
			TLSHandshakeTimeout: 5 * time.Second,
		},
	}
}

// chain is the library's Chain, but fails where that would go on unsigned.
type chain struct {
	providers []credentials.Provider
	current   credentials.Provider // the one that had credentials
}

// RetrieveWithCredContext asks the providers in their order.
func (c *chain) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	for _, provider := range c.providers {
		value, err := provider.RetrieveWithCredContext(cc)
		if err == nil && value.AccessKeyID != "" {
			c.current = provider
			return value, nil
		}
	}
	err := fault.New(fault.Unauthorised, "no AWS credentials in the environment, the AWS files or the machine's role")
	return credentials.Value{}, fault.WithNext(err, "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE, or add ?anonymous=true for a public bucket")
}

// Retrieve is RetrieveWithCredContext with the library's defaults.
func (c *chain) Retrieve() (credentials.Value, error) {
	return c.RetrieveWithCredContext(nil)
}

// IsExpired tells whether Retrieve has to be called again.
func (c *chain) IsExpired() bool {
	return c.current == nil || c.current.IsExpired()
}
