package cluster

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/reshelve/reshelve/internal/fault"
)

// AWS signs requests for Amazon OpenSearch Service.
type AWS struct {
	Region  string
	Service string                  // "es" for domains, the default; "aoss" for serverless collections
	Keys    aws.CredentialsProvider // asked before each request: it caches and renews
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

var errNoKeys = errors.New("no file, variable or role has them")

func (a *AWS) sign(request *http.Request, body []byte) error {
	keys, err := a.Keys.Retrieve(request.Context())
	if err != nil || keys.AccessKeyID == "" {
		err = fault.New(fault.Unauthorised, "no AWS keys were found: %w", cmp.Or(err, errNoKeys))
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
