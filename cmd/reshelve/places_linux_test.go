package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/cli"
	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/egress/egresstest"
	"github.com/reshelve/reshelve/internal/fault"
)

// takes is what a place of a command line may be.
type takes int

const (
	aRepository   takes = iota // a folder, or a bucket of any scheme
	aServer                    // a cluster's URL alone
	aStore                     // a cluster's URL, or a data folder
	someRecords                // where movements are recorded: as store, local:DIR, or PostgreSQL
	recordsBeside              // auto, target, local:DIR, or PostgreSQL
	aFolder                    // a data folder alone
	noPlace                    // it is not connected to
)

// slot is a place that a verb takes: a flag of it, or its argument REPO.
type slot struct {
	verb, name string
	takes      takes
	line       []string // the command line, in which PLACE stands for the place
	plans      bool     // with --dry-run
}

// slots are those of all verbs: TestEveryPlaceIsInTheTable finds the ones that are missing.
func slots(repo, data string) (all []slot) {
	add := func(verb, name string, takes takes, plans bool, line ...string) {
		all = append(all, slot{verb, name, takes, append(strings.Fields(verb), line...), plans})
	}
	for _, verb := range []string{"ls", "inspect", "cat", "verify", "estimate"} {
		add("snapshot "+verb, "REPO", aRepository, false, "PLACE")
	}
	fresh := filepath.Join(data, "..", "fresh")
	add("migrate", "--from", aRepository, true, "--from", "PLACE", "--to", fresh)
	add("migrate", "--to", aStore, true, "--from", repo, "--to", "PLACE")
	add("migrate", "--from-cluster", aServer, true, "--from-cluster", "PLACE", "--snapshot-to", repo, "--to", fresh)
	add("migrate", "--snapshot-to", noPlace, false, "--from-cluster", "http://127.0.0.1:1", "--snapshot-to", "PLACE", "--to", fresh)
	add("migrate", "--coordinate", recordsBeside, true, "--from", repo, "--to", fresh, "--coordinate", "PLACE")
	add("verify", "--from", aRepository, true, "--from", "PLACE", "--to", data)
	add("verify", "--to", aStore, true, "--from", repo, "--to", "PLACE")
	add("verify", "--coordinate", recordsBeside, false, "--from", repo, "--to", data, "--coordinate", "PLACE")
	add("split", "--at", aStore, true, "books", "--by", "2", "--at", "PLACE")
	add("merge", "--at", aStore, true, "books", "--shards", "0,1", "--at", "PLACE")
	add("placement", "--at", aStore, false, "books", "--at", "PLACE")
	for _, verb := range []string{"ls", "create", "delete", "stats", "check", "rebuild"} {
		line := []string{"books", "--at", "PLACE"}
		add("index "+verb, "--at", aStore, false, line...)
	}
	add("movement ls", "--at", someRecords, false, "--at", "PLACE")
	for _, verb := range []string{"status", "watch", "failures", "set-aside", "pause", "resume", "verify", "repair", "redrive", "finish", "reverse", "abort"} {
		add("movement "+verb, "--at", someRecords, false, "20261121-221500-abcdef", "--at", "PLACE")
	}
	add("movement throttle", "--at", someRecords, false, "20261121-221500-abcdef", "--docs-per-second", "5", "--at", "PLACE")
	add("worker", "--join", someRecords, false, "--once", "--join", "PLACE")
	for _, flag := range []string{"--allow-repository", "--allow-source", "--allow-target"} {
		add("worker", flag, noPlace, false)
	}
	add("serve", "--data", aFolder, false, "--listen", "127.0.0.1:0", "--data", "PLACE")
	add("serve", "--allow-repository", noPlace, false)
	add("serve", "--allow-source", noPlace, false)
	add("serve", "--allow-origin", noPlace, false)
	return all
}

// at are the places of the kinds that a slot takes at which the host is.
func (s *slot) at(host string) (all []string) {
	switch s.takes {
	case aRepository:
		return []string{"http://" + host + "/repo", "s3://bucket/repo?region=x&path-style&endpoint=http://" + host,
			"gs://bucket/repo?anonymous&endpoint=http://" + host, "az://container/repo?anonymous&account=name&endpoint=http://" + host + "/name"}
	case aServer, aStore:
		return []string{"http://" + host, "https://" + host}
	case someRecords:
		return []string{"http://" + host, "postgres://user:secret@" + host + "/movements"}
	case recordsBeside:
		return []string{"postgres://user:secret@" + host + "/movements"}
	}
	return nil
}

// outcome is how the program ended.
type outcome struct {
	code int
	text string
	took time.Duration
}

