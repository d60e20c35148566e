// Package e2e holds tests of the adapters against real emulators of their
// stores: versitygw for S3, fake-gcs-server for Google Cloud Storage, both in
// this process, and Azurite, which npm installs into the user's cache folder
// when it is first needed.
//
// It is a module of its own: the emulators need a few hundred modules, none of
// which may enter the program's go.mod. Run all with
//
//	cd e2e && go test ./...
//
// Invariant: an emulator that does not start fails the test; none is skipped.
package e2e
