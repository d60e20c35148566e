package cli

import (
	"fmt"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/spf13/cobra"
)

// topics are pages of help that belong to no verb.
func topics() []*cobra.Command {
	return []*cobra.Command{
		topic("exit-codes", "What the exit codes mean", exitCodes()),
		topic("positions", "What a POSITION is, and how a stopped run goes on", positionsText),
		topic("repositories", "Where a repository can lie, and the options of each store", repositoriesText),
		topic("transform", "How documents are changed on their way", transformations),
	}
}

func topic(name, short, text string) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short, Long: text}
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), text) })
	return cmd
}

// exitCodes is the table of exit codes, made of fault.Kinds.
func exitCodes() string {
	t := newTable(">CODE", "MEANING", "KINDS")
	t.row("0", "done", "")
	for i := 0; i < len(fault.Kinds); {
		first := fault.Kinds[i]
		var names []string
		for ; i < len(fault.Kinds) && fault.Kinds[i].Exit == first.Exit; i++ {
			names = append(names, fault.Kinds[i].Name)
		}
		t.row(fmt.Sprint(first.Exit), first.Says, strings.Join(names, " "))
	}
	var b strings.Builder
	b.WriteString("The exit code follows from the kind of the error, which JSON names.\n\n")
	t.print(&b)
	return strings.TrimSuffix(b.String(), "\n")
}

const positionsText = `A POSITION is index/shard/number: the shard-wide number of a document in commit
order, segment by segment, counted from 0 with deleted and nested documents
included. It is stable: the same snapshot has the same positions for ever.

A run that is interrupted prints the position at which another one goes on:

  $ reshelve snapshot cat /backups/repository > part-1
  ^C
  interrupted; go on with --from books/0/813
  $ reshelve snapshot cat /backups/repository --from books/0/813 > part-2

Into a pipe, that position is what was handed to the pipe; its reader may have
kept less: go back to the last document that it kept.

--from is inclusive. A file's checksum stands at its end and covers all of it; a
run that begins or stops in the middle says which checksum it could not check.
"reshelve snapshot verify" checks all of them.`

const repositoriesText = `REPO is one of:

  DIR, file:///DIR             a folder
  s3://BUCKET/PREFIX           Amazon S3, and stores that speak its protocol
  gs://BUCKET/PREFIX           Google Cloud Storage
  az://CONTAINER/PREFIX        Azure Blob Storage
  http://HOST/PATH, https://…  a web server; it needs no listing

What is not secret stands in the location, as parameters behind a "?"; a space,
%, ? or # in a name is percent-encoded:

  s3    region=NAME endpoint=URL path-style=true|false anonymous requester-pays
        profile=NAME
  gs    endpoint=URL anonymous user-project=NAME
  az    account=NAME endpoint=URL anonymous

  reshelve snapshot ls 's3://backups/search?endpoint=http://127.0.0.1:9000&path-style'

Credentials come from where the vendor's own tools look for them:

  s3    AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (AWS_SESSION_TOKEN), the AWS
        files with AWS_PROFILE, web identity, container and instance roles;
        AWS_REGION or AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL
  gs    application default credentials (GOOGLE_APPLICATION_CREDENTIALS, gcloud's
        file, the metadata server); STORAGE_EMULATOR_HOST
  az    AZURE_STORAGE_CONNECTION_STRING, or AZURE_STORAGE_ACCOUNT with
        AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN or Azure's default chain
  http  RESHELVE_HTTP_AUTHORIZATION, sent as the Authorization header

A parameter wins over the environment.`
