package servers

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestVersionTable reads the table of versions as a user meets it: what is fetched, and which Javas are tried.
func TestVersionTable(t *testing.T) {
	for _, row := range []struct {
		version  Version
		artifact string
		javas    []int
	}{
		{Elasticsearch("1.7.6"), "org.elasticsearch:elasticsearch:1.7.6:jar", []int{17, 11}},
		{Elasticsearch("2.4.6"), "org.elasticsearch.distribution.zip:elasticsearch:2.4.6:zip", []int{17, 11}},
		{Elasticsearch("5.6.16"), "org.elasticsearch.distribution.zip:elasticsearch:5.6.16:zip", []int{17, 11}},
		{Elasticsearch("6.8.23"), "org.elasticsearch.distribution.integ-test-zip:elasticsearch:6.8.23:zip", []int{17, 11}},
		{Elasticsearch("6.8.23").WithEverything(), "org.elasticsearch.distribution.zip:elasticsearch:6.8.23:zip", []int{17, 11}},
		{Elasticsearch("7.17.29"), "org.elasticsearch.distribution.integ-test-zip:elasticsearch:7.17.29:zip", []int{17}},
		{Elasticsearch("8.19.0"), "org.elasticsearch.distribution.integ-test-zip:elasticsearch:8.19.0:zip", []int{17, 21}},
		{Elasticsearch("9.0.0"), "org.elasticsearch.distribution.integ-test-zip:elasticsearch:9.0.0:zip", []int{21}},
		{Elasticsearch("9.2.0"), "org.elasticsearch.distribution.integ-test-zip:elasticsearch:9.2.0:zip", []int{25}},
		{OpenSearch("1.3.0"), "org.opensearch.distribution.integ-test-zip:opensearch:1.3.0:zip", []int{17, 11}},
		{OpenSearch("2.19.0"), "org.opensearch.distribution.integ-test-zip:opensearch:2.19.0:zip", []int{17, 21}},
		{OpenSearch("2.19.0").WithEverything(), "org.opensearch.distribution.integ-test-zip:opensearch:2.19.0:zip", []int{17, 21}},
		{OpenSearch("3.6.0"), "org.opensearch.distribution.integ-test-zip:opensearch:3.6.0:zip", []int{25}},
	} {
		if err := row.version.check(); err != nil {
			t.Errorf("%s: %v", row.version, err)
		}
		if got := row.version.artifact(); got != row.artifact {
			t.Errorf("%s is fetched as %s, want %s", row.version, got, row.artifact)
		}
		if got := row.version.java().majors; !slices.Equal(got, row.javas) {
			t.Errorf("%s tries Java %v, want %v", row.version, got, row.javas)
		}
	}
	for _, unknown := range []Version{Elasticsearch("0.90.1"), Elasticsearch("3.0.0"), OpenSearch("4.0.0"), OpenSearch("3.0.0").WithEverything(), {Product: "solr", Number: "9.0"}} {
		if unknown.check() == nil {
			t.Errorf("%s was accepted", unknown)
		}
	}
}

