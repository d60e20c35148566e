package transfer

// Happening is what can happen to a reshaping.
type Happening string

// The happenings. The first eight are told by who does the work; the others are wishes.
const (
	WasCloned   Happening = "cloned"        // Group's targets have all up to At, and follow
	Verified    Happening = "verified"      // Run of comparing in CLONE, pinned at At: Differences were found
	WasHanded   Happening = "handed-off"    // up to H, which is At, by the placement of Version
	Opened      Happening = "opened"        // target Shard answers, with all up to At
	VerifiedAtH Happening = "verified-at-h" // Run of comparing at H, which is At: Differences were found
	WasShed     Happening = "shed"          // target Shard holds nothing that is not its own
	Retired     Happening = "retired"       // source Shard holds nothing that is a target's
	WasDropped  Happening = "dropped"       // nothing of Group's targets is left
	Finish      Happening = "finish"        // the way back is closed
	Abort       Happening = "abort"         // all goes back that was not handed off
	Reverse     Happening = "reverse"       // lead back what was handed off, drop what was not
)

// Happenings are all of them.
var Happenings = []Happening{WasCloned, Verified, WasHanded, Opened, VerifiedAtH, WasShed, Retired, WasDropped, Finish, Abort, Reverse}

// Event is one happening. What it does not need is zero.
type Event struct {
	Happened    Happening
	Group       int        // its place in Record.Groups
	Shard       uint32     // with Opened, WasShed and Retired
	At          []Position // one for each source of the group, in their order
	Run         int        // with Verified and VerifiedAtH: one more than the newest run that is recorded
	Differences int64      // with Verified and VerifiedAtH
	Version     int64      // with WasHanded: of the placement that flips the ranges; Advance fills it in
}

// ofGroup tells whether events of this happening concern one group.
func (h Happening) ofGroup() bool { return h != Finish && h != Abort && h != Reverse }

// placed tells whether they quote positions.
func (h Happening) placed() bool {
	return h == WasCloned || h == Verified || h == WasHanded || h == Opened || h == VerifiedAtH
}
