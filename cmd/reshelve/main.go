// Command reshelve changes the shape of a live document index; see package cli
// for its verbs. This file wires the stores that it can read from.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/reshelve/reshelve/blob"
	"github.com/reshelve/reshelve/blob/azure"
	"github.com/reshelve/reshelve/blob/folder"
	"github.com/reshelve/reshelve/blob/gcs"
	"github.com/reshelve/reshelve/blob/s3"
	"github.com/reshelve/reshelve/blob/web"
	"github.com/reshelve/reshelve/cli"
	"github.com/reshelve/reshelve/control"
)

var openers = map[string]blob.Opener{
	"file": folder.Open, "s3": s3.Open, "gs": gcs.Open, "az": azure.Open, "http": web.Open, "https": web.Open,
}

func main() {
	signal.Ignore(syscall.SIGPIPE) // a write then fails, and its caller can say where it stopped
	stops := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		stops = append(stops, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), stops...)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(cli.Run(ctx, control.New(openers), os.Args[1:], os.Stdout, os.Stderr))
}
