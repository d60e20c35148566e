package egress_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/egress"
	"github.com/reshelve/reshelve/internal/egress/egresstest"
	"github.com/reshelve/reshelve/internal/fault"
)

// TestAddressesAreCheckedWhenTheyAreDialled: after the name was resolved, whatever it was before.
func TestAddressesAreCheckedWhenTheyAreDialled(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	for _, tc := range []struct {
		host, leads string
		wary        bool
		says        string // "": it is reached
	}{
		{"backups.example", "127.0.0.1", false, ""},
		{"backups.example", "127.0.0.1", true, "this machine"},
		{"backups.example", "::1", true, "this machine"},
		{"localhost", "127.0.0.1", true, ""},
		{"127.0.0.1", "127.0.0.1", true, ""},
		{"backups.example", "169.254.169.254", false, "credentials"},
		{"backups.example", "169.254.169.254", true, "credentials"},
		{"backups.example", "::ffff:169.254.169.254", true, "credentials"},
		{"backups.example", "fe80::1", false, "credentials"},
		{"backups.example", "fd00:ec2::254", false, "credentials"},
		{"backups.example", "100.100.100.200", false, "credentials"},
		{"backups.example", "168.63.129.16", true, "credentials"},
		{"localhost.evil.example", "127.0.0.1", true, "this machine"},
		{"backups.example", "0.0.0.0", true, "no host"},
		{"backups.example", "::", true, "no host"},
	} {
		dial := egress.Dial(net.Dialer{Resolver: egresstest.Names(t, tc.leads), Timeout: 5 * time.Second}, tc.wary)
		conn, err := dial(t.Context(), "tcp", net.JoinHostPort(tc.host, port))
		if err == nil {
			conn.Close()
		}
		if tc.says == "" && err != nil || tc.says != "" && (!fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), tc.says) || fault.Next(err) == "") {
			t.Errorf("%s that leads to %s, wary %v: %v", tc.host, tc.leads, tc.wary, err)
		}
	}
}
