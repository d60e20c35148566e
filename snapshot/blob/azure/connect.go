package azure

import (
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
)

// connect chooses who asks: nobody, a connection string, an account key, a
// shared access signature or Azure's default chain, in this order. Texts of
// parsing errors are left out, they would repeat what they could not parse.
func connect(location blob.Location, options *container.ClientOptions) (*container.Client, error) {
	anonymous, err := location.Flag("anonymous")
	if err != nil {
		return nil, err
	}
	connection := os.Getenv("AZURE_STORAGE_CONNECTION_STRING")
	named := location.Options.Has("account") || location.Options.Has("endpoint")
	if connection != "" && !anonymous && !named {
		client, err := container.NewClientFromConnectionString(connection, location.Bucket, options)
		return client, badSecret(err, "AZURE_STORAGE_CONNECTION_STRING")
	}
	account := location.Option("account", os.Getenv, "AZURE_STORAGE_ACCOUNT")
	address, err := address(location, account)
	if err != nil {
		return nil, err
	}
	switch key, signature := os.Getenv("AZURE_STORAGE_KEY"), os.Getenv("AZURE_STORAGE_SAS_TOKEN"); {
	case anonymous:
		client, err := container.NewClientWithNoCredential(address, options)
		return client, badSecret(err, "the endpoint")
	case key != "":
		if account == "" {
			return nil, noAccount()
		}
		credential, err := container.NewSharedKeyCredential(account, key)
		if err != nil {
			return nil, badSecret(err, "AZURE_STORAGE_KEY")
		}
		client, err := container.NewClientWithSharedKeyCredential(address, credential, options)
		return client, badSecret(err, "the endpoint")
	case signature != "":
		client, err := container.NewClientWithNoCredential(address+"?"+strings.TrimPrefix(signature, "?"), options)
		return client, badSecret(err, "AZURE_STORAGE_SAS_TOKEN")
	}
	return withDefaultChain(address, options)
}

func withDefaultChain(address string, options *container.ClientOptions) (*container.Client, error) {
	credential, err := azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{
		ClientOptions: azcore.ClientOptions{Transport: &http.Client{Transport: blob.NewTransport()}},
	})
	if err != nil {
		return nil, fault.New(fault.Unauthorised, "no usable Azure credentials: %w", err)
	}
	client, err := container.NewClient(address, credential, options)
	return client, badSecret(err, "the endpoint")
}

// address is the URL of the container.
func address(location blob.Location, account string) (string, error) {
	endpoint := location.Options.Get("endpoint")
	if endpoint == "" {
		if account == "" {
			return "", noAccount()
		}
		endpoint = "https://" + url.PathEscape(account) + ".blob.core.windows.net"
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return "", fault.WithNext(fault.New(fault.Usage, "malformed Azure endpoint"), "write it as https://HOST or http://HOST:PORT/ACCOUNT")
	}
	return u.JoinPath(location.Bucket).String(), nil
}

func noAccount() error {
	return fault.WithNext(fault.New(fault.Usage, "no storage account is named"), "say account=NAME in the location or set AZURE_STORAGE_ACCOUNT")
}

func badSecret(err error, where string) error {
	if err == nil {
		return nil
	}
	return fault.New(fault.Usage, "%s is malformed", where)
}
