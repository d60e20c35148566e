package e2e

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
)

const azureAccount = "reshelve"

var azureKey = base64.StdEncoding.EncodeToString([]byte(secret + "-azure"))

func TestAzure(t *testing.T) {
	forget(t)
	all, suite := objects(t, anyKey)
	endpoint := startAzurite(t, azureAccount, azureKey)
	client := fillAzure(t, endpoint, map[string]map[string][]byte{"bucket": all, "public": {"p/blob": []byte("for all")}})

	parameters := "?endpoint=" + endpoint
	t.Run("public container", func(t *testing.T) {
		reads(t, open(t, "az://public/p"+parameters+"&anonymous=true"), "blob", "for all")
		refused(t, "az://bucket/"+parameters+"&anonymous=true", fault.Unauthorised, "credentials")
	})
	t.Run("default chain", func(t *testing.T) {
		refused(t, "az://bucket/"+parameters, fault.Unauthorised, "az login")
	})
	t.Run("connection string", func(t *testing.T) {
		t.Setenv("AZURE_STORAGE_CONNECTION_STRING",
			"DefaultEndpointsProtocol=http;AccountName="+azureAccount+";AccountKey="+azureKey+";BlobEndpoint="+endpoint+";")
		readsOutside(t, "az://bucket")
	})
	t.Run("shared access signature", func(t *testing.T) {
		permissions := sas.ContainerPermissions{Read: true, List: true}
		signed, err := client.ServiceClient().NewContainerClient("bucket").GetSASURL(permissions, time.Now().Add(time.Hour), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, token, _ := strings.Cut(signed, "?")
		t.Setenv("AZURE_STORAGE_SAS_TOKEN", "?"+token)
		readsOutside(t, "az://bucket"+parameters)
		t.Setenv("AZURE_STORAGE_SAS_TOKEN", token+"x"+secret)
		refused(t, "az://bucket"+parameters, fault.Unauthorised, "credentials")
	})
	t.Setenv("AZURE_STORAGE_ACCOUNT", azureAccount)
	t.Run("wrong key", func(t *testing.T) {
		t.Setenv("AZURE_STORAGE_KEY", base64.StdEncoding.EncodeToString([]byte("wrong")))
		refused(t, "az://bucket"+parameters, fault.Unauthorised, "credentials")
		t.Setenv("AZURE_STORAGE_KEY", secret+" is no base64")
		_, err := blob.Open(t.Context(), "az://bucket"+parameters, openers)
		if !fault.Is(err, fault.Usage) || strings.Contains(err.Error(), secret) {
			t.Errorf("malformed key: %v", err)
		}
	})
	t.Setenv("AZURE_STORAGE_KEY", azureKey)
	conformance(t, "az://bucket/"+located+parameters, "az://nosuchbucket/"+parameters, suite)
	readRepositories(t, "az://bucket/repositories/%s"+parameters)
}

// fillAzure makes the containers; the one named public can be read by everyone.
func fillAzure(t *testing.T, endpoint string, containers map[string]map[string][]byte) *azblob.Client {
	t.Helper()
	credential, err := azblob.NewSharedKeyCredential(azureAccount, azureKey)
	if err != nil {
		t.Fatal(err)
	}
	client, err := azblob.NewClientWithSharedKeyCredential(endpoint, credential, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for name, contents := range containers {
		var options azblob.CreateContainerOptions
		if name == "public" {
			access := container.PublicAccessTypeBlob
			options.Access = &access
		}
		if _, err := client.CreateContainer(ctx, name, &options); err != nil {
			t.Fatal(err)
		}
		inParallel(t, contents, func(key string, data []byte) error {
			_, err := client.UploadBuffer(ctx, name, key, data, nil)
			return err
		})
	}
	return client
}
