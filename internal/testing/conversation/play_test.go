package conversation

import (
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
)

// parrot says everything twice, and does not like to be told so.
type parrot struct{}

func (parrot) Hear(line string, say func(string)) error {
	if line == "you repeat yourself" {
		return fault.WithNext(fault.New(fault.Refused, "I do not"), "say something else")
	}
	say(line)
	say(line)
	return nil
}

func TestWhatIsSaidStays(t *testing.T) {
	const script = "# a parrot\nhello\n\tan answer of before\n\nyou repeat yourself\n"
	const want = "# a parrot\nhello\n\thello\n\thello\n\nyou repeat yourself\n\trefused: I do not\n\t→ say something else\n"
	if got := answered(script, parrot{}); got != want {
		t.Errorf("it went so:\n%s", got)
	}
	if again := answered(want, parrot{}); again != want {
		t.Errorf("played again it went so:\n%s", again)
	}
}

func TestTheFirstDifferenceIsShown(t *testing.T) {
	if d := difference("a\nb\nc\n", "a\nx\nc\n"); !strings.Contains(d, "b") || !strings.Contains(d, "x") {
		t.Error(d)
	}
	if d := difference("", "a\nb\nc\nd\ne\nf\ng\nh"); !strings.Contains(d, "a") {
		t.Error(d)
	}
}
