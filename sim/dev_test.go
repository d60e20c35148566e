package sim_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/reshelve/reshelve/sim"
)

func TestDev(t *testing.T) {
	if os.Getenv("SIM_DEV") == "" {
		t.Skip()
	}
	cpu := func() int64 {
		var u syscall.Rusage
		syscall.Getrusage(0, &u)
		return u.Utime.Nano() / 1e6
	}
	first := number("SIM_SEED", 1)
	for seed := first; seed < first+number("SIM_SEEDS", 50); seed++ {
		at := cpu()
		s := sim.DrawShelves(uint64(seed))
		if file := os.Getenv("SIM_SCRIPT"); file != "" {
			text, _ := os.ReadFile(file)
			s, _ = sim.Parse(string(text))
		}
		if os.Getenv("SIM_SHOW") != "" {
			fmt.Println(s)
		}
		r := sim.Run(t, nil, s, os.Getenv("SIM_SHOW") != "")
		for _, line := range r.Log {
			fmt.Println(line)
		}
		n := 0
		for _, c := range r.Calls {
			n += c
		}
		fmt.Println(seed, cpu()-at, "ms", r.Took.Round(1e9), n, r.Ends, r.Unanswered)
		for i, v := range r.Violations {
			if i < 4 {
				fmt.Printf("   %.700s\n", v)
			}
		}
	}
}
