package cluster

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Keys are fixed keys of AWS; token is "" but for temporary ones.
func Keys(id, secret, token string) aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: id, SecretAccessKey: secret, SessionToken: token, Source: "given"}, nil
	})
}

// AmbientKeys are those of the place where we run, as package blob/s3 finds them:
// the environment, the files of the AWS tools (a profile, or "" for the default),
// the role of the machine, the container or the service account. They are renewed
// before they expire.
func AmbientKeys(profile string) aws.CredentialsProvider {
	sources := []credentials.Provider{&credentials.FileAWSCredentials{Profile: profile}}
	if profile == "" {
		dialer := &net.Dialer{Timeout: time.Second} // outside of a cloud nobody answers
		role := &credentials.IAM{Client: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext}}}
		sources = []credentials.Provider{&credentials.EnvAWS{}, sources[0], role}
	}
	chain := credentials.NewChainCredentials(sources)
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		v, err := chain.GetWithContext(nil)
		return aws.Credentials{AccessKeyID: v.AccessKeyID, SecretAccessKey: v.SecretAccessKey, SessionToken: v.SessionToken, Source: "ambient"}, err
	})
}
