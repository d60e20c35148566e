package servers

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// CacheDir is where distributions and Javas are kept unpacked: $RESHELVE_SERVERS, else the user's cache folder, else for
// root /var/cache/reshelve/servers, because the servers run as somebody who may not look into root's home.
func CacheDir() (string, error) {
	if dir := os.Getenv("RESHELVE_SERVERS"); dir != "" {
		return filepath.Abs(dir)
	}
	if os.Geteuid() == 0 {
		return "/var/cache/reshelve/servers", nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("servers: no cache folder: %w; set RESHELVE_SERVERS to a folder", err)
	}
	return filepath.Join(dir, "reshelve", "servers"), nil
}

// Fetch brings a version's distribution into the cache, if it is not there yet, and returns its home folder.
func Fetch(ctx context.Context, v Version) (home string, err error) {
	if err := v.check(); err != nil {
		return "", err
	}
	return cached(v.String(), func(dir string) error {
		if v.kind() == jars {
			return fetchJars(ctx, v, dir)
		}
		if err := fetchZip(ctx, v, dir); err != nil || !v.Whole || !v.IsOpenSearch() {
			return err
		}
		return addModules(ctx, v, dir)
	})
}

// cached returns the cache's folder of that name; when it is missing, fill makes it under another name first, so that a
// folder that exists is complete and two processes may fill it at the same time.
func cached(name string, fill func(dir string) error) (string, error) {
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, name)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", fmt.Errorf("servers: cache folder: %w; set RESHELVE_SERVERS to a folder that can be written", err)
	}
	fresh, err := os.MkdirTemp(cache, ".filling-"+name+"-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	if err := os.Chmod(fresh, 0o755); err != nil {
		return "", err
	}
	if err := fill(fresh); err != nil {
		return "", fmt.Errorf("servers: fetch %s: %w", name, err)
	}
	if err := os.Rename(fresh, dir); err != nil {
		if _, gone := os.Stat(dir); gone != nil {
			return "", err
		}
	}
	return dir, nil
}

func fetchZip(ctx context.Context, v Version, dir string) error {
	if err := maven(ctx, dir, "dependency:get", "-Dartifact="+v.artifact(), "-Dtransitive=false"); err != nil {
		return err
	}
	if err := maven(ctx, dir, "dependency:copy", "-Dartifact="+v.artifact(), "-DoutputDirectory="+dir); err != nil {
		return err
	}
	archive := filepath.Join(dir, v.Product+"-"+v.Number+".zip")
	if err := unzip(archive, dir); err != nil {
		return err
	}
	if err := os.Remove(archive); err != nil {
		return err
	}
	// The machine-learning module brings native programs that a plain unzip leaves without their execute bit.
	if err := os.RemoveAll(filepath.Join(dir, "modules", "x-pack-ml")); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(dir, "plugins"), 0o755) // 2.4 insists on it
}

// fetchJars brings a server that exists as a library only: the jar and what its own pom names, into dir/lib.
func fetchJars(ctx context.Context, v Version, dir string) error {
	pom := `<project><modelVersion>4.0.0</modelVersion><groupId>reshelve</groupId><artifactId>server</artifactId><version>1</version>
<dependencies><dependency><groupId>org.elasticsearch</groupId><artifactId>elasticsearch</artifactId><version>` + v.Number + `</version></dependency></dependencies></project>`
	if err := os.WriteFile(filepath.Join(dir, "pom.xml"), []byte(pom), 0o644); err != nil {
		return err
	}
	lib := filepath.Join(dir, "lib")
	if err := maven(ctx, dir, "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+lib); err != nil {
		return err
	}
	return patchJvmInfo(filepath.Join(lib, "elasticsearch-"+v.Number+".jar"), filepath.Join(dir, "patch"))
}

// maven runs one goal of the Maven client in dir; its settings, mirrors and local repository are the user's.
func maven(ctx context.Context, dir, goal string, args ...string) error {
	program, err := exec.LookPath("mvn")
	if err != nil {
		return fmt.Errorf("the Maven client is needed: %w; install it (Debian: apt-get install maven)", err)
	}
	command := exec.CommandContext(ctx, program, append([]string{"-B", "-q", goal}, args...)...)
	command.Dir = dir
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("mvn %s %s: %w\n%s", goal, strings.Join(args, " "), err, head(output, 8))
	}
	return nil
}

// unzip unpacks an archive whose entries all lie below one folder; that folder's name is dropped.
func unzip(archive, dir string) error {
	reader, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer reader.Close()
	for _, entry := range reader.File {
		_, name, _ := strings.Cut(entry.Name, "/")
		if name == "" || strings.HasSuffix(name, "/") {
			continue
		}
		if !filepath.IsLocal(name) {
			return fmt.Errorf("%s: entry %q leads out of the folder", archive, entry.Name)
		}
		if err := extract(entry, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

func extract(entry *zip.File, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if filepath.Base(filepath.Dir(path)) == "bin" {
		mode = 0o755
	}
	from, err := entry.Open()
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(to, from); err != nil {
		to.Close()
		return fmt.Errorf("%s: %w", entry.Name, err)
	}
	return to.Close()
}

// head is the first lines of a program's output: Maven says what went wrong first and how to ask for help last.
func head(output []byte, lines int) string {
	all := bytes.Split(bytes.TrimSpace(output), []byte("\n"))
	return string(bytes.Join(all[:min(lines, len(all))], []byte("\n")))
}

// tail is the last lines of a program's output, for an error message.
func tail(output []byte, lines int) string {
	all := bytes.Split(bytes.TrimRight(output, "\n"), []byte("\n"))
	return string(bytes.Join(all[max(0, len(all)-lines):], []byte("\n")))
}

// RestSuite is the folder of the cases by which OpenSearch tests its own API, as they are published with a version.
func RestSuite(ctx context.Context, version string) (string, error) {
	return cached("rest-api-spec-"+version, func(dir string) error {
		artifact := "org.opensearch:rest-api-spec:" + version
		if err := maven(ctx, dir, "dependency:get", "-Dartifact="+artifact, "-Dtransitive=false"); err != nil {
			return err
		}
		return maven(ctx, dir, "dependency:unpack", "-Dartifact="+artifact, "-DoutputDirectory="+dir)
	})
}