// ended runs the program, with the words of a line that are PLACE replaced.
func ended(t *testing.T, line []string, place string, more ...string) outcome {
	t.Helper()
	args := append(slices.Clone(line), more...)
	for i := range args {
		if args[i] == "PLACE" {
			args[i] = place
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	var stderr bytes.Buffer
	began := time.Now()
	code := cli.Run(ctx, control.New(wiring), args, &bytes.Buffer{}, &stderr)
	return outcome{code, stderr.String(), time.Since(began)}
}

// world is what the lines of slots need, and sets the environment.
func world(t *testing.T) (repo, data string) {
	t.Helper()
	root := t.TempDir()
	for name, value := range map[string]string{"HOME": root, "XDG_STATE_HOME": "", "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "PGCONNECT_TIMEOUT": ""} {
		t.Setenv(name, value)
	}
	repo, err := filepath.Abs("../../testdata/repositories/" + oneIndex + "/repo")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	data = filepath.Join(root, "data")
	if o := ended(t, []string{"migrate", "--from", repo, "--to", "PLACE", "--quiet"}, data); o.code != 0 {
		t.Fatal(o.text)
	}
	return repo, data
}

// oneIndex is a repository that moves without a question.
const oneIndex = "elasticsearch-1.7.6-history"

// probe looks at every slot with every place at a host, several at a time, each with folders of its own.
func probe(t *testing.T, all []slot, host string, look func(s *slot, place string)) {
	t.Helper()
	var wait sync.WaitGroup
	free := make(chan struct{}, 24)
	for i := range all {
		for _, place := range all[i].at(host) {
			s := all[i]
			s.line = slices.Clone(s.line)
			for j, word := range s.line {
				switch filepath.Base(word) {
				case "data":
					s.line[j] = filepath.Join(t.TempDir(), "copy")
					if err := os.CopyFS(s.line[j], os.DirFS(word)); err != nil {
						t.Fatal(err)
					}
				case "fresh":
					s.line[j] = filepath.Join(t.TempDir(), "new")
				}
			}
			wait.Go(func() {
				free <- struct{}{}
				defer func() { <-free }()
				look(&s, place)
			})
		}
	}
	wait.Wait()
}

// nobody is an address whose port is refused.
func nobody(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// TestNobodyThereIsAnErrorOfEveryVerb: a refused port and a host that is not known are errors in under 2 seconds, which name the
// host and what to do, and no password.
func TestNobodyThereIsAnErrorOfEveryVerb(t *testing.T) {
	all := slots(world(t))
	before := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = before })
	net.DefaultResolver = egresstest.NoNames(t)
	for _, host := range []string{nobody(t), "nosuch.invalid:9200"} {
		probe(t, all, host, func(s *slot, place string) {
			name, _, _ := strings.Cut(host, ":9200")
			o := ended(t, s.line, place)
			switch {
			case o.code != fault.Unavailable.ExitCode(), !strings.Contains(o.text, name), !strings.Contains(o.text, "→"), strings.Contains(o.text, "secret"):
				t.Errorf("%s of %s: exit %d\n%s", place, s.verb, o.code, o.text)
			case o.took > 2*time.Second:
				t.Errorf("%s of %s: %s\n%s", place, s.verb, o.took, o.text)
			}
		})
	}
}

// TestAPlanReachesNotFarIntoSilence: neither a host that accepts connections and says nothing, nor one that does not even
// accept them, keeps a verb that plans for longer than 5 seconds.
func TestAPlanReachesNotFarIntoSilence(t *testing.T) {
	all := slices.DeleteFunc(slots(world(t)), func(s slot) bool { return !s.plans })
	for what, host := range map[string]string{"silent": silent(t), "unreachable": blackhole(t)} {
		probe(t, all, host, func(s *slot, place string) {
			o := ended(t, s.line, place, "--dry-run")
			switch {
			case o.code != fault.Unavailable.ExitCode(), !strings.Contains(o.text, host), !strings.Contains(o.text, "→"), strings.Contains(o.text, "secret"):
				t.Errorf("%s: %s of %s: exit %d\n%s", what, place, s.verb, o.code, o.text)
			case o.took > 5*time.Second:
				t.Errorf("%s: %s of %s: %s\n%s", what, place, s.verb, o.took, o.text)
			}
		})
	}
}

// silent accepts connections and says nothing.
func silent(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
		}
	}()
	return listener.Addr().String()
}

// TestAnAddressIsNoPlace: what somebody writes who has left http:// away, or has another protocol in mind, is refused as wrong
// usage by every flag, and no folder of that name is made.
func TestAnAddressIsNoPlace(t *testing.T) {
	for _, s := range slots(world(t)) {
		if len(s.line) == len(strings.Fields(s.verb)) {
			continue
		}
		for _, place := range []string{"localhost:9200", "ftp://host/path"} {
			o := ended(t, s.line, place)
			if o.code != fault.Usage.ExitCode() || !strings.Contains(o.text, "→") {
				t.Errorf("%s of %s %s: exit %d\n%s", place, s.verb, s.name, o.code, o.text)
			}
			for _, made := range []string{"localhost:9200", "ftp:"} {
				if _, err := os.Stat(made); err == nil {
					t.Errorf("%s of %s %s: the folder %s was made", place, s.verb, s.name, made)
					_ = os.RemoveAll(made)
				}
			}
		}
	}
}

