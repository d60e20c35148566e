package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The sentences of cobra that have no type: a test meets each.
var (
	unknownCommand = regexp.MustCompile(`^unknown command "(.*)" for "`)
	wrongArguments = regexp.MustCompile(`arg\(s\), (?:only )?received (\d+)$`)
	missingFlag    = regexp.MustCompile(`^required flag\(s\) (.*) not set$`)
	noneOfFlags    = regexp.MustCompile(`^at least one of the flags in the group \[(.*)\] is required$`)
	notAllFlags    = regexp.MustCompile(`they must all be set; missing \[(.*)\]$`)
	rivalFlags     = regexp.MustCompile(`none of the others can be; \[(.*)\] were all set$`)
)

// usage is what cobra finds wrong with a command line, in words of ours, with what to write.
func usage(cmd *cobra.Command, err error) error {
	if fault.Next(err) != "" {
		return fault.Wrap(fault.Usage, err)
	}
	text := err.Error()
	next := "see " + cmd.CommandPath() + " --help"
	var unknown *pflag.NotExistError
	var valueless *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	match := func(sentence *regexp.Regexp) (named string) {
		if found := sentence.FindStringSubmatch(text); found != nil {
			named = found[1]
		}
		return named
	}
	switch {
	case errors.As(err, &unknown):
		if like := likeFlags(cmd, unknown.GetSpecifiedName()); len(like) > 0 {
			next = "perhaps " + strings.Join(like, ", ") + "; " + next
		}
	case errors.As(err, &valueless):
		text, next = "--"+valueless.GetFlag().Name+" is given without a value", "write "+withValue(valueless.GetFlag())+"; "+next
	case errors.As(err, &invalid):
		flag := invalid.GetFlag()
		switch kind := flag.Value.Type(); {
		case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "float"):
			text = fmt.Sprintf("--%s: %q is no number that it can be", flag.Name, invalid.GetValue())
		case kind == "duration", kind == "bool":
			text = fmt.Sprintf("--%s: %q is no %s", flag.Name, invalid.GetValue(), kind)
		default: // of ours: it tells the value
			text = fmt.Sprintf("--%s: %v", flag.Name, errors.Unwrap(invalid))
		}
		next = "write " + withValue(invalid.GetFlag()) + "; " + next
	case match(unknownCommand) != "" && !cmd.HasSubCommands():
		text, next = fmt.Sprintf("%s takes no arguments, and is given %q", cmd.CommandPath(), match(unknownCommand)), "write "+cmd.UseLine()+"; "+next
	case match(unknownCommand) != "":
		if like := likeCommands(cmd, match(unknownCommand)); len(like) > 0 {
			next = "perhaps " + strings.Join(like, ", ") + "; " + next
		}
	case match(wrongArguments) != "":
		text, next = fmt.Sprintf("%s is given %s", cmd.CommandPath(), counted(number(match(wrongArguments)), "argument")), "write "+cmd.UseLine()+"; "+next
	case match(missingFlag) != "":
		text, next = flagNames(strings.ReplaceAll(match(missingFlag), `", "`, " "), " and ")+" is missing", "write "+cmd.UseLine()+"; "+next
	case match(noneOfFlags) != "":
		names := match(noneOfFlags)
		text = flagNames(names, " or ") + " is missing"
		if first := cmd.Flags().Lookup(strings.Fields(names)[0]); first != nil {
			next = "write " + withValue(first) + ", or another of these; " + next
		}
	case match(notAllFlags) != "":
		text = flagNames(match(notAllFlags), " and ") + " is missing beside the other flags"
	case match(rivalFlags) != "":
		names := flagNames(match(rivalFlags), " and ")
		text, next = names+" do not go together", "leave one of them away; "+next
	}
	return fault.WithNext(fault.New(fault.Usage, "%s", text), "%s", next)
}

func number(digits string) (n int64) {
	_, _ = fmt.Sscan(digits, &n)
	return n
}

// flagNames are names with dashes before.
func flagNames(names, between string) string {
	var all []string
	for _, name := range strings.Fields(strings.ReplaceAll(names, `"`, "")) {
		all = append(all, "--"+name)
	}
	return strings.Join(all, between)
}

// withValue is a flag with what stands for its value.
func withValue(f *pflag.Flag) string {
	value, _ := pflag.UnquoteUsage(f)
	switch value {
	case "duration":
		value = "10m, or 30s"
	case "int", "float":
		value = "NUMBER"
	}
	return "--" + f.Name + " " + value
}

// likeCommands are the commands of a group that a name may have been meant as.
func likeCommands(group *cobra.Command, name string) (like []string) {
	group.SuggestionsMinimumDistance = 2 // letters
	for _, verb := range group.SuggestionsFor(name) {
		like = append(like, group.CommandPath()+" "+verb)
	}
	return like
}

// likeFlags are the flags of a command that begin as a name does that is none.
func likeFlags(cmd *cobra.Command, name string) (like []string) {
	const alike = 3 // letters
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if len(name) >= alike && !f.Hidden && strings.HasPrefix(f.Name, name[:alike]) {
			like = append(like, "--"+f.Name)
		}
	})
	slices.Sort(like)
	return like
}
