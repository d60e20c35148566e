package servers

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// run is the plan of one server: what is started, where, and on which ports.
type run struct {
	version         Version
	home, dir, java string
	heap            string
	shipped         bool // its own Java options are kept
	http, transport int
	extra           map[string]any
}

func (r run) config() string { return filepath.Join(r.dir, "config") }
func (r run) repos() string  { return filepath.Join(r.dir, "repos") }
func (r run) logs() string   { return filepath.Join(r.dir, "logs") }
func (r run) tmp() string    { return filepath.Join(r.dir, "tmp") }

// settings are the node's settings as flat keys; Options.Settings are added last and win.
func (r run) settings() map[string]any {
	v := r.version
	settings := map[string]any{
		"cluster.name": "reshelve-tests",
		"node.name":    "only",
		"path.data":    filepath.Join(r.dir, "data"),
		"path.logs":    r.logs(),
		"path.repo":    []string{r.repos()},
		"http.port":    r.http,
		"network.host": "127.0.0.1",
		"cluster.routing.allocation.disk.threshold_enabled": false,
	}
	if v.Elastic(7, 0) || v.Open(2, 0) {
		settings["transport.port"] = r.transport
	} else {
		settings["transport.tcp.port"] = r.transport
	}
	if v.Before(5) {
		settings["node.local"] = true
	} else {
		settings["discovery.type"] = "single-node"
	}
	if r.hasModule("x-pack-security") {
		settings["xpack.security.enabled"] = false
	}
	if v.Whole && v.Before(7) {
		settings["xpack.watcher.enabled"] = false
		settings["xpack.monitoring.enabled"] = false
	}
	maps.Copy(settings, r.extra)
	return settings
}

// hasModule tells whether the distribution brings a module; a setting of a module that is missing is an unknown setting,
// at which a server does not start.
func (r run) hasModule(name string) bool {
	for _, pattern := range []string{name, filepath.Join("*", name)} { // 6.x nests them: modules/x-pack/x-pack-security
		if found, _ := filepath.Glob(filepath.Join(r.home, "modules", pattern)); len(found) > 0 {
			return true
		}
	}
	return false
}

// settingsFile renders the settings: one a line, sorted, values as JSON, which is valid YAML.
func settingsFile(settings map[string]any) (string, error) {
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		value, err := json.Marshal(settings[key])
		if err != nil {
			return "", fmt.Errorf("servers: setting %s: %w", key, err)
		}
		fmt.Fprintf(&text, "%s: %s\n", key, value)
	}
	return text.String(), nil
}

// jvmOptions replaces the file that is shipped, which names garbage collectors that newer Javas have dropped; these options
// are for a server that starts fast and holds little.
func (r run) jvmOptions() []string {
	options := []string{"-Xms" + r.heap, "-Xmx" + r.heap, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-Djava.io.tmpdir=" + r.tmp(), "-Dfile.encoding=UTF-8"}
	switch v := r.version; {
	case v.Open(3, 0):
		options = append(options, "-javaagent:agent/opensearch-agent.jar") // took the Security Manager's place
	case v.Before(5):
		for _, name := range []string{"lang", "io", "util", "nio"} {
			options = append(options, "--add-opens=java.base/java."+name+"=ALL-UNNAMED")
		}
	case v.Before(6):
		options = append(options, "-Dio.netty.noUnsafe=true", "-Dio.netty.noKeySetOptimization=true")
	}
	return options
}

// command is the program and its arguments. From 6.0 on it is the distribution's own script; the older scripts pass flags
// that no Java still supported knows, so there the main class is started directly.
func (r run) command() []string {
	v := r.version
	if !v.Before(6) {
		return []string{filepath.Join(r.home, "bin", v.Product)}
	}
	path := filepath.Join(r.home, "lib", "*")
	if v.kind() == jars {
		path = filepath.Join(r.home, "patch") + string(os.PathListSeparator) + path
	}
	command := append([]string{filepath.Join(r.java, "bin", "java")}, r.jvmOptions()...)
	command = append(command, "-Des.path.home="+r.home)
	if v.Before(5) {
		command = append(command, "-Des.path.conf="+r.config())
	}
	command = append(command, "-cp", path, "org.elasticsearch.bootstrap.Elasticsearch")
	switch {
	case v.Before(2):
		return command
	case v.Before(5):
		return append(command, "start")
	}
	return append(command, "-Epath.conf="+r.config())
}

// environment is all that the server sees of ours: newer versions read the product's own variables, older JAVA_HOME.
func (r run) environment() []string {
	prefix := "ES"
	if r.version.IsOpenSearch() {
		prefix = "OPENSEARCH"
	}
	return []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "HOME=" + r.tmp(), "JAVA_HOME=" + r.java,
		prefix + "_JAVA_HOME=" + r.java, prefix + "_PATH_CONF=" + r.config(), prefix + "_TMPDIR=" + r.tmp()}
}

// lay makes the run's folders and writes its configuration anew; data and repositories of an earlier run stay.
func (r run) lay() error {
	if err := os.RemoveAll(r.config()); err != nil {
		return err
	}
	for _, name := range []string{"config", "data", "logs", "tmp", "repos"} {
		if err := os.MkdirAll(filepath.Join(r.dir, name), 0o755); err != nil {
			return err
		}
	}
	shipped := filepath.Join(r.home, "config")
	if _, err := os.Stat(shipped); err == nil {
		if err := os.CopyFS(r.config(), os.DirFS(shipped)); err != nil {
			return err
		}
	}
	settings, err := settingsFile(r.settings())
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.config(), r.version.Product+".yml"), []byte(settings), 0o644); err != nil {
		return err
	}
	options := strings.Join(r.jvmOptions(), "\n") + "\n"
	if r.shipped {
		if options, err = r.shippedOptions(); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(r.config(), "jvm.options"), []byte(options), 0o644)
}

// shippedOptions are those of the distribution, with our heap, and with its logs in the run's
// folder: the server may not write into its home.
func (r run) shippedOptions() (string, error) {
	if r.version.Before(7) {
		return "", fmt.Errorf("servers: the options that %s is shipped with are for Javas that are no more", r.version)
	}
	text, err := os.ReadFile(filepath.Join(r.home, "config", "jvm.options"))
	if err != nil {
		return "", fmt.Errorf("servers: %s: %w", r.version, err)
	}
	var kept strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "-Xms") && !strings.HasPrefix(line, "-Xmx") {
			kept.WriteString(line)
		}
	}
	moved := strings.NewReplacer("=logs/", "="+r.logs()+"/", ":logs/", ":"+r.logs()+"/", "HeapDumpPath=data", "HeapDumpPath="+r.tmp())
	return moved.Replace(kept.String()) + fmt.Sprintf("\n-Xms%s\n-Xmx%s\n", r.heap, r.heap), nil
}
