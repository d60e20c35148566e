package fault

// Kind says what sort of thing went wrong, and so what is done about it.
// The zero Kind is Bug: an error that nobody has classified is ours.
type Kind int

const (
	// Bug is a broken invariant: our mistake.
	Bug Kind = iota
	// Usage is a wrong call: unknown flag, malformed position.
	Usage
	// NotFound is something named that does not exist.
	NotFound
	// Corrupt is damaged data: a failed checksum, an impossible length.
	Corrupt
	// Refused is the user's mistake or something that is not supported.
	Refused
	// Differences is a verification that found some.
	Differences
	// Unavailable is the other side failing in a way that may pass.
	Unavailable
	// Transient is a failure worth an immediate retry.
	Transient
	// Unauthorised is the other side refusing our credentials.
	Unauthorised
	// Limit is a limit of ours or of the other side that was reached.
	Limit
	// Conflict is a concurrent change that won.
	Conflict
	// Stale is a request made with an outdated epoch or version.
	Stale
	// LostLease is a lease that another holder has now.
	LostLease
	// Held is a movement that stopped itself and needs an operator.
	Held
	// Failures is work that ended, but with single failures in it.
	Failures
	// Interrupted is the user's wish to stop.
	Interrupted
)

// Meaning is one row of the table that maps kinds to the outside world.
type Meaning struct {
	Kind Kind
	Name string // stable name, used in JSON
	Exit int    // exit code of the process
	HTTP int    // HTTP status
	Says string // what it means, for the documentation
}

// Kinds is the one table of kinds, in the order of the constants.
var Kinds = []Meaning{
	{Bug, "bug", 1, 500, "a fault of ours"},
	{Usage, "usage", 2, 400, "wrong usage"},
	{NotFound, "not-found", 3, 404, "not found"},
	{Corrupt, "damaged", 4, 500, "damaged data"},
	{Refused, "refused", 5, 400, "refused or not supported"},
	{Differences, "differences", 6, 409, "differences found"},
	{Unavailable, "unavailable", 7, 503, "the other side failed"},
	{Transient, "transient", 7, 503, "the other side failed"},
	{Unauthorised, "unauthorised", 7, 403, "the other side failed"},
	{Limit, "limit", 7, 429, "the other side failed"},
	{Conflict, "conflict", 8, 409, "conflict"},
	{Stale, "stale", 8, 409, "conflict"},
	{LostLease, "lost-lease", 8, 409, "conflict"},
	{Held, "held", 9, 409, "held"},
	{Failures, "failures", 10, 500, "done with failures"},
	{Interrupted, "interrupted", 130, 499, "interrupted"},
}

// String is the kind's stable name.
func (k Kind) String() string { return k.meaning().Name }

// ExitCode is the exit code of a process that ends with this kind.
func (k Kind) ExitCode() int { return k.meaning().Exit }

// HTTPStatus is the status of a response that carries this kind.
func (k Kind) HTTPStatus() int { return k.meaning().HTTP }

func (k Kind) meaning() Meaning {
	if k < 0 || int(k) >= len(Kinds) {
		return Kinds[Bug]
	}
	return Kinds[k]
}
