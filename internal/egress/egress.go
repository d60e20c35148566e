package egress

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"

	"github.com/reshelve/reshelve/internal/fault"
)

// metadata are addresses at which clouds hand out credentials, and which are not link-local.
var metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"),   // Amazon, "Instance metadata service", IPv6
	netip.MustParseAddr("100.100.100.200"), // Alibaba, "Instance metadata"
	netip.MustParseAddr("168.63.129.16"),   // Azure, "What is IP address 168.63.129.16"
}

// Dial makes connections as d does, to addresses that may be meant. Wary: somebody else than the
// operator has named the host, or what leads there.
func Dial(d net.Dialer, wary bool) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		if _, err := netip.ParseAddr(host); err == nil { // no name, and so nothing that changes
			return d.DialContext(ctx, network, address)
		}
		checked := d // one for each connection: it knows the name
		checked.Control = func(_, dialled string, _ syscall.RawConn) error { return check(host, dialled, wary) }
		return checked.DialContext(ctx, network, address)
	}
}

// check refuses an address that a name leads to.
func check(host, dialled string, wary bool) error {
	at, err := netip.ParseAddrPort(dialled)
	if err != nil {
		return fault.New(fault.Refused, "%s leads to %q, which is not an address", host, dialled)
	}
	address, what := at.Addr().WithZone("").Unmap(), ""
	switch {
	case address.IsLinkLocalUnicast(), slices.Contains(metadata, address):
		what = "where clouds give machines their credentials"
	case address.IsUnspecified(), address.IsMulticast():
		what = "which is no host"
	case wary && address.IsLoopback() && !isLocalhost(host):
		what = "which is this machine"
	}
	if what == "" {
		return nil
	}
	err = fault.New(fault.Refused, "the name %s leads to %s, %s", host, address, what)
	return fault.WithNext(err, "if that is meant, write the address in place of the name")
}

func isLocalhost(host string) bool {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}
