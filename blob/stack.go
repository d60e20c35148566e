package blob

// StackPolicy chooses the decorators of [Stack]. The zero value is the usual
// choice.
type StackPolicy struct {
	Retry     RetryPolicy
	ReadAhead ReadAheadPolicy
	KeepSpans bool // the meter remembers what was read; see NewMeter
}

// Local is implemented by the adapters of stores on this machine, which need
// neither retries nor read-ahead: the kernel reads ahead by itself.
type Local interface{ Local() }

// Stack puts the decorators around an adapter, in the order of the package
// comment, and returns the outermost one and the meter within.
func Stack(b Bucket, policy StackPolicy) (Bucket, *Meter) {
	meter := NewMeter(b, policy.KeepSpans)
	if _, ok := b.(Local); ok {
		return meter, meter
	}
	return ReadAhead(Retry(meter, policy.Retry), policy.ReadAhead), meter
}
