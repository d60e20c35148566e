package proof

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestWhatASplitMustKeep: the 30 things that are asked of whoever splits shards while they serve.
func TestWhatASplitMustKeep(t *testing.T) {
	complete(t, "", 30, conformance)
	for _, k := range conformance {
		t.Run(k.name, k.check)
	}
}

var conformance = []known{
	{name: "1 hashes are those of the servers, surrogates too", held: []string{"internal/store/routing.TestHashesAreThoseOfTheServers"}},
	{name: "2 the new owner got each key from its old one", held: []string{"internal/movement/transfer.TestLawsOfReshapings", "internal/store/placement.TestPartsAreTheKeysOfTheShard"}},
	{name: "3 ranges cover all keys, each once", held: []string{"internal/store/placement.TestEveryKeyHasOneOwner", "internal/store/placement.TestPartsAreTheKeysOfTheShard"}},
	{name: "4 a range that is too narrow is refused", held: []string{"internal/store/placement.TestWhatCannotBePlanned"}},
	{name: "5 a number is not given twice, and no epoch with it", held: []string{"internal/movement/transfer.TestLawsOfReshapings"}},
	{name: "6 every edge that is not open is refused", held: []string{"internal/movement/transfer.TestEveryEdge"}},
	{name: "7 the source finishes last", held: []string{"internal/movement/transfer.TestEveryEdge", "internal/movement/transfer.TestEveryStateOfTheModel"}},
	{name: "8 a second reshaping is refused with the first's id", held: []string{"internal/movement/reshard.TestTheWayBackLosesNothing", "internal/gateway.TestASplitByHTTP", "internal/store.TestOfTwoHandOffsOfOneShardOneHappens"}},
	{name: "9 who answers in which state is a table", held: []string{"internal/movement/transfer.TestTheTableIsPrinted"}},
	{name: "10 old placements and new ones are answered right or told", held: []string{"internal/store.TestRoutersWithOldPlacementsAreAnsweredRight", "internal/movement/transfer.TestEachBugBreaksALaw"}},
	{name: "11 a bulk that straddles the hand-off keeps its order, and each item its error", held: []string{"internal/store.TestWhatStraddlesAHandOffIsAnsweredAsElsewhere", "internal/store.TestHalfOfABulkFails"}},
	{name: "12 who comes while the target opens waits, and is answered", held: []string{"internal/store/shard/embedded.TestConformance", "internal/store.TestClientsSeeNothingOfSplitsAndMerges"}},
	{name: "13 a search loses nothing and finds nothing twice", held: []string{"internal/store.TestClientsSeeNothingOfSplitsAndMerges", "internal/gateway.TestTwins", "internal/gateway.TestASplitByHTTP", "internal/testing/proof.TestKillsWhileShardsMove"}},
	{name: "14 a refresh is released, never hung", held: []string{"internal/store.TestWhoWaitsForARefreshIsToldByTheHandOff"}},
	{name: "15 what was written is read after a refresh, by an old placement too", held: []string{"internal/store.TestRoutersWithOldPlacementsAreAnsweredRight"}},
	{name: "16 points in time and scrolls go on over one split and two", held: []string{"internal/store.TestPointsAndScrollsGoOnOverSplits", "internal/gateway.TestTwins", "internal/movement/transfer.TestEachBugBreaksALaw"}},
	{name: "17 updates and deletes race the hand-off", held: []string{"internal/store.TestClientsSeeNothingOfSplitsAndMerges", "internal/testing/proof.TestKillsWhileShardsMove"}},
	{name: "18 what was deleted before a split stays deleted", held: []string{"internal/store/shard/embedded.TestConformance", "internal/store/shard/embedded.TestInheritedTombstonesGo", "internal/testing/proof.TestKillsWhileShardsMove"}},
	{name: "19 routing values, and children with their parents", held: []string{"internal/store/shard/embedded.TestStage", "internal/store.TestOneIDUnderTwoRoutingsStaysTwoDocuments", "internal/gateway.TestASplitChangesNoAnswer"}},
	{name: "20 kill -9 at any time", held: []string{"internal/testing/proof.TestKillsWhileShardsMove", "internal/testing/proof.TestCells", "internal/store/shard/embedded.TestCrashOfStage", "internal/store.TestAHandOffHappensWhollyOrNotAtAll"}},
	{name: "21 a hand-off that is told twice, or late", held: []string{"internal/movement/transfer.TestEveryEdge", "internal/movement/transfer.TestLawsOfReshapings", "internal/store.TestAHandOffThatIsToldTwiceHappensOnce"}},
	{name: "22 what comes from an old term is refused", held: []string{"internal/movement/transfer.TestEveryEdge", "internal/store/shard/embedded.TestConformance"}},
	{name: "23 who comes late finds no record, and changes nothing", held: []string{"internal/movement/transfer.TestConversations"}},
	{name: "24 the index is deleted in each state", held: []string{"internal/store.TestAnIndexIsDeletedInEachStateOfAHandOff", "internal/movement/reshard.TestADeletedIndexEndsItsMovement"}},
	{name: "25 an abort leaves nothing", held: []string{"internal/movement/reshard.TestAnAbortLeavesTheShardAsItWas", "internal/movement/reshard.TestAbortLeavesNothing", "internal/store/shard/embedded.TestConformance"}},
	{name: "26 the pause is measured", held: []string{"internal/store.TestAHandOffTellsItsPositionsAndPause", "internal/movement/reshard.TestSplitAndMergeWhileClientsWork"}},
	{name: "27 a split takes little disk and memory", held: []string{"internal/testing/proof.TestASplitTakesLittle"}},
	{name: "28 a new shard is copied or closed straight after its split", held: []string{"internal/store/shard/embedded.TestConformance", "internal/store/shard/embedded.TestCrashOfStage", "internal/store.TestAShardGivesAndTakesInTurn"}, try: noReplicas,
		never: "nothing is copied from a shard: there are no replicas, and ranges change nodes with the ring alone. That one is opened, split or joined again at once, and that its changes begin where it does, is tried"},
	{name: "29 a snapshot is taken meanwhile", held: []string{"internal/store/shard/embedded.TestCrashOfStage"}, try: noSnapshots,
		never: "no snapshot is taken of a store. What a copy of its folder holds at any instant is what a crash leaves, which is tried"},
	{name: "30 clients over splits, merges, ways back and kills see one order", held: []string{"internal/testing/proof.TestKillsWhileShardsMove", "internal/testing/proof.TestHistoriesWhileShardsMove"}},
}

