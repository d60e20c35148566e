package e2e

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"

	"github.com/reshelve/reshelve/internal/fault"
)

const (
	s3Key    = "reshelve"
	s3Secret = secret + "-s3"
	s3Region = "eu-central-1"
)

func TestS3(t *testing.T) {
	forget(t)
	all, suite := objects(t, inFiles)
	endpoint := startVersityGW(t)
	fillS3(t, endpoint, map[string]map[string][]byte{"bucket": all, "public": {"p/blob": []byte("for all")}})

	parameters := "?endpoint=http://" + endpoint + "&path-style=true"
	t.Run("without credentials", func(t *testing.T) {
		refused(t, "s3://bucket/"+parameters, fault.Unauthorised, "anonymous=true")
		refused(t, "s3://bucket/"+parameters+"&anonymous=true", fault.Unauthorised, "credentials")
	})
	t.Run("credentials file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "credentials")
		text := "[old]\naws_access_key_id=" + s3Key + "\naws_secret_access_key=" + s3Secret + "\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
		readsOutside(t, "s3://bucket/"+parameters+"&profile=old&region="+s3Region)
		t.Setenv("AWS_PROFILE", "old")
		readsOutside(t, "s3://bucket/"+parameters)
	})
	t.Setenv("AWS_ACCESS_KEY_ID", s3Key)
	t.Run("wrong secret", func(t *testing.T) {
		t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
		refused(t, "s3://bucket/"+parameters, fault.Unauthorised, "credentials")
	})
	t.Setenv("AWS_SECRET_ACCESS_KEY", s3Secret)
	t.Run("wrong region", func(t *testing.T) {
		refused(t, "s3://bucket/"+parameters+"&region=us-west-2", fault.Refused, "region="+s3Region)
	})
	t.Run("endpoint from the environment", func(t *testing.T) {
		t.Setenv("AWS_ENDPOINT_URL", "http://"+endpoint)
		t.Setenv("AWS_REGION", s3Region)
		readsOutside(t, "s3://bucket")
	})
	t.Run("public bucket", func(t *testing.T) {
		anonymous := open(t, "s3://public/p"+parameters+"&anonymous=true&requester-pays=true")
		reads(t, anonymous, "blob", "for all")
	})
	conformance(t, "s3://bucket/"+located+parameters, "s3://nosuchbucket/"+parameters, suite)
	readRepositories(t, "s3://bucket/repositories/%s"+parameters)
}

// startVersityGW runs the gateway over a folder and returns its address.
func startVersityGW(t *testing.T) string {
	t.Helper()
	root, attributes := t.TempDir(), t.TempDir()
	metadata, err := meta.NewSideCar(attributes)
	if err != nil {
		t.Fatal(err)
	}
	backend, err := posix.New(root, metadata, posix.PosixOpts{SideCarDir: attributes, Concurrency: 64, ValidateBucketNames: true})
	if err != nil {
		t.Fatal(err)
	}
	address := "127.0.0.1:" + freePort(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- embedgw.RunVersityGW(ctx, backend, &embedgw.Config{
			RootUserAccess: s3Key, RootUserSecret: s3Secret, Region: s3Region, Ports: []string{address},
			MaxConnections: 1024, MaxRequests: 1024, MultipartMaxParts: 10000, Quiet: true, KeepAlive: true,
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("versitygw: %v", err)
		}
	})
	waitFor(t, address, ended)
	return address
}

// fillS3 makes the buckets; the one named public can be read by everyone.
func fillS3(t *testing.T, endpoint string, buckets map[string]map[string][]byte) {
	t.Helper()
	client, err := minio.New(endpoint, &minio.Options{
		Creds: credentials.NewStaticV4(s3Key, s3Secret, ""), Region: s3Region, BucketLookup: minio.BucketLookupPath,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for bucket, contents := range buckets {
		if err := client.MakeBucket(ctx, bucket, minio.MakeBucketOptions{Region: s3Region}); err != nil {
			t.Fatal(err)
		}
		inParallel(t, contents, func(key string, data []byte) error {
			_, err := client.PutObject(ctx, bucket, key, bytes.NewReader(data), int64(len(data)), minio.PutObjectOptions{})
			return err
		})
	}
	const readable = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::public/*"}]}`
	if err := client.SetBucketPolicy(ctx, "public", readable); err != nil {
		t.Fatal(err)
	}
}
