package e2e

import (
	"io"
	"strings"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	"github.com/reshelve/reshelve/internal/fault"
)

func TestGCS(t *testing.T) {
	forget(t)
	all, suite := objects(t, anyKey)
	var held []fakestorage.Object
	for key, data := range all {
		held = append(held, fakestorage.Object{
			ObjectAttrs: fakestorage.ObjectAttrs{BucketName: "bucket", Name: key}, Content: data,
		})
	}
	server, err := fakestorage.NewServerWithOptions(fakestorage.Options{
		InitialObjects: held, Scheme: "http", Host: "127.0.0.1", Writer: io.Discard,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)

	parameters := "?endpoint=" + server.URL() + "&anonymous=true"
	t.Run("without credentials", func(t *testing.T) {
		t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nonexistent/"+secret[:5])
		refused(t, "gs://bucket/?endpoint="+server.URL(), fault.Unauthorised, "anonymous=true")
	})
	t.Run("emulator from the environment", func(t *testing.T) {
		t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(server.URL(), "http://"))
		readsOutside(t, "gs://bucket")
		t.Setenv("STORAGE_EMULATOR_HOST", server.URL())
		readsOutside(t, "gs://bucket/?user-project=payer")
	})
	conformance(t, "gs://bucket/"+located+parameters, "gs://nosuchbucket/"+parameters, suite)
	readRepositories(t, "gs://bucket/repositories/%s"+parameters)
}
