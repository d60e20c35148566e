package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/reshelve/reshelve/fault"
)

// AWS signs requests for Amazon OpenSearch Service.
type AWS struct {
	Region  string
	Service string                  // "es" for domains, the default; "aoss" for serverless collections
	Keys    aws.CredentialsProvider // asked before each request: it caches and renews
}

// Keys are fixed keys of AWS; token is "" but for temporary ones.
func Keys(id, secret, token string) aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: id, SecretAccessKey: secret, SessionToken: token, Source: "given"}, nil
	})
}

// authorise adds the credentials to a request with the given body.
func (c *Client) authorise(request *http.Request, body []byte) error {
	who := c.credentials
	switch {
	case who.AWS != nil:
		return who.AWS.sign(request, body)
	case who.User != "" || who.Password != "":
		request.SetBasicAuth(who.User, who.Password)
	case who.APIKey != "":
		request.Header.Set("Authorization", "ApiKey "+who.APIKey)
	case who.Bearer != "":
		request.Header.Set("Authorization", "Bearer "+who.Bearer)
	}
	return nil
}

func (a *AWS) sign(request *http.Request, body []byte) error {
	keys, err := a.Keys.Retrieve(request.Context())
	if err != nil {
		err = fault.New(fault.Unauthorised, "no AWS keys: %w", err)
		return fault.WithNext(err, "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or run where a role is given")
	}
	service := a.Service
	if service == "" {
		service = "es"
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	request.Header.Set("X-Amz-Content-Sha256", hash) // serverless collections ask for it, domains take it
	return v4.NewSigner().SignHTTP(request.Context(), keys, request, hash, service, a.Region, time.Now())
}
