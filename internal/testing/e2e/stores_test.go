package e2e

import (
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/azure"
	"github.com/reshelve/reshelve/snapshot/blob/blobtest"
	"github.com/reshelve/reshelve/snapshot/blob/folder"
	"github.com/reshelve/reshelve/snapshot/blob/gcs"
	"github.com/reshelve/reshelve/snapshot/blob/s3"
	"github.com/reshelve/reshelve/snapshot/blob/web"
)

var openers = map[string]blob.Opener{
	"file": folder.Open, "s3": s3.Open, "gs": gcs.Open, "az": azure.Open, "http": web.Open, "https": web.Open,
}

// suitePrefix stands before the conformance suite's blobs.
const suitePrefix = "con formance/%41+ü"

// repositories is absolute: versitygw changes the process's working folder.
var repositories, _ = filepath.Abs("../../../testdata/repositories")

// located is suitePrefix as it is written in a location.
const located = "con%20formance/%2541+%C3%BC"

// objects are all that a store holds in these tests: the suite's blobs, some
// beside them that must not be seen, and the real repositories.
func objects(t *testing.T, accept func(key string) bool) (all, suite map[string][]byte) {
	t.Helper()
	suite = blobtest.Contents()
	maps.DeleteFunc(suite, func(key string, _ []byte) bool { return !accept(key) })
	all = map[string][]byte{"blob": []byte("outside"), suitePrefix + "x": []byte("outside"), suitePrefix + ".d/blob": []byte("outside")}
	for key, data := range suite {
		all[suitePrefix+"/"+key] = data
	}
	for _, name := range chosen {
		files := os.DirFS(filepath.Join(repositories, name, "repo"))
		err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			data, err := fs.ReadFile(files, path)
			all["repositories/"+name+"/repo/"+path] = data
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all, suite
}

func anyKey(string) bool { return true }

// inFiles tells the keys that a store made of files can hold, where a name
// cannot be a file and a folder at once.
func inFiles(key string) bool { return !strings.HasSuffix(key, "/below") }

func open(t *testing.T, location string) blob.Bucket {
	t.Helper()
	bucket, err := blob.Open(t.Context(), location, openers)
	if err != nil {
		t.Fatal(err)
	}
	return bucket
}

// conformance runs the suite on the bare adapter and on the whole stack.
func conformance(t *testing.T, location, noSuch string, suite map[string][]byte) {
	bare := open(t, location)
	stack, meter := blob.Stack(bare, blob.StackPolicy{KeepSpans: true})
	t.Run("contract", func(t *testing.T) {
		blobtest.Run(t, blobtest.Case{Bucket: bare, Contents: suite, NoSuch: open(t, noSuch)})
	})
	t.Run("contract of the stack", func(t *testing.T) {
		blobtest.Run(t, blobtest.Case{Bucket: stack, Contents: suite, NoSuch: open(t, noSuch)})
		if meter.Usage().Requests == 0 {
			t.Error("the meter saw nothing")
		}
	})
}

// refused expects a kind from the first read.
func refused(t *testing.T, location string, want fault.Kind, hint string) {
	t.Helper()
	_, err := blobtest.Read(t.Context(), open(t, location), "blob", 0, 10)
	if !fault.Is(err, want) || !strings.Contains(err.Error()+fault.Next(err), hint) {
		t.Errorf("%s: %v %v (%s); want %v with %q", location, fault.KindOf(err), err, fault.Next(err), want, hint)
	}
	if strings.Contains(err.Error()+fault.Next(err), secret) {
		t.Errorf("%s: the error holds a secret: %v", location, err)
	}
}

// secret is part of every credential of these tests.
const secret = "hunter2hunter2"

// forget takes the machine's own credentials out of a test.
func forget(t *testing.T) {
	t.Helper()
	for _, name := range []string{
		"AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
		"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_WEB_IDENTITY_TOKEN_FILE",
		"STORAGE_EMULATOR_HOST", "GOOGLE_APPLICATION_CREDENTIALS",
		"AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_CONNECTION_STRING",
	} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
}

// freePort is a port that nobody listened on a moment ago.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
}
