// Package conversation plays texts against a machine, and compares what it answers: the tests of
// pure machines are files that people read.
//
//	# a comment                        stays as it is
//	split 0 into 2                     said: what follows is the answer
//		do: make clone of shard 0      answered, behind a tab
//
// Invariants:
//
//  1. What is said is never changed, and answers are never read: with -update the file is written
//     again with the answers that are given now.
//  2. An error is an answer, by its kind, its text and its next action.
//
// Absent on purpose: any word of what is said; each machine has its own.
package conversation