var (
	placeFlag = regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[a-z-]+) (\S*(?:URL|DIR|REPO|PREFIX|postgres)\S*) `)
	verbLine  = regexp.MustCompile(`(?m)^  ([a-z-]+) +[A-Z]`)
)

// TestEveryPlaceIsInTheTable fails when a verb takes a place that the tests above do not know.
func TestEveryPlaceIsInTheTable(t *testing.T) {
	known := map[string]bool{}
	for _, s := range slots("", "") {
		known[s.verb+" "+s.name] = true
	}
	var walk func(verb []string)
	walk = func(verb []string) {
		var page bytes.Buffer
		cli.Run(t.Context(), control.New(wiring), append(slices.Clone(verb), "--help"), &page, &page)
		name := strings.Join(verb, " ")
		_, below, group := strings.Cut(page.String(), "Available Commands:")
		if group {
			below, _, _ = strings.Cut(below, "Flags:")
			for _, found := range verbLine.FindAllStringSubmatch(below, -1) {
				if found[1] != "completion" && found[1] != "help" {
					walk(append(slices.Clone(verb), found[1]))
				}
			}
			return
		}
		_, flags, _ := strings.Cut(page.String(), "\nFlags:")
		found := []string{}
		for _, flag := range placeFlag.FindAllStringSubmatch(flags, -1) {
			found = append(found, flag[1])
		}
		if _, usage, _ := strings.Cut(page.String(), "Usage:\n"); strings.Contains(strings.SplitN(usage, "\n", 2)[0], name+" REPO") {
			found = append(found, "REPO")
		}
		for _, place := range found {
			if !known[name+" "+place] {
				t.Errorf("%s takes %s, which the table of places lacks", name, place)
			}
			delete(known, name+" "+place)
		}
	}
	walk(nil)
	for left := range known {
		t.Errorf("the table has %s, which no verb takes", left)
	}
}

// TestADistrustedCertificateNamesWhatTrustsIt: a server with a certificate that nobody here trusts is an error of every verb and
// scheme, which names the variable that would change that.
func TestADistrustedCertificateNamesWhatTrustsIt(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	host := server.Listener.Addr().String()
	database := speaksTLS(t, server.TLS.Certificates[0])
	probe(t, slots(world(t)), host, func(s *slot, place string) {
		want := "RESHELVE_TARGET_CA"
		switch {
		case strings.HasPrefix(place, "postgres:"):
			place, want = strings.Replace(place, host, database, 1)+"?sslmode=verify-full", "PGSSLROOTCERT"
		case s.takes == aRepository:
			place, want = strings.Replace(place, "http://", "https://", 1), "SSL_CERT_FILE"
		case strings.HasPrefix(place, "http://"):
			return
		case s.name == "--from-cluster":
			want = "RESHELVE_SOURCE_CA"
		}
		o := ended(t, s.line, place)
		if o.code == 0 || !strings.Contains(o.text, "certificate") || !strings.Contains(o.text, "→") || !strings.Contains(o.text, want) || o.took > 2*time.Second {
			t.Errorf("%s of %s: exit %d after %s\n%s", place, s.verb, o.code, o.took, o.text)
		}
	})
}

// speaksTLS answers as a PostgreSQL that offers TLS, with this certificate.
func speaksTLS(t *testing.T, certificate tls.Certificate) (host string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				var request [8]byte // SSLRequest: length and code
				if _, err := io.ReadFull(conn, request[:]); err != nil {
					return
				}
				if _, err := conn.Write([]byte("S")); err == nil {
					_ = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}).Handshake()
				}
			}()
		}
	}()
	return listener.Addr().String()
}

// TestATrustedCertificateIsTrustedThroughout: behind a proxy with a certificate of its own, and a token that it asks for, the
// movements of a store are listed.
func TestATrustedCertificateIsTrustedThroughout(t *testing.T) {
	served, stop := serving(t, filepath.Join(t.TempDir(), "data"), control.Allowed{})
	defer stop()
	behind, err := url.Parse(served)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("RESHELVE_TARGET_CA", ca)
	t.Setenv("RESHELVE_TARGET_BEARER", "secret")
	if o := ended(t, []string{"movement", "ls", "--at", "PLACE"}, server.URL); o.code != 0 {
		t.Errorf("exit %d\n%s", o.code, o.text)
	}
}
