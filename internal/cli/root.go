package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/spf13/cobra"
)

// root is the tree of all commands.
func (p *program) root() *cobra.Command {
	var asksVersion bool
	root := &cobra.Command{
		Use:   "reshelve",
		Short: "Change the shape of a live document index, and prove that nothing was lost",
		Long: `Reshelve changes the shape of a live document index while it keeps answering.
This version reads, moves and serves: it prints, inspects and verifies the documents
of snapshots that Elasticsearch 1 to 9 and OpenSearch 1 to 3 made, moves them into a
cluster or a folder, and is a document store with the OpenSearch API, with no JVM,
whose shards are split and merged while it answers.`,
		Example:       `  reshelve snapshot cat /backups/repository | head -1`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
	}
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if asksVersion {
			return p.version().RunE(cmd, args)
		}
		return p.group(cmd, args)
	}
	root.Flags().BoolVar(&asksVersion, "version", false, "tell which version this is")
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveDefault)
	root.PersistentFlags().StringVar(&p.output, "output", "text", "text for people, or json: one document for programs")
	root.PersistentFlags().BoolVarP(&p.quiet, "quiet", "q", false, "no progress")
	complete(root, "output", "text", "json")
	root.AddCommand(p.snapshot(), p.migrate(), p.compare(), p.split(), p.merge(), p.placement(), p.movement(), p.worker(), p.serve(), p.index(), p.version())
	root.AddCommand(topics()...)
	return root
}

// refuseUnknown makes wrong usage of topics and shells that do not exist, for
// which cobra's own commands print a page of help and succeed. The root must know
// its output, which cobra keeps here.
func (p *program) refuseUnknown(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.RunE = helpOn
		case "completion":
			cmd.RunE = p.group
			cmd.Args = func(_ *cobra.Command, args []string) error {
				if len(args) > 0 {
					return fmt.Errorf("unknown shell %q", args[0])
				}
				return nil
			}
		}
	}
}

// helpOn prints the help of the command or topic that args name.
func helpOn(help *cobra.Command, args []string) error {
	cmd, rest, err := help.Root().Find(args)
	if err != nil || len(rest) > 0 {
		err = fault.New(fault.Usage, "unknown topic %q", strings.Join(args, " "))
		return fault.WithNext(err, "see %s --help, which lists them", help.Root().Name())
	}
	cmd.InitDefaultHelpFlag() // the page shows it
	return cmd.Help()
}

// snapshot is the group of verbs on snapshots.
func (p *program) snapshot() *cobra.Command {
	group := &cobra.Command{
		Use:   "snapshot",
		Short: "Read snapshots of Elasticsearch and OpenSearch",
		Long: `Read snapshots of Elasticsearch and OpenSearch.

REPO is where the repository lies: a folder, file:///DIR, s3://BUCKET/PREFIX,
gs://BUCKET/PREFIX, az://CONTAINER/PREFIX or http(s)://HOST/PATH; see
"reshelve help repositories". SNAPSHOT is a name or a UUID; without it, the
newest successful snapshot is taken. Nothing is written, neither to the
repository nor to this machine's disk.`,
		Example: `  reshelve snapshot ls s3://backups/search?region=eu-central-1`,
		Args:    cobra.NoArgs,
		RunE:    p.group,
	}
	group.AddCommand(p.ls(), p.inspect(), p.cat(), p.verify(), p.estimate())
	return group
}

// group is what a command does that only holds others.
func (p *program) group(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// selectionFlags are the flags that choose indices of a snapshot.
func selectionFlags(cmd *cobra.Command, s *control.Selection) {
	cmd.Flags().StringArrayVar(&s.Indices, "index", nil, "only indices whose name matches this `PATTERN`, in which * matches any characters; may be repeated")
}

func allowPartialFlag(cmd *cobra.Command, s *control.Selection) {
	cmd.Flags().BoolVar(&s.AllowPartial, "allow-partial", false, "take what there is of a snapshot that is not complete, and name what is not")
}

// target takes REPO and SNAPSHOT out of the arguments.
func target(s *control.Selection, args []string) {
	s.Repository = args[0]
	if len(args) > 1 {
		s.Snapshot = args[1]
	}
}

// completeTarget completes REPO as files and SNAPSHOT with the names of the
// repository's snapshots.
func (p *program) completeTarget(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return nil, cobra.ShellCompDirectiveDefault
	case 1:
		list, err := p.control.List(cmd.Context(), control.ListRequest{Repository: args[0]})
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var names []string
		for _, s := range list.Snapshots {
			names = append(names, fmt.Sprintf("%s\t%s, %d indices", s.Name, s.State, len(s.Indices)))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// complete offers values for a flag.
func complete(cmd *cobra.Command, flag string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the flag does not exist: our mistake, seen by every test
	}
}

// targeted makes the command of a verb that takes REPO [SNAPSHOT].
func (p *program) targeted(cmd *cobra.Command, sel *control.Selection, run func(context.Context) error) *cobra.Command {
	cmd.Args = cobra.RangeArgs(1, 2)
	cmd.ValidArgsFunction = p.completeTarget
	cmd.DisableFlagsInUseLine = true
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		target(sel, args)
		return run(ctx)
	})
	return cmd
}
