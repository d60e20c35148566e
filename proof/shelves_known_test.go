package proof

import "testing"

// TestWhatASplitMustKeep: what is asked of whoever splits shards while they serve.
//
// Not here, because there is nothing of the kind: replicas that are made of a shard right
// after its split, snapshots that are taken of the store meanwhile, and routing by the rest of
// a division, which the ranges took the place of.
func TestWhatASplitMustKeep(t *testing.T) {
	for _, k := range []known{
		{name: "1 hashes are those of the servers, surrogates too", held: []string{"routing.TestHashesAreThoseOfTheServers"}},
		{name: "2 the new owner got each key from its old one", held: []string{"transfer.TestLawsOfReshapings", "placement.TestPartsAreTheKeysOfTheShard"}},
		{name: "3 ranges cover all keys, each once", held: []string{"placement.TestEveryKeyHasOneOwner", "placement.TestPartsAreTheKeysOfTheShard"}},
		{name: "4 a range that is too narrow is refused", held: []string{"placement.TestWhatCannotBePlanned"}},
		{name: "5 a number is not given twice, and no epoch with it", held: []string{"transfer.TestLawsOfReshapings"}},
		{name: "6 every edge that is not open is refused", held: []string{"transfer.TestEveryEdge"}},
		{name: "7 the source finishes last", held: []string{"transfer.TestEveryEdge", "transfer.TestEveryStateOfTheModel"}},
		{name: "8 a second reshaping is refused with the first's id", held: []string{"reshard.TestTheWayBackLosesNothing", "gateway.TestASplitByHTTP"}},
		{name: "9 who answers in which state is a table", held: []string{"transfer.TestTheTableIsPrinted"}},
		{name: "10 old placements and new ones are answered right or told", held: []string{"store.TestRoutersWithOldPlacementsAreAnsweredRight", "transfer.TestEachBugBreaksALaw"}},
		{name: "11 a bulk that straddles the hand-off keeps its order, and each item its error", held: []string{"store.TestWhatStraddlesAHandOffIsAnsweredAsElsewhere"}},
		{name: "12 who comes while the target opens waits, and is answered", held: []string{"shard/embedded.TestConformance", "store.TestClientsSeeNothingOfSplitsAndMerges"}},
		{name: "13 a search loses nothing and finds nothing twice", held: []string{"store.TestClientsSeeNothingOfSplitsAndMerges", "gateway.TestASplitByHTTP", "proof.TestKillsWhileShardsMove"}},
		{name: "14 a refresh is released, never hung", held: []string{"store.TestWhoWaitsForARefreshIsToldByTheHandOff"}},
		{name: "15 what was written is read after a refresh, by an old placement too", held: []string{"store.TestRoutersWithOldPlacementsAreAnsweredRight"}},
		{name: "16 points in time and scrolls go on over one split and two", held: []string{"store.TestPointsAndScrollsGoOnOverSplits"}},
		{name: "17 updates and deletes race the hand-off", held: []string{"store.TestClientsSeeNothingOfSplitsAndMerges", "proof.TestKillsWhileShardsMove"}},
		{name: "18 what was deleted before a split stays deleted", held: []string{"shard/embedded.TestConformance", "shard/embedded.TestInheritedTombstonesGo", "proof.TestKillsWhileShardsMove"}},
		{name: "19 routing values, and children with their parents", held: []string{"shard/embedded.TestStage", "proof.TestKillsWhileShardsMove"}},
		{name: "20 kill -9 at any time", held: []string{"proof.TestKillsWhileShardsMove", "shard/embedded.TestCrashOfStage", "store.TestAHandOffHappensWhollyOrNotAtAll"}},
		{name: "21 a hand-off that is told twice, or late", held: []string{"transfer.TestEveryEdge", "transfer.TestLawsOfReshapings"}},
		{name: "22 what comes from an old term is refused", held: []string{"transfer.TestEveryEdge", "shard/embedded.TestConformance"}},
		{name: "23 who comes late finds no record, and changes nothing", held: []string{"transfer.TestConversations"}},
		{name: "24 the index is deleted in each state", held: []string{"store.TestAnIndexIsDeletedInEachStateOfAHandOff"}},
		{name: "25 an abort leaves nothing", held: []string{"reshard.TestAbortLeavesNothing", "shard/embedded.TestConformance"}},
		{name: "26 the pause is measured", held: []string{"store.TestAHandOffTellsItsPositionsAndPause"}},
		{name: "30 clients over splits, merges, ways back and kills see one order", held: []string{"proof.TestKillsWhileShardsMove"}},
	} {
		t.Run(k.name, k.check)
	}
}

// TestWhatSplitsHaveLost: what went wrong where others move shards, by what it was.
func TestWhatSplitsHaveLost(t *testing.T) {
	for _, k := range []known{
		{name: "a write is taken by the old owner after the switch", held: []string{"transfer.TestEachBugBreaksALaw", "proof.TestKillsWhileShardsMove"}},
		{name: "the switch comes before all is there", held: []string{"transfer.TestEveryEdge", "transfer.TestEachBugBreaksALaw"}},
		{name: "half of the switch has happened", held: []string{"store.TestAHandOffHappensWhollyOrNotAtAll"}},
		{name: "who waits is never let go", held: []string{"store.TestAHandOffOverItsBudgetChangesNothing", "shard/embedded.TestConformance"}},
		{name: "the way back loses what was written since", held: []string{"reshard.TestTheWayBackLosesNothing", "proof.TestKillsWhileShardsMove"}},
		{name: "an update reads the old shard and does nothing", held: []string{"store.TestClientsSeeNothingOfSplitsAndMerges"}},
		{name: "a get of the old shard says that nothing is there", held: []string{"store.TestRoutersWithOldPlacementsAreAnsweredRight", "reshard.TestSplitAndMergeWhileClientsWork"}},
		{name: "a router that is several splits behind", held: []string{"store.TestRoutersWithOldPlacementsAreAnsweredRight"}},
		{name: "the new shard begins empty", held: []string{"shard/embedded.TestCrashOfStage", "shard/embedded.TestConformance"}},
		{name: "a delete is not applied", held: []string{"proof.TestKillsWhileShardsMove", "shard/embedded.TestStage"}},
		{name: "a tombstone is forgotten in one half", held: []string{"shard/embedded.TestInheritedTombstonesGo", "transfer.TestEachBugBreaksALaw"}},
		{name: "a crash between decided and done", held: []string{"store.TestAHandOffHappensWhollyOrNotAtAll", "shard/embedded.TestCrashOfStage"}},
		{name: "a merge loses rows", held: []string{"shard/embedded.TestStage", "proof.TestKillsWhileShardsMove"}},
		{name: "work behind the scenes goes on with what was", held: []string{"shard/embedded.TestStage"}},
		{name: "no epoch is asked for reading", held: []string{"shard/embedded.TestConformance", "transfer.TestEachBugBreaksALaw"}},
		{name: "an abort that never ends", held: []string{"proof.TestKillsWhileShardsMove"}},
		{name: "a change of the number of shards is applied twice", held: []string{"transfer.TestLawsOfReshapings"}},
		{name: "what was made stays behind", held: []string{"reshard.TestAbortLeavesNothing", "proof.TestKillsWhileShardsMove"}},
	} {
		t.Run(k.name, k.check)
	}
}
