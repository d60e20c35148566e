package servers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// module is a part of OpenSearch that is published as a package of its own, without the folder and the description in
// which a server looks for it.
type module struct{ name, artifact, class string }

// modules are those that the small zip lacks and tests need. Painless, percolator and the rest stay out.
var modules = []module{
	{"analysis-common", "analysis-common", "org.opensearch.analysis.common.CommonAnalysisPlugin"},
	{"reindex", "reindex-client", "org.opensearch.index.reindex.ReindexPlugin"},
	{"parent-join", "parent-join-client", "org.opensearch.join.ParentJoinPlugin"},
	{"mapper-extras", "mapper-extras-client", "org.opensearch.index.mapper.MapperExtrasPlugin"},
}

// addModules puts the modules into a home: a folder each, with the jar, those of its dependencies that the server does
// not bring itself (it refuses to load a class from two places), and the description.
func addModules(ctx context.Context, v Version, home string) error {
	for _, m := range modules {
		dir := filepath.Join(home, "modules", m.name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		pom := filepath.Join(dir, "pom.xml")
		if err := os.WriteFile(pom, []byte(m.pom(v)), 0o644); err != nil {
			return err
		}
		err := maven(ctx, dir, "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+dir)
		if err != nil {
			return err
		}
		if err := os.Remove(pom); err != nil {
			return err
		}
		if err := removeDoubles(dir, filepath.Join(home, "lib")); err != nil {
			return err
		}
		descriptor := filepath.Join(dir, "plugin-descriptor.properties")
		if err := os.WriteFile(descriptor, []byte(m.descriptor(v)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (m module) pom(v Version) string {
	return fmt.Sprintf(`<project><modelVersion>4.0.0</modelVersion><groupId>reshelve</groupId><artifactId>module</artifactId><version>1</version>
<dependencies><dependency><groupId>org.opensearch.plugin</groupId><artifactId>%s</artifactId><version>%s</version></dependency></dependencies></project>`,
		m.artifact, v.Number)
}

func (m module) descriptor(v Version) string {
	lines := []string{"name=" + m.name, "description=" + m.name, "version=" + v.Number, "opensearch.version=" + v.Number,
		"java.version=11", "classname=" + m.class, "has.native.controller=false"}
	return strings.Join(lines, "\n") + "\n"
}

// removeDoubles removes the jars of dir that lib has too.
func removeDoubles(dir, lib string) error {
	jars, err := filepath.Glob(filepath.Join(dir, "*.jar"))
	if err != nil {
		return err
	}
	for _, jar := range jars {
		if _, err := os.Stat(filepath.Join(lib, filepath.Base(jar))); err != nil {
			continue
		}
		if err := os.Remove(jar); err != nil {
			return err
		}
	}
	return nil
}
