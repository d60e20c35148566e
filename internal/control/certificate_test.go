package control_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
)

// identity is a certificate of a client, and the files that hold it and its key.
func identity(t *testing.T, dir string) (trusted *x509.CertPool, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "reshelve"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "own.pem"), filepath.Join(dir, "own.key")
	writePEM(t, certFile, "CERTIFICATE", der)
	writePEM(t, keyFile, "PRIVATE KEY", secret)
	trusted = x509.NewCertPool()
	text, _ := os.ReadFile(certFile)
	trusted.AppendCertsFromPEM(text)
	return trusted, certFile, keyFile
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCertificates of both sides: a server that nobody trusts is not talked to, and one that
// asks who we are is told.
func TestCertificates(t *testing.T) {
	dir := t.TempDir()
	trusted, cert, key := identity(t, dir)
	var asked atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	server.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: trusted, MinVersion: tls.VersionTLS12}
	server.Config.ErrorLog = nil
	server.StartTLS()
	defer server.Close()
	ca := filepath.Join(dir, "ca.pem")
	writePEM(t, ca, "CERTIFICATE", server.Certificate().Raw)
	look := func() error {
		_, err := control.New(control.Wiring{}).Movements(t.Context(), server.URL)
		return err
	}
	t.Setenv("RESHELVE_TARGET_CERT", cert)
	t.Setenv("RESHELVE_TARGET_KEY", key)
	if err := look(); !fault.Is(err, fault.Refused) || asked.Load() != 0 {
		t.Errorf("without its certificate: %v", err)
	}
	t.Setenv("RESHELVE_TARGET_CA", ca)
	if err := look(); !fault.Is(err, fault.Unauthorised) || asked.Load() == 0 { // it has heard us
		t.Errorf("with it: %v", err)
	}
	t.Setenv("RESHELVE_TARGET_KEY", "")
	if err := look(); !fault.Is(err, fault.Usage) {
		t.Errorf("without our key: %v", err)
	}
}
