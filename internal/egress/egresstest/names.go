// Package egresstest is a DNS server within the process of a test that resolves every name to the address that
// the test wants, as an attacker's does (DNS rebinding).
package egresstest

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"testing"
)

// Names is a resolver for which every name leads to one address: an answer of DNS (RFC 1035 §4), with
// the question as it was asked.
func Names(t testing.TB, address string) *net.Resolver {
	t.Helper()
	return resolver(t, netip.MustParseAddr(address))
}

// NoNames is a resolver whose server says of every name that there is none (NXDOMAIN).
func NoNames(t testing.TB) *net.Resolver {
	t.Helper()
	return resolver(t, netip.Addr{})
}

// resolver asks a server that gives one address, or, when that is the zero one, knows no name.
func resolver(t testing.TB, to netip.Addr) *net.Resolver {
	t.Helper()
	conn, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		for packet := make([]byte, 1500); ; {
			n, from, err := conn.ReadFrom(packet)
			if err != nil {
				return
			}
			end := 12
			for packet[end] != 0 {
				end += int(packet[end]) + 1
			}
			end += 5
			asked := binary.BigEndian.Uint16(packet[end-4:])
			answer := append([]byte{}, packet[:min(n, end)]...)
			binary.BigEndian.PutUint16(answer[2:], 0x8180)
			copy(answer[6:12], []byte{0, 0, 0, 0, 0, 0})
			if !to.IsValid() {
				answer[3] |= 3
			} else if raw := to.AsSlice(); (asked == 1) == to.Is4() {
				answer[7] = 1
				answer = append(answer, 0xc0, 12)
				answer = binary.BigEndian.AppendUint16(answer, asked)
				answer = append(answer, 0, 1, 0, 0, 0, 0)
				answer = append(binary.BigEndian.AppendUint16(answer, uint16(len(raw))), raw...)
			}
			_, _ = conn.WriteTo(answer, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// Nowhere is how a resolver reaches its server that knows no name.
func Nowhere(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("there is no server for names")
}
