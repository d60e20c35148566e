package servers

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const jvmInfo = "org/elasticsearch/monitor/jvm/JvmInfo.class"

// patchJvmInfo writes a copy of Elasticsearch 1.7's class JvmInfo that Java 9 and later can initialise, to stand first on
// the class path. The class asks the running Java for its boot class path, a call that now throws; in the copy the method's
// name in the constant pool is that of a harmless one with the same signature.
func patchJvmInfo(jar, dir string) error {
	class, err := readEntry(jar, jvmInfo)
	if err != nil {
		return err
	}
	patched := bytes.Replace(class, poolText("getBootClassPath"), poolText("getSpecVendor"), 1)
	if bytes.Equal(patched, class) {
		return fmt.Errorf("%s: %s does not call getBootClassPath: this release is not known", jar, jvmInfo)
	}
	path := filepath.Join(dir, filepath.FromSlash(jvmInfo))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, patched, 0o644)
}

// poolText is a text as a class file's constant pool holds it (Java Virtual Machine Specification, CONSTANT_Utf8_info).
func poolText(s string) []byte {
	return append([]byte{1, byte(len(s) >> 8), byte(len(s))}, s...)
}

func readEntry(archive, name string) ([]byte, error) {
	reader, err := zip.OpenReader(archive)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	file, err := reader.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", archive, err)
	}
	defer file.Close()
	return io.ReadAll(file)
}
