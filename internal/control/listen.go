package control

import (
	"net"
	"net/netip"
	"strconv"

	"github.com/reshelve/reshelve/internal/fault"
)

// The addresses that a server of HTTP and a worker listen on when they are not told, or as an example.
const (
	serveListen  = "127.0.0.1:9200"
	workerListen = "127.0.0.1:8080"
)

// splitListen takes the text of --listen apart; the refusal shows an example.
func splitListen(text, example string) (host, port string, err error) {
	host, port, err = net.SplitHostPort(text)
	if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil {
		err := fault.New(fault.Usage, "%q is not an address to listen on", text)
		return "", "", fault.WithNext(err, "write HOST:PORT, for example %s", example)
	}
	return host, port, nil
}

// loopbackOf is the address of a host that only processes of this machine can reach; false for any other
// host. Of all names, only localhost counts: what other names lead to can change.
func loopbackOf(host string) (netip.Addr, bool) {
	if host == "localhost" {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), true
	}
	address, err := netip.ParseAddr(host)
	address = address.Unmap()
	return address, err == nil && address.IsLoopback()
}

// loopback is the address that a store listens on, which only this machine can reach.
func loopback(listen string) (string, error) {
	if listen == "" {
		listen = serveListen
	}
	host, port, err := splitListen(listen, serveListen)
	if err != nil {
		return "", err
	}
	address, ok := loopbackOf(host)
	if !ok {
		err := fault.New(fault.Refused, "%q is reachable from other machines, and this version has no authentication", listen)
		return "", fault.WithNext(err, "listen on 127.0.0.1 or ::1, and put a proxy that authenticates in front of it")
	}
	return net.JoinHostPort(address.String(), port), nil
}
