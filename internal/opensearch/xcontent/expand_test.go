package xcontent_test

import (
	"bytes"
	"compress/flate"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/reshelve/reshelve/internal/fault"
)

func deflated(t testing.TB, plain []byte) []byte {
	out := bytes.NewBufferString("DFL\x00")
	w, err := flate.NewWriter(out, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = w.Write(plain); err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zstandard(t testing.TB, plain []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(plain, []byte("ZSTD\x00"))
}

func TestExpand(t *testing.T) {
	long := strings.Repeat("{\"shelf\": 12}\n", 10_000)
	for _, tc := range []struct{ name, data, want string }{
		{"nothing", "", ""},
		{"plain", "{\"a\":1}", "{\"a\":1}"},
		{"plain that looks a little like it", "ZV\x02", "ZV\x02"},
		{"LZF raw", "ZV\x00\x00\x02{}", "{}"},
		{"LZF literals", "ZV\x01\x00\x03\x00\x02\x01{}", "{}"},
		{"LZF match", "ZV\x01\x00\x04\x00\x05\x00a\x40\x00", "aaaaa"},
		{"LZF long match", "ZV\x01\x00\x05\x01\x09\x00a\xe0\xff\x00", strings.Repeat("a", 265)},
		{"LZF chunks", "ZV\x00\x00\x01{ZV\x01\x00\x02\x00\x01\x00}", "{}"},
		{"DEFLATE", string(deflated(t, []byte(long))), long},
		{"DEFLATE of nothing", string(deflated(t, nil)), ""},
		{"zstd", string(zstandard(t, []byte(long))), long},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := expand([]byte(tc.data))
			if err != nil {
				t.Fatal(err)
			}
			sameText(t, got, []byte(tc.want))
		})
	}
}

func TestDamagedCompression(t *testing.T) {
	plain := []byte(strings.Repeat("{\"shelf\": 12}\n", 100))
	for _, tc := range []struct{ name, data, says string }{
		{"LZF chunk header cut off", "ZV\x01\x00\x04\x00", "LZF: byte 0: a chunk is cut off"},
		{"LZF short", "ZV\x00", "LZF: byte 0: no chunk begins here"},
		{"LZF chunk cut off", "ZV\x00\x00\x02{", "LZF: byte 0: a chunk of 2 bytes is cut off"},
		{"LZF tail", "ZV\x00\x00\x02{}x", "LZF: byte 7: no chunk begins here"},
		{"LZF length wrong", "ZV\x01\x00\x03\x00\x03\x01{}", "LZF: byte 0: a chunk does not expand to its 3 bytes"},
		{"LZF before the beginning", "ZV\x01\x00\x04\x00\x05\x00a\x40\x01", "does not expand to its 5 bytes"},
		{"LZF into the chunk before", "ZV\x00\x00\x01aZV\x01\x00\x04\x00\x05\x00b\x40\x01", "does not expand to its 5 bytes"},
		{"LZF literals cut off", "ZV\x01\x00\x02\x00\x05\x05a", "does not expand to its 5 bytes"},
		{"LZF match cut off", "ZV\x01\x00\x03\x00\x05\x00a\x40", "does not expand to its 5 bytes"},
		{"LZF long match cut off", "ZV\x01\x00\x03\x00\x05\x00a\xe0", "does not expand to its 5 bytes"},
		{"DEFLATE without content", "DFL\x00", "DEFLATE: unexpected EOF"},
		{"DEFLATE cut off", string(cut(deflated(t, plain))), "DEFLATE: unexpected EOF"},
		{"DEFLATE tail", string(deflated(t, plain)) + "tail", "4 bytes follow the compressed data"},
		{"DEFLATE garbage", "DFL\x00\xff\xff\xff", "DEFLATE: flate: corrupt input"},
		{"zstd without content", "ZSTD\x00", "zstd: no frame follows the header"},
		{"zstd cut off", string(cut(zstandard(t, plain))), "zstd: unexpected EOF"},
		{"zstd tail", string(zstandard(t, plain)) + "tail", "zstd: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := expand([]byte(tc.data))
			if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%v: %v (%d bytes)\nwant %s", fault.KindOf(err), err, len(got), tc.says)
			}
		})
	}
}

func cut(b []byte) []byte { return b[:len(b)-5] }
