// Package e2e holds tests against the programs of others. Adapters read from real
// emulators of their stores: versitygw for S3, fake-gcs-server for Google Cloud
// Storage, both in this process, and Azurite. The real binary serves the clients that
// people use: opensearch-py, opensearch-js, and those of Elasticsearch 7.10 in both
// languages. Served with --compat elasticsearch, it lets in those of Elasticsearch 7.17, 8 and 9
// in both languages, and of 8 in Go.
//
// It is a module of its own: the emulators need a few hundred modules, none of
// which may enter the program's go.mod. What npm and pip install goes into the user's
// cache folder when it is first needed, in versions that stand in this folder; it
// takes Node.js, npm, Python 3 and its pip. Run all with
//
//	cd internal/testing/e2e && go test ./...
//
// Invariant: an emulator that does not start or a client that cannot be installed
// fails the test; none is skipped.
package e2e