// TestSettings checks the settings in which the versions differ; a wrong one keeps a server from starting.
func TestSettings(t *testing.T) {
	for _, row := range []struct {
		version       Version
		modules       []string
		with, without string
	}{
		{Elasticsearch("1.7.6"), nil, "node.local: true", "discovery.type"},
		{Elasticsearch("5.6.16"), nil, `discovery.type: "single-node"`, "node.local"},
		{Elasticsearch("6.8.23"), nil, "transport.tcp.port: 2", "xpack"},
		{Elasticsearch("6.8.23").WithEverything(), []string{"x-pack/x-pack-security"}, "xpack.security.enabled: false", "transport.port"},
		{Elasticsearch("7.10.2"), nil, "transport.port: 2", "xpack"},
		{Elasticsearch("8.15.0"), []string{"x-pack-security"}, "xpack.security.enabled: false", "transport.tcp.port"},
		{OpenSearch("1.3.0"), nil, "transport.tcp.port: 2", "xpack"},
		{OpenSearch("2.19.0"), nil, "transport.port: 2", "xpack"},
	} {
		home := t.TempDir()
		for _, module := range row.modules {
			if err := os.MkdirAll(filepath.Join(home, "modules", module), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		plan := run{version: row.version, home: home, dir: "/d", http: 1, transport: 2, extra: map[string]any{"node.name": "mine"}}
		text, err := settingsFile(plan.settings())
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{row.with, `path.repo: ["/d/repos"]`, `node.name: "mine"`, "http.port: 1"} {
			if !strings.Contains(text, want+"\n") {
				t.Errorf("%s: settings lack %q:\n%s", row.version, want, text)
			}
		}
		if strings.Contains(text, row.without) {
			t.Errorf("%s: settings must not have %q:\n%s", row.version, row.without, text)
		}
	}
}

// TestReadJava reads the description that every Java carries.
func TestReadJava(t *testing.T) {
	dir := t.TempDir()
	if _, ok := readJava(dir); ok {
		t.Error("an empty folder was taken for a Java")
	}
	if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"bin/java": "", "release": "JAVA_VERSION=\"21.0.8\"\nMODULES=\"java.base jdk.jlink\"\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	java, ok := readJava(dir)
	if !ok || java.major != 21 || !java.has("jdk.jlink") || java.has("jdk.localedata") {
		t.Errorf("read %+v, %v", java, ok)
	}
}

// TestUnzip: the archive's own folder is dropped, programs can be executed, and nothing is written outside.
func TestUnzip(t *testing.T) {
	pack := func(names ...string) string {
		path := filepath.Join(t.TempDir(), "a.zip")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		archive := zip.NewWriter(file)
		for _, name := range names {
			if _, err := archive.Create(name); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(archive.Close(), file.Close()); err != nil {
			t.Fatal(err)
		}
		return path
	}
	dir := t.TempDir()
	if err := unzip(pack("es-1/", "es-1/bin/run", "es-1/lib/a.jar"), dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"bin/run": 0o755, "lib/a.jar": 0o644} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want mode %v", name, info, err, want)
		}
	}
	if err := unzip(pack("es-1/../../evil"), dir); err == nil {
		t.Error("an entry that leads out of the folder was unpacked")
	}
}

// TestPatchJvmInfo: the copy calls the other method, and a jar that does not call the first one is refused.
func TestPatchJvmInfo(t *testing.T) {
	for class, want := range map[string]string{
		"\xca\xfe\x01\x00\x10getBootClassPath\x01\x00\x01x": "\xca\xfe\x01\x00\x0dgetSpecVendor\x01\x00\x01x",
		"\xca\xfe\x01\x00\x01x":                             "",
	} {
		dir := t.TempDir()
		jar := filepath.Join(dir, "server.jar")
		var packed bytes.Buffer
		archive := zip.NewWriter(&packed)
		entry, err := archive.Create(jvmInfo)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := entry.Write([]byte(class)); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(archive.Close(), os.WriteFile(jar, packed.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
		err = patchJvmInfo(jar, dir)
		patched, _ := os.ReadFile(filepath.Join(dir, jvmInfo))
		if string(patched) != want || (err != nil) != (want == "") {
			t.Errorf("patched %q to %q, %v; want %q", class, patched, err, want)
		}
	}
}

// TestLive starts a real server, talks to it, stops it, and starts its data again. RESHELVE_LIVE=1 asks for it, since it
// downloads a distribution; RESHELVE_LIVE=elasticsearch-8.15.0 (or any other version) chooses another one.
func TestLive(t *testing.T) {
	choice := os.Getenv("RESHELVE_LIVE")
	if choice == "" {
		t.Skip("RESHELVE_LIVE=1 starts a real server")
	}
	version := OpenSearch("2.19.0")
	if product, number, ok := strings.Cut(choice, "-"); ok {
		version = Version{Product: product, Number: number}
	}
	dir, err := os.MkdirTemp("", "reshelve-live-") // not t.TempDir: see Start about root
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	put := "/shelf/_doc/1?refresh=true"
	if version.Before(6) {
		put = "/shelf/doc/1?refresh=true"
	}
	for round, request := range []struct{ method, path, body, want string }{
		{"PUT", put, `{"a": 1}`, `"created"`},
		{"GET", "/shelf/_search", "", `"_source":{"a": 1}`},
	} {
		server, err := Start(context.Background(), version, Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Stop() })
		var body []byte
		if request.body != "" {
			body = []byte(request.body)
		}
		status, answer, err := server.Do(request.method, request.path, body)
		if err != nil || status >= 300 || !strings.Contains(string(answer), request.want) {
			t.Errorf("round %d: %s %s: %d %s %v, want %s", round, request.method, request.path, status, answer, err, request.want)
		}
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
		if _, _, err := server.Do("GET", "/", nil); err == nil {
			t.Error("the server still answers after Stop")
		}
	}
}

// TestLivePostgres starts PostgreSQL, stops it, and starts its data again.
func TestLivePostgres(t *testing.T) {
	if os.Getenv("RESHELVE_LIVE") == "" {
		t.Skip("RESHELVE_LIVE=1 starts a real server")
	}
	dir, err := os.MkdirTemp("", "reshelve-live-") // not t.TempDir: see Start about root
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for range 2 {
		server, err := StartPostgres(context.Background(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Stop() })
		if !strings.HasPrefix(server.URL, "postgres://postgres@127.0.0.1:") {
			t.Errorf("it is at %s", server.URL)
		}
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}
	if _, err := StartPostgres(context.Background(), dir, map[string]string{"no_such_setting": "1"}); err == nil || !strings.Contains(err.Error(), "no_such_setting") {
		t.Errorf("a wrong setting: %v", err)
	}
}

// TestShippedOptions: but for heap and folders they are those of the distribution.
func TestShippedOptions(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "config"), 0o755); err != nil {
		t.Fatal(err)
	}
	shipped := "# heap\n-Xms1g\n-Xmx1g\n11-:-XX:+UseG1GC\n-XX:HeapDumpPath=data\n-XX:ErrorFile=logs/hs_err_pid%p.log\n9-:-Xlog:gc*:file=logs/gc.log:utctime\n"
	if err := os.WriteFile(filepath.Join(home, "config", "jvm.options"), []byte(shipped), 0o644); err != nil {
		t.Fatal(err)
	}
	r := run{version: OpenSearch("2.19.0"), home: home, dir: "/run/it", heap: "2g", shipped: true}
	got, err := r.shippedOptions()
	want := "# heap\n11-:-XX:+UseG1GC\n-XX:HeapDumpPath=/run/it/tmp\n-XX:ErrorFile=/run/it/logs/hs_err_pid%p.log\n9-:-Xlog:gc*:file=/run/it/logs/gc.log:utctime\n\n-Xms2g\n-Xmx2g\n"
	if got != want || err != nil {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}