// TestWhatSplitsHaveLost: the 46 historical bugs of who moves or reshapes live data, by number.
// Those of S7 to S18 that are about copies into another cluster are of package migrate.
func TestWhatSplitsHaveLost(t *testing.T) {
	complete(t, "S", 46, historical)
	for _, k := range historical {
		t.Run(k.name, k.check)
	}
}

var historical = []known{
	{name: "S1 a write is taken by the old owner after the switch", held: []string{"internal/movement/transfer.TestEachBugBreaksALaw", "internal/store/shard/embedded.TestConformance", "internal/testing/proof.TestKillsWhileShardsMove"}},
	{name: "S2 readers are switched before writers were stopped", held: []string{"internal/store.TestAHandOffHappensWhollyOrNotAtAll", "internal/movement/migrate.TestAliasesComeLast"}},
	{name: "S3 half of a way back has happened", held: []string{"internal/store.TestAHandOffHappensWhollyOrNotAtAll", "internal/movement/transfer.TestEveryStateOfTheModel", "internal/movement/reshard.TestTheWayBackLosesNothing"}},
	{name: "S4 the switch comes before all is there", held: []string{"internal/movement/reshard.TestADifferenceInCloneForbidsTheHandOff", "internal/movement/transfer.TestEveryEdge", "internal/movement/transfer.TestEachBugBreaksALaw"}},
	{name: "S5 who waits is never let go", held: []string{"internal/store.TestWhoWaitsIsLetGoEachTime", "internal/store.TestAHandOffOverItsBudgetChangesNothing", "internal/store/shard/embedded.TestConformance"}},
	{name: "S6 catching up never ends", held: []string{"internal/movement/reshard.TestAPauseThatCannotBeMetHoldsTheMovement", "internal/store.TestAHandOffOverItsBudgetChangesNothing"}},
	{name: "S7 a comparison after the switch changes something", held: []string{"internal/movement/reshard.TestAComparisonThatIsAskedForAgainChangesNothing", "internal/movement/migrate.TestAComparisonThatIsKilled"}},
	{name: "S8 nobody says beforehand that nothing leads back", held: []string{"internal/movement.TestEveryStateAnswersEveryVerb", "internal/movement/transfer.TestEveryEdge", "internal/cli/testdata/script/split.txtar"}},
	{name: "S9 somebody who has nothing to do with it is waited for", held: []string{"internal/store.TestAHandOffTouchesNoOtherShard"}},
	{name: "S10 a count is read as a position", held: []string{"internal/movement/work.TestTheCursorIsAPositionAndNoCount", "snapshot.TestAPassGoesOnAtEveryPosition"}},
	{name: "S11 what was in hand when a request failed is dropped", held: []string{"internal/opensearch/cluster.TestEveryOperationEndsInExactlyOneWay", "internal/movement/work.TestTheCursorNeverRunsAheadOfAcknowledgedData"}},
	{name: "S12 an item fails in a bulk that does not", held: []string{"internal/opensearch/cluster.TestEveryOperationEndsInExactlyOneWay", "internal/opensearch/cluster.TestOnlyRejectedOperationsAreSentAgain"}},
	{name: "S13 it says that it is done, and a batch is missing", held: []string{"internal/testing/sim.TestSeeds", "internal/movement/migrate.TestTheVerdict", "internal/testing/proof.TestFleetUnderKills"}},
	{name: "S14 a document with a routing value is taken for missing", held: []string{"internal/movement/reconcile.TestEachDifferenceHasItsClass", "internal/movement/migrate.TestTypesAreSplit", "internal/movement/migrate.TestADeltaSendsWhatChanged"}},
	{name: "S15 who is late writes through a name that leads elsewhere now", held: []string{"internal/testing/sim/testdata/a-worker-that-slept-past-its-lease.txt", "internal/testing/sim/testdata/a-bulk-on-its-way-while-the-movement-is-aborted.txt", "internal/store.TestNamesChangeUnderRequests"}},
	{name: "S16 a document whose id changes is there twice", held: []string{"internal/movement/migrate.TestDocumentsAreTransformed", "internal/testing/proof.TestTwoMovementsIntoOneIndex", "internal/testing/sim.TestSeeds"}},
	{name: "S17 the way back loses what was written since", held: []string{"internal/movement/reshard.TestTheWayBackLosesNothing", "internal/movement/transfer.TestEachBugBreaksALaw", "internal/testing/proof.TestKillsWhileShardsMove"}},
	{name: "S18 counts are too low for a moment", held: []string{"internal/store.TestClientsSeeNothingOfSplitsAndMerges", "internal/store.TestSearchesSeeRefreshesAndGetsSeeTheTruth"}},
	{name: "S19 an update reads the old shard and does nothing", held: []string{"internal/store.TestAnUpdateByAnOldPlacementSeesTheNewest"}},
	{name: "S20 a get of the old shard says that nothing is there", held: []string{"internal/store.TestRoutersWithOldPlacementsAreAnsweredRight", "internal/movement/reshard.TestSplitAndMergeWhileClientsWork"}},
	{name: "S21 a router that is several splits behind", held: []string{"internal/store.TestRoutersWithOldPlacementsAreAnsweredRight"}},
	{name: "S22 a router that is ahead of the shard", held: []string{"internal/store/shard/embedded.TestConformance", "internal/store.TestRequestsFollowAShardThatMoves"}},
	{name: "S23 the new shard begins empty", held: []string{"internal/store/shard/embedded.TestCrashOfStage", "internal/store.TestAHandOffHappensWhollyOrNotAtAll"}},
	{name: "S24 who splits dies in the midst of it", held: []string{"internal/testing/proof.TestKillsWhileShardsMove", "internal/store/shard/embedded.TestCrashOfStage"}},
	{name: "S25 the new owner refuses, and nobody is told", held: []string{"internal/store.TestHalfOfABulkFails", "internal/store.TestWhatStraddlesAHandOffIsAnsweredAsElsewhere"}},
	{name: "S26 a delete is not applied", held: []string{"internal/testing/proof.TestKillsWhileShardsMove", "internal/store/shard/embedded.TestStage", "internal/movement/reshard.TestSplitAndMergeWhileClientsWork"}},
	{name: "S27 the new shard is recovered while it becomes the owner", held: []string{"internal/movement/transfer.TestEachBugBreaksALaw"}, try: noReplicas,
		never: "the one step that changes the owner opens the new shard, by files that are there: nothing is recovered from anybody"},
	{name: "S28 what the new shard has is not synced before the switch", held: []string{"internal/store/shard/embedded.TestCrashOfStage", "internal/store/shard/embedded.TestConformance"}},
	{name: "S29 a tombstone is forgotten in one half", held: []string{"internal/store/shard/embedded.TestInheritedTombstonesGo", "internal/store/shard/embedded.TestConformance", "internal/movement/transfer.TestEachBugBreaksALaw"}},
	{name: "S30 a crash between decided and done", held: []string{"internal/testing/proof.TestCells", "internal/store.TestAHandOffHappensWhollyOrNotAtAll", "internal/store/shard/embedded.TestCrashOfStage"}},
	{name: "S31 a split and a merge of one shard at once", held: []string{"internal/store.TestOfTwoHandOffsOfOneShardOneHappens", "internal/movement/transfer.TestLawsOfReshapings", "internal/movement/reshard.TestTheWayBackLosesNothing"}},
	{name: "S32 a merge loses rows", held: []string{"internal/store/shard/embedded.TestStage", "internal/store/shard/embedded.TestConformance", "internal/testing/proof.TestKillsWhileShardsMove"}},
	{name: "S33 work behind the scenes goes on with what was", held: []string{"internal/store/shard/embedded.TestUpkeepGoesOnWhileShardsMove", "internal/store/shard/embedded.TestStage"}},
	{name: "S34 a transaction over a split is half committed", held: []string{"internal/store.TestWhatStraddlesAHandOffIsAnsweredAsElsewhere", "internal/store.TestAChangeByQueryGoesOnOverSplits"},
		never: "no request changes several documents as one: each item of a bulk is answered by itself"},
	{name: "S35 who follows the changes misses some", held: []string{"internal/store/shard/embedded.TestConformance"}},
	{name: "S36 a client goes on asking a shard that is gone", held: []string{"internal/store.TestRequestsFollowAShardThatMoves", "internal/store.TestRoutersWithOldPlacementsAreAnsweredRight"}},
	{name: "S37 a merge that failed spoils the next", held: []string{"internal/store.TestWhatAFailedMergeStagedDoesNotCountForTheNext", "internal/store/shard/embedded.TestStage"}},
	{name: "S38 no epoch is asked for reading", held: []string{"internal/store/shard/embedded.TestConformance", "internal/movement/transfer.TestEachBugBreaksALaw"}},
	{name: "S39 an abort that never ends", held: []string{"internal/movement/transfer.TestEveryStateOfTheModel", "internal/movement/reshard.TestAnAbortThatComesBeforeTheBeginningCounts", "internal/testing/proof.TestKillsWhileShardsMove"}},
	{name: "S40 an abort leaves what is not the shard's", held: []string{"internal/movement/reshard.TestAnAbortedSplitLeavesNothingForTheNextStart", "internal/movement/reshard.TestAbortLeavesNothing", "internal/store/shard/embedded.TestConformance"}},
	{name: "S41 a change of the number of shards is applied twice", held: []string{"internal/movement/transfer.TestLawsOfReshapings", "internal/store.TestAHandOffThatIsToldTwiceHappensOnce", "internal/store.TestAHandOffHappensWhollyOrNotAtAll"}},
	{name: "S42 an abort that comes before what it aborts is dropped", held: []string{"internal/movement/reshard.TestAnAbortThatComesBeforeTheBeginningCounts"}},
	{name: "S43 an old placement is taken for a newer one", held: []string{"internal/store.TestAnotherChangeOfThePlacementIsNotLost", "internal/store/shard/embedded.TestConformance"}},
	{name: "S44 who routes and who stores make different keys of one id", held: []string{"internal/store/routing.TestHashesAreThoseOfTheServers", "internal/store/routing.TestAKeyIsTheRoutingHashThenTheSecondHashOfTheID", "internal/store/shard/embedded.TestRowsAreOrderedAsReferences", "internal/gateway.TestIdsInURLsAreText"}},
	{name: "S45 an update moves a document out of the range", held: []string{"internal/store.TestOneIDUnderTwoRoutingsStaysTwoDocuments"},
		never: "a document is its id and its routing value, which are its key: under another value it is another document"},
	{name: "S46 what was made stays behind", held: []string{"internal/movement/reshard.TestAbortLeavesNothing", "internal/movement/reshard.TestAStoreClosesWithWhatIsPinned", "internal/movement/reshard.TestAPauseLetsGo", "internal/movement/reshard.TestADeletedIndexEndsItsMovement", "internal/store.TestAnIndexIsDeletedInEachStateOfAHandOff", "internal/store/shard/embedded.TestFilesOfNobodyGo"}},
}

