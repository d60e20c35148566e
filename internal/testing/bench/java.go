package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"github.com/reshelve/reshelve/internal/testing/servers"
)

//go:embed java/*.java
var javaSources embed.FS

// javaReader runs Lucene's own reader: the jars of the server that wrote the shard, on the Java that this server runs on.
type javaReader struct {
	program []string // the java command up to the main class, whose arguments follow
	Version string   // as the Java says it, for the line under the table
}

// javaOptions leave the Java virtual machine as it comes, with its full compiler, but for the collector and the heap: a program
// that reads a shard is shipped with none, and of those tried these cost least CPU time and memory.
var javaOptions = []string{"-XX:+UseSerialGC", "-Xmx64m"}

// newJavaReader fetches what a family's reader needs and compiles it into dir.
func newJavaReader(ctx context.Context, f family, dir string) (javaReader, error) {
	home, err := servers.Fetch(ctx, f.server)
	if err != nil {
		return javaReader{}, err
	}
	jars, err := filepath.Glob(filepath.Join(home, "lib", "lucene-core-*.jar"))
	if err != nil || len(jars) != 1 {
		return javaReader{}, fmt.Errorf("%s has %d jars named lucene-core, want one: %w", home, len(jars), err)
	}
	java, err := servers.Java(ctx, f.server)
	if err != nil {
		return javaReader{}, err
	}
	if err := compile(ctx, java, jars[0], dir); err != nil {
		return javaReader{}, err
	}
	command := filepath.Join(java, "bin", "java")
	output, err := exec.CommandContext(ctx, command, "--version").Output()
	version, _, _ := bytes.Cut(output, newline)
	program := append([]string{command}, javaOptions...)
	if f.server.IsOpenSearch() {
		program = append(program, "-cp", dir+string(os.PathListSeparator)+jars[0], "ReadShard")
	} else {
		path := dir + string(os.PathListSeparator) + filepath.Join(home, "lib", "*")
		program = append(program, "-Des.nativelibs.path="+nativeLibraries(home), "-cp", path, "ReadElasticsearchShard")
	}
	return javaReader{program: program, Version: string(version)}, err
}

// nativeLibraries is where an Elasticsearch distribution keeps its zstd for this machine.
func nativeLibraries(home string) string {
	processor := map[string]string{"amd64": "x64", "arm64": "aarch64"}[runtime.GOARCH]
	return filepath.Join(home, "lib", "platform", runtime.GOOS+"-"+processor)
}

// compile writes the reader's classes into dir. Its sources are the same for every Lucene, the classes are not.
func compile(ctx context.Context, java, jar, dir string) error {
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	if err := os.CopyFS(dir, javaSources); err != nil {
		return err
	}
	compiler := filepath.Join(java, "bin", "javac")
	if _, err := os.Stat(compiler); err != nil {
		return fmt.Errorf("%s is no JDK: %w; install one of the same version and name it in JAVA_HOME", java, err)
	}
	sources, err := filepath.Glob(filepath.Join(dir, "java", "*.java"))
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, compiler, append([]string{"-d", dir, "-cp", jar}, sources...)...)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("compile the Java reader: %w\n%s", err, output)
	}
	return nil
}

// command is the reader over one Lucene directory. Mode is sequential, random or check; documents 0 is all.
func (r javaReader) command(directory, mode string, passes int, documents int64) []string {
	argv := append(slices.Clone(r.program), directory, mode, strconv.Itoa(passes))
	if documents > 0 {
		argv = append(argv, strconv.FormatInt(documents, 10))
	}
	return argv
}

// javaPass is what the reader prints of one pass.
type javaPass struct {
	Documents   int64
	SourceBytes int64
	Sum         uint64 // of "check": as [checksum]
	CPU         int64  // nanoseconds
	Read        int64  // of "check": bytes read from files
}

// run runs the reader and returns what it printed of each pass.
func (r javaReader) run(ctx context.Context, directory, mode string, passes int, documents int64) (cost, []javaPass, error) {
	c, output, err := measure(ctx, r.command(directory, mode, passes, documents), false)
	if err != nil {
		return cost{}, nil, err
	}
	var printed []javaPass
	for line := range bytes.Lines(output) {
		if line[0] != '{' {
			continue // "first", whose moment is what counts
		}
		var p javaPass
		if err := json.Unmarshal(line, &p); err != nil {
			return cost{}, nil, fmt.Errorf("the Java reader printed %q: %w", line, err)
		}
		printed = append(printed, p)
	}
	if len(printed) != passes {
		return cost{}, nil, fmt.Errorf("the Java reader printed %d passes, %d were asked for", len(printed), passes)
	}
	return c, printed, nil
}
