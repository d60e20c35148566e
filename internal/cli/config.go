package cli

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// configure sets the flags of cmd that were not given from a YAML file whose keys
// are their names. A key that is no flag is refused: it would be a wish that
// nobody hears.
func configure(cmd *cobra.Command, file string) error {
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		err = fault.At(fault.Wrap(fault.Usage, err), "--config")
		return fault.WithNext(err, "name a YAML file whose keys are flags: %s --help lists them", cmd.CommandPath())
	}
	values := map[string]any{}
	if err := yaml.Unmarshal(text, &values); err != nil {
		lines := strings.Join(strings.Fields(err.Error()), " ") // it may have several
		err := fault.At(fault.New(fault.Usage, "%s", lines), "--config", file)
		return fault.WithNext(err, "correct it: each line is a flag of %s and its value, such as memory: 512MiB", cmd.CommandPath())
	}
	given := map[string]bool{}
	cmd.Flags().Visit(func(f *pflag.Flag) { given[f.Name] = true })
	for key, value := range values {
		if cmd.LocalNonPersistentFlags().Lookup(key) == nil || key == "config" || key == "help" {
			err := fault.At(fault.New(fault.Usage, "there is no setting %q", key), file)
			return fault.WithNext(err, "see %s --help, whose flags are the settings", cmd.CommandPath())
		}
		if given[key] {
			continue
		}
		all, isList := value.([]any)
		if !isList {
			all = []any{value}
		} else if _, repeats := cmd.Flags().Lookup(key).Value.(pflag.SliceValue); !repeats {
			return fault.At(fault.New(fault.Usage, "the value is a list, and the flag takes one value"), file, key)
		}
		for _, value := range all {
			if err := cmd.Flags().Set(key, fmt.Sprint(value)); err != nil {
				return fault.At(fault.Wrap(fault.Usage, err), file, key)
			}
		}
	}
	return nil
}

// units of sizes, the largest first.
var units = []struct {
	name  string
	bytes int64
}{
	{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1},
}

// parseSize reads a number of bytes with an optional unit.
func parseSize(text string) (int64, error) {
	digits, factor := text, int64(1)
	for _, unit := range units {
		if number, ok := strings.CutSuffix(strings.ToLower(text), strings.ToLower(unit.name)); ok {
			digits, factor = number, unit.bytes
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/factor {
		return 0, fmt.Errorf("%q is no size: write 4096, 64KiB, 100MiB or 2GiB", text)
	}
	return n * factor, nil
}