// TestWhatElseSplitsHaveLost: reports about other programs, beside the 46.
func TestWhatElseSplitsHaveLost(t *testing.T) {
	for _, k := range []known{
		{name: "under load a range is never handed over", held: []string{"internal/movement/reshard.TestAPauseThatCannotBeMetHoldsTheMovement", "internal/store.TestAHandOffOverItsBudgetChangesNothing"}},
		{name: "a shard is on its way for ever", held: []string{"internal/movement/transfer.TestEveryStateOfTheModel", "internal/testing/proof.TestKillsWhileShardsMove"}},
		{name: "a key belongs to nobody", held: []string{"internal/store/placement.TestEveryKeyHasOneOwner", "internal/movement/transfer.TestLawsOfReshapings", "internal/store.TestAPlacementThatIsNoSuccessorIsABug"}},
		{name: "a shard gives and takes in quick succession", held: []string{"internal/store.TestAShardGivesAndTakesInTurn", "internal/store/shard/embedded.TestConformance"}},
		{name: "two reshapings are open at a start", held: []string{"internal/movement/reshard.TestTwoIndicesAreReshapedWhenAStoreOpens"}},
		{name: "one id in two shards", held: []string{"internal/store.TestOneIDUnderTwoRoutingsStaysTwoDocuments"}},
		{name: "a write while it is cloned is lost when it is aborted", held: []string{"internal/movement/reshard.TestAnAbortedSplitLeavesNothingForTheNextStart"}},
		{name: "a little of the data is missed at the end", held: []string{"internal/movement/reshard.TestADifferenceAtTheHandOffForbidsToFinish", "internal/movement/transfer.TestEachBugBreaksALaw", "internal/store/shard/embedded.TestCrashOfStage"}},
		{name: "after a merge an old number is given out again", held: []string{"internal/store/shard/embedded.TestConformance", "internal/store.TestClientsSeeNothingOfSplitsAndMerges"}},
	} {
		t.Run(k.name, k.check)
	}
}

