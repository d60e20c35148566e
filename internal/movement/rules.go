package movement

// The words that several cells say.
const (
	nothingSwitched = "this movement switches nothing"
	retiring        = "what was left behind is being retired; nothing leads back any more"
	mendAndResume   = "mend the cause and resume it"
	isSwitched      = "the switch of readers and writers has begun, or is done; only reverse leads back"
)

// abortCell is abort, where it is not refused for the state itself: end says how it comes to
// its end.
func abortCell(end string) []Rule {
	return cell(Abort, when(HasClosed, no(retiring, end)), when(HasFlipped, no(isSwitched, "reverse it")), goes(Aborting))
}

// reverseCell is reverse; last is the answer once something has been switched.
func reverseCell(end string, last Rule) []Rule {
	return cell(Reverse,
		when(HasClosed, no(retiring, end)),
		when(FlipsNothing, never(nothingSwitched, "abort undoes everything")),
		when(HasFlipped, last),
		no("nothing has been switched yet", "abort undoes everything"))
}

func switchCell(rules ...Rule) []Rule {
	head := []Rule{when(FlipsNothing, never(nothingSwitched, "nothing needs to be done")), when(HasFlipped, nothing())}
	return cell(Switch, append(head, rules...)...)
}

func plannedRules() []Rule {
	not := no("it has not been started", "start it, or abort it")
	return row(Planned,
		cell(Start, goes(Running)), cell(Pause, not), cell(Resume, not), cell(Throttle, goes(Planned)),
		cell(Verify, not), cell(Repair, not), cell(Redrive, not), cell(Switch, not), cell(Reverse, not), cell(Finish, not),
		cell(Abort, goes(Aborting)))
}

func runningRules() []Rule {
	busy := no("it is at work", "wait until it is held or switched: status tells")
	return row(Running,
		cell(Start, nothing()),
		cell(Pause, when(HasSettled, no("all phases are done; the ledger is being settled", "watch it")), goes(Paused)),
		cell(Resume, nothing()),
		cell(Throttle, goes(Running)),
		cell(Verify, when(VerifyComes, no("it comes by itself", "watch it")), busy),
		cell(Repair, when(VerifyComes, no("verify has not said yet what is to be repaired", "wait until it is held or switched: status tells")), busy),
		cell(Redrive, busy),
		switchCell(no("it comes by itself", "watch it")),
		reverseCell("it ends by itself: watch it", goes(Reversing)),
		cell(Finish, when(FinishWasAsked, nothing()), no("it is at work, and finishes by itself unless the way back was to be kept", "watch it")),
		abortCell("it ends by itself: watch it"))
}

func pausedRules() []Rule {
	paused := no("it is paused", "resume it")
	return row(Paused,
		cell(Start, paused), cell(Pause, nothing()), cell(Resume, goes(Running)), cell(Throttle, goes(Paused)),
		cell(Verify, paused), cell(Repair, paused), cell(Redrive, paused),
		switchCell(paused), reverseCell("resume it", goes(Reversing)),
		cell(Finish, paused), abortCell("resume it"))
}

func heldRules() []Rule {
	closed := when(HasClosed, no(retiring, mendAndResume))
	half := when(FlipIsOpen, no("it stopped in the middle of the switch", "mend the cause and resume it, or reverse it"))
	early := when(CopyIsOpen, no("what is to be verified is not all there", "mend the cause and resume it; verify comes afterwards"))
	waits := when(AwaitsSwitch, no("it waits for the switch, as was asked", "switch it, or abort it"))
	return row(Held,
		cell(Start, waits, no("it is held", mendAndResume)),
		cell(Pause, nothing()),
		cell(Resume, waits, goes(Running)),
		cell(Throttle, goes(Held)),
		cell(Verify, closed, half, early, goes(Running)),
		cell(Repair, closed, half, early, goes(Running)),
		cell(Redrive, closed, half, goes(Running)),
		switchCell(when(AwaitsSwitch, goes(Running)),
			when(CauseIsList, no("it is held for what is listed", "mend what is listed, or accept it by finish")),
			no("it is held", "mend the cause and resume it; the switch comes by itself")),
		reverseCell(mendAndResume, goes(Reversing)),
		cell(Finish,
			when(HasSettled, goes(Running)), when(CauseIsList, goes(Running)), when(AwaitsSwitch, no("nothing has been switched yet", "switch it, or abort it")),
			no("what it is held for is no list that could be accepted", mendAndResume)),
		abortCell(mendAndResume))
}

func switchedRules() []Rule {
	return row(Switched,
		cell(Start, nothing()),
		cell(Pause, no("nothing is at work but what keeps the way back open", "finish it, or go back")),
		cell(Resume, nothing()),
		cell(Throttle, goes(Switched)),
		cell(Verify, goes(Running)), cell(Repair, goes(Running)), cell(Redrive, goes(Running)),
		switchCell(nothing()),
		reverseCell("finish it", goes(Reversing)),
		cell(Finish, goes(Running)),
		abortCell("finish it"))
}

func failedRules() []Rule {
	failed := no("a phase gave up", mendAndResume)
	return row(Failed,
		cell(Start, failed), cell(Pause, nothing()), cell(Resume, goes(Running)), cell(Throttle, goes(Failed)),
		cell(Verify, failed), cell(Repair, failed),
		cell(Redrive, when(HasClosed, no(retiring, mendAndResume)),
			when(FlipIsOpen, no("it stopped in the middle of the switch", "mend the cause and resume it, or reverse it")), goes(Running)),
		switchCell(failed), reverseCell(mendAndResume, goes(Reversing)),
		cell(Finish, failed), abortCell(mendAndResume))
}

// undoingRules are those of a state that goes back, which own has led to.
func undoingRules(s State, own Verb, reason string) []Rule {
	return all(s, own, no(reason, "watch it; plan another one when it has ended"))
}

func endedRules(s State, own Verb) []Rule {
	rules := all(s, own, no("it is "+string(s), "plan another one"))
	if s != Finished {
		return rules
	}
	for i := range rules {
		if rules[i].Verb == Abort {
			rules[i].Reason = "it is finished: what it made stays"
			rules[i].Next = "delete that yourself; a movement that is started with --keep-way-back can be aborted until finish"
		}
	}
	return rules
}

// all answers every verb but own alike.
func all(s State, own Verb, rule Rule) []Rule {
	var cells [][]Rule
	for _, v := range Verbs {
		if v == own {
			cells = append(cells, cell(v, nothing()))
			continue
		}
		cells = append(cells, cell(v, rule))
	}
	return row(s, cells...)
}
