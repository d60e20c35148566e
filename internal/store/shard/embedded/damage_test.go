package embedded

import (
	"errors"
	"testing"
)

// TestDamageIsToldInPrintableText: Pebble tells keys as they are, and a trace of its functions below.
func TestDamageIsToldInPrintableText(t *testing.T) {
	cause := errors.New("file 000006: key c\x00\xff\u2028 é: checksum\n<corruption detail carrier>\n  | trace")
	err := damage{cause}
	if want := `file 000006: key c\x00\xff\xe2\x80\xa8 é: checksum`; err.Error() != want || !errors.Is(err, cause) {
		t.Errorf("%q", err.Error())
	}
}