// complete expects each number from 1 to n once, in order.
func complete(t *testing.T, prefix string, n int, all []known) {
	t.Helper()
	for i := range max(n, len(all)) {
		if want := fmt.Sprint(prefix, i+1, " "); i >= len(all) || i >= n || !strings.HasPrefix(all[i].name, want) {
			t.Fatalf("%d are listed, and at the place of %s there is another one", len(all), want)
		}
	}
}

// noReplicas: whatever an index asks for, each shard is there once.
func noReplicas(t *testing.T) {
	_, url := serve(t, dataFolder(t))
	b := talk(t)
	ask(t, b, 200, "PUT", url+"/books", `{"settings":{"number_of_shards":1,"number_of_replicas":2}}`)
	reaches(t, b, url+beginSplit(t, b, url), "switched")
	var rows []struct{ Prirep, State string }
	if err := json.Unmarshal(ask(t, b, 200, "GET", url+"/_cat/shards/books?format=json", ""), &rows); err != nil {
		t.Fatal(err)
	}
	own := 0
	for _, row := range rows {
		if row.Prirep == "p" && row.State == "STARTED" {
			own++
		} else if row.Prirep != "r" || row.State != "UNASSIGNED" {
			t.Errorf("%+v", row)
		}
	}
	if own != 4 {
		t.Errorf("%d shards are there of 4: %+v", own, rows)
	}
	ask(t, b, 400, "POST", url+"/_cluster/reroute", `{"commands":[{"move":{"index":"books","shard":0,"from_node":"a","to_node":"b"}}]}`)
}

// noSnapshots: a repository cannot be named, and none is there.
func noSnapshots(t *testing.T) {
	_, url := serve(t, dataFolder(t))
	b := talk(t)
	for path, body := range map[string]string{"/_snapshot/r": `{"type":"fs","settings":{"location":"/tmp"}}`, "/_snapshot/r/s": `{}`} {
		answer, err := b.Do(t.Context(), "PUT", url+path, []byte(body))
		if err != nil || answer.Status < 400 {
			t.Errorf("PUT %s: %s %v", path, answer, err)
		}
	}
	if got := string(ask(t, b, 200, "GET", url+"/_snapshot", "")); got != "{}" {
		t.Errorf("repositories: %s", got)
	}
}
