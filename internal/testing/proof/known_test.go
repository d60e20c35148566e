package proof

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/snapshot"
	"github.com/reshelve/reshelve/snapshot/blob"
	"github.com/reshelve/reshelve/snapshot/blob/folder"
)

// known is something that goes wrong, or is tested, where others move snapshots.
type known struct {
	name string
	// held are the tests that keep it from going wrong here: PACKAGE.TestNAME, or the file of a
	// script that a test of its package plays.
	held  []string
	try   func(t *testing.T) // what no other test tries; nil: nothing
	never string             // why it cannot happen here as it did there; "": it can
}

// check looks whether the tests that are named exist, and tries the rest.
func (k *known) check(t *testing.T) {
	if len(k.held) == 0 && k.try == nil {
		t.Error("nothing holds it")
	}
	for _, name := range k.held {
		if strings.HasSuffix(name, ".txt") || strings.HasSuffix(name, ".txtar") {
			if _, err := os.Stat(filepath.Join("..", "..", "..", name)); err != nil {
				t.Error(err)
			}
			continue
		}
		dot := strings.LastIndexByte(name, '.')
		if !testsOf(t, name[:dot])[name[dot+1:]] {
			t.Errorf("there is no test %s", name)
		}
	}
	if k.try != nil {
		k.try(t)
	}
	if k.never != "" {
		t.Log(k.never)
	}
}

var testsRead = map[string]map[string]bool{}

// testsOf are the names of the tests of a package.
func testsOf(t *testing.T, dir string) map[string]bool {
	t.Helper()
	if all, read := testsRead[dir]; read {
		return all
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "..", dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("package %s has no tests: %v", dir, err)
	}
	all := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				all[f.Name.Name] = true
			}
		}
	}
	testsRead[dir] = all
	return all
}

// TestKnownDefects: those that were found by reading the Java tool which does the same.
func TestKnownDefects(t *testing.T) {
	for _, k := range []known{
		{name: "the cursor counts documents and is read as a position", held: []string{
			"internal/movement/work.TestTheCursorIsAPositionAndNoCount", "snapshot.TestAPassGoesOnAtEveryPosition", "internal/testing/proof.TestFleetUnderKills", "internal/testing/proof.TestLiveSurvival"}},
		{name: "the cursor runs ahead of what is acknowledged", held: []string{
			"internal/movement/work.TestTheCursorNeverRunsAheadOfAcknowledgedData", "internal/movement/work.TestTracker", "internal/testing/sim.TestSeeds", "internal/testing/sim.TestMutants"}},
		{name: "a source with line breaks breaks its bulk request", held: []string{"internal/opensearch/cluster.TestOwnStoreTakesAndGivesBackEveryDocument"}, try: sourcesAreSentOnce},
		{name: "a source in SMILE, CBOR or YAML is retried for ever", held: []string{"snapshot.TestSourcesThatAreJSON", "internal/testing/proof.TestMatrixFolder"}, try: sourcesAreSentOnce},
		{name: "the size of an incremental snapshot is that of its new files", held: []string{"snapshot.TestTheEstimateIsWhatAPassTakes"}, try: sizesAreThoseOfAllFiles},
		{name: "what cannot be read, or has no source, is skipped with a warning", held: []string{"internal/testing/proof.TestMatrixFolder"}, try: sourcelessDocumentsAreListed},
		{name: "no counts are compared", held: []string{"internal/movement/migrate.TestTheVerdict", "internal/movement/reconcile.TestEachDifferenceHasItsClass", "internal/testing/sim/testdata/somebody-deletes-a-document.txt"}},
		{name: "what is read is not held against its checksum", held: []string{
			"internal/testing/proof.TestDamagedBlobsAreNamed", "snapshot.TestDamageIsNeverSilent", "snapshot/internal/lucene.TestEveryFlippedByteIsFound"}},
		{name: "a file that was swapped is taken for the one that the manifest names", held: []string{"snapshot.TestSwappedManifestsAreNoticed", "snapshot/internal/lucene.TestASwappedFileIsAnError"}},
		{name: "metadata are read without checksum and codec name", held: []string{"snapshot.TestDamageToAMetadataFileIsCorrupt", "internal/testing/proof.TestDamagedBlobsAreNamed"}},
		{name: "a snapshot that is not complete is moved as if it were", held: []string{"internal/cli/testdata/script/partial.txtar", "snapshot.TestAnIncompleteSnapshotIsReadShardByShard"}, try: partialIsRefused},
		{name: "a listing ends with its first page", held: []string{"internal/testing/e2e.TestS3", "internal/testing/e2e.TestGCS", "internal/testing/e2e.TestAzure"}},
		{name: "each document is unpacked by itself, and parts of a segment that nobody needs are opened", held: []string{"snapshot.TestNoByteIsReadTwiceAndNoneThatIsNotNeeded"}},
		{name: "a shard that nobody can read is tried for ever", held: []string{"internal/movement/worker.TestPoisonFailsWithItsCause"}, try: poisonFailsAlone},
		{name: "an index whose name has the marks that part the names of items", held: []string{"internal/movement/work.TestNamesInKeys", "internal/testing/proof.TestLiveSurvival"}},
		{name: "documents that the target refuses are gone", held: []string{"internal/testing/proof.TestWhatATargetRefusesIsListed"}},
	} {
		t.Run(k.name, k.check)
	}
}

// TestScenarios: what the same tool is tested for from end to end.
func TestScenarios(t *testing.T) {
	for _, k := range []known{
		{name: "leases end: successors, and all documents", held: []string{"internal/testing/proof.TestLiveSurvival", "internal/testing/proof.TestFleetUnderKills", "internal/testing/sim.TestSuccessors"}},
		{name: "a checkpoint is stored early, while the store is away at the lease's end", held: []string{"internal/testing/sim/testdata/the-store-is-away-for-longer-than-a-lease.txt", "internal/movement/work.TestConversations"}},
		{name: "exit codes of workers, with work and without", held: []string{"internal/testing/proof.TestAWorkerTellsWhatItLacks", "internal/testing/proof.TestAStoppedWorkerHandsItsLeaseOver"}},
		{name: "the target is dead at the start, in the middle, for good", held: []string{"internal/testing/proof.TestFleetWhoseTargetFails", "internal/testing/proof.TestLiveSurvival", "internal/testing/sim/testdata/the-target-fails-in-every-way.txt"}},
		{name: "SIGTERM after progress and before it", held: []string{"internal/testing/proof.TestAStoppedWorkerHandsItsLeaseOver", "internal/testing/proof.TestFleetUnderKills"}},
		{name: "damaged metadata of the repository", held: []string{"internal/testing/proof.TestDamagedBlobsAreNamed"}},
		{name: "the store is away at completion, and restarts", held: []string{"internal/testing/sim.TestACrashAtEveryStep", "internal/movement/drive.TestLostAnswers", "internal/testing/proof.TestLiveSurvival"}},
		{name: "of many that claim at once one gets it", held: []string{"internal/movement/work.TestEveryPositionIsDoneOnceWhateverHappens", "internal/movement/drive.TestOneHolder", "internal/movement/worker.TestEachPieceOnce"}},
		{name: "what is released can be claimed at once; what is done stays so", held: []string{"internal/movement/work.TestConversations", "internal/movement/worker.TestAStoppedWorkerGivesItsLeaseBack"}},
		{name: "successors made in part, twice, of another name, of itself", held: []string{"internal/movement/work.TestConversations", "internal/testing/sim.TestACrashAtEveryStep", "internal/testing/sim.TestSuccessors"}},
		{name: "clocks that differ", held: []string{"internal/testing/sim/testdata/a-machine-whose-clock-is-wrong-claims-nothing.txt", "internal/testing/sim/testdata/the-stores-clock-leaps-by-minutes.txt", "internal/movement/drive.TestAClockThatIsWrongClaimsNothing"}},
		{name: "names of items", held: []string{"internal/movement/work.TestNamesInKeys"}},
		{name: "pairs of versions: routed and deleted documents", held: []string{"internal/testing/proof.TestMatrixFolder", "internal/testing/proof.TestLiveMatrix"}},
		{name: "several mapping types, of an index that was upgraded in place", held: []string{"internal/movement/migrate.TestTypesAreSplit", "internal/movement/migrate.TestTypesAreMerged", "snapshot.TestARepositoryThatThreeMajorVersionsWrote"}},
		{name: "codecs of indices", held: []string{"snapshot/internal/lucene.TestEveryTypeAndVersionHasTheValuesThatLuceneStored", "snapshot.TestDocumentsAreTheServersAnswers"}},
		{name: "transformations", held: []string{"internal/movement/migrate.TestDocumentsAreTransformed", "internal/movement/migrate.TestWhatCannotBeTransformed"}},
		{name: "deltas: more, less, merged", held: []string{"internal/testing/proof.TestLiveDelta", "internal/movement/migrate.TestADeltaSendsWhatChanged"}},
		{name: "shards split by routing", held: []string{"snapshot.TestIndexMetadataIsWhatTheServerShowed", "internal/testing/proof.TestLiveSurvival"}},
		{name: "sources that are not stored", held: []string{"snapshot.TestWhatOfASourceIsStored", "snapshot.TestRealIndicesWithSyntheticSource", "internal/testing/proof.TestMatrixFolder"}},
		{name: "vectors", held: []string{"internal/movement/migrate/translate.TestMappings"}},
		{name: "data streams", held: []string{"internal/movement/migrate.TestDataStreamsAreAppended", "internal/movement/migrate.TestADataStreamThatIsThere", "internal/testing/proof.TestMatrixFolder"}},
		{name: "what failed is listed before the cursor passes it, and is sent again", held: []string{"internal/movement/migrate.TestDocumentsThatWereRefused", "internal/movement/migrate.TestWhatFailedIsTriedAgain", "internal/testing/sim.TestSeeds"}},
		{name: "a pass goes on from each position, in one segment and in many", held: []string{"snapshot.TestAPassGoesOnAtEveryPosition", "snapshot.TestPartsTogetherAreTheWhole"}},
		{name: "two migrations into one index", held: []string{"internal/testing/proof.TestTwoMovementsIntoOneIndex", "internal/testing/proof.TestTwoMovementsAtOnce"}},
		{name: "a disk that is full, here and on the target", held: []string{"internal/testing/proof.TestFullDisk", "internal/testing/proof.TestLiveSurvival"}},
		{name: "answers of bulk requests", held: []string{"internal/opensearch/cluster.TestEveryOperationEndsInExactlyOneWay", "internal/opensearch/cluster.TestOnlyRejectedOperationsAreSentAgain"}},
	} {
		t.Run(k.name, k.check)
	}
}

// corners is a repository with sources of every form and layout.
const corners = "../../../testdata/repositories/opensearch-2.19.0-corners/repo"

// toldNumbers are those that a migration tells.
type toldNumbers struct {
	ID   string
	Plan struct {
		Indices []struct {
			Source string
			Shards int
			Stored int64
		}
	}
	Progress struct {
		Expected, Read, Acknowledged, Failed, Retries int
		Indices                                       []struct {
			Source string
			Items  struct{ Done, Failed int }
		}
		Verified []struct{ Index, Expected, Found string }
	}
}

// migrates moves into a fresh folder, which must end with the code.
func migrates(t *testing.T, code int, words ...string) (m toldNumbers, data string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "data")
	out := endsWith(t, code, append([]string{"migrate", "-q", "--to", data, "--output", "json"}, words...)...)
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	return m, data
}

// sourcesAreSentOnce: no request is refused, and sent again, for how a source is written.
func sourcesAreSentOnce(t *testing.T) {
	breaks := 0
	for _, h := range heldBy(t, filepath.Dir(corners), "only", "forms") {
		if h.Source != nil {
			breaks += strings.Count(*h.Source, "\n")
		}
	}
	m, _ := migrates(t, 0, "--from", corners, "--index", "forms", "--yes")
	if p := m.Progress; breaks == 0 || p.Acknowledged != p.Expected || p.Retries != 0 {
		t.Errorf("%d line breaks; %+v", breaks, p)
	}
}

// sizesAreThoseOfAllFiles: of a snapshot that took over most files of the one before.
func sizesAreThoseOfAllFiles(t *testing.T) {
	var m toldNumbers
	data := filepath.Join(t.TempDir(), "data")
	if err := json.Unmarshal(runs(t, "migrate", "-q", "--dry-run", "--from", basic, "--to", data, "--output", "json"), &m); err != nil {
		t.Fatal(err)
	}
	for _, planned := range m.Plan.Indices {
		var onDisk int64
		for n := range planned.Shards {
			shard := shardOf(t, basic, planned.Source, n)
			for _, f := range shard.Files {
				size := int64(len(f.Content))
				if info, err := os.Stat(filepath.Join(basic, shard.Path, f.Blob)); !f.Virtual && err != nil {
					t.Fatal(err)
				} else if !f.Virtual {
					size = info.Size()
				}
				onDisk += size
			}
		}
		if planned.Stored != onDisk {
			t.Errorf("%s is planned to be %d bytes, and its files have %d", planned.Source, planned.Stored, onDisk)
		}
	}
	if len(m.Plan.Indices) != 3 {
		t.Errorf("%+v", m.Plan)
	}
}

// sourcelessDocumentsAreListed, one by one, and the migration does not end well.
func sourcelessDocumentsAreListed(t *testing.T) {
	want := heldBy(t, filepath.Dir(corners), "only", "sourceless")
	m, data := migrates(t, 6, "--from", corners, "--index", "sourceless", "--yes")
	var all struct {
		Documents []struct{ ID, Type string }
	}
	if err := json.Unmarshal(runs(t, "movement", "failures", m.ID, "--at", data, "--output", "json", "--all"), &all); err != nil {
		t.Fatal(err)
	}
	if len(want) == 0 || len(all.Documents) != len(want) || m.Progress.Failed != len(want) || m.Progress.Acknowledged != 0 {
		t.Errorf("%d documents: %+v %+v", len(want), all, m.Progress)
	}
}

// partialIsRefused unless what there is of it is enough.
func partialIsRefused(t *testing.T) {
	const history = "../../../testdata/repositories/opensearch-2.19.0-history/repo"
	data := filepath.Join(t.TempDir(), "data")
	code, _, wrong := ends(t, "migrate", "-q", "--from", history, "--snapshot", "partial", "--to", data)
	if code != 5 || !strings.Contains(wrong, "half/1") || !strings.Contains(wrong, "--allow-partial") {
		t.Errorf("%d %s", code, wrong)
	}
	m, _ := migrates(t, 0, "--from", history, "--snapshot", "partial", "--index", "half", "--allow-partial")
	if p := m.Progress; p.Acknowledged == 0 || p.Acknowledged != p.Expected {
		t.Errorf("%+v", p)
	}
}

// poisonFailsAlone: one shard that cannot be read fails when its attempts have run out, with its
// cause, and the other shard of its index and the other indices are brought.
func poisonFailsAlone(t *testing.T) {
	repository := filepath.Join(t.TempDir(), "repo")
	if err := os.CopyFS(repository, os.DirFS(basic)); err != nil {
		t.Fatal(err)
	}
	harmed := poisoned(t, repository)
	data := filepath.Join(t.TempDir(), "data")
	var m toldNumbers
	if err := json.Unmarshal(endsWith(t, 9, "migrate", "-q", "--from", repository, "--to", data, "--max-attempts", "2", "--output", "json"), &m); err != nil {
		t.Fatal(err)
	}
	for _, index := range m.Progress.Indices {
		want := map[string]string{"shelves": "{1 1}", "loans": "{1 0}", "empty-hall": "{1 0}"}[index.Source]
		if got := fmt.Sprint(index.Items); got != want {
			t.Errorf("items of %s, done and failed: %s, want %s", index.Source, got, want)
		}
	}
	if len(m.Progress.Verified) != 2 {
		t.Errorf("proved are %+v", m.Progress.Verified)
	}
	if told := string(runs(t, "movement", "failures", m.ID, "--at", data)); !strings.Contains(told, harmed) || !strings.Contains(told, "shelves__") {
		t.Errorf("%s is not named:\n%s", harmed, told)
	}
}

// poisoned damages the versions of documents of a shard of shelves, which no plan looks at.
func poisoned(t *testing.T, repository string) (blob string) {
	t.Helper()
	shard := shardOf(t, repository, "shelves", 1)
	for _, f := range shard.Files {
		name := filepath.Join(repository, shard.Path, f.Blob)
		data, err := os.ReadFile(name)
		if f.Virtual || err != nil {
			continue
		}
		if at := strings.Index(string(data), "Lucene90DocValuesData"); at >= 0 && f.Length > 4000 {
			data[at+60] ^= 1
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
			return f.Blob
		}
	}
	t.Fatal("no versions are there to be harmed")
	return ""
}

// shardOf is a shard of the newest snapshot of a repository.
func shardOf(t *testing.T, repository, index string, n int) *snapshot.Shard {
	t.Helper()
	idx, err := newestOf(t, repository).Index(t.Context(), index)
	if err != nil {
		t.Fatal(err)
	}
	shard, err := idx.Shard(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return shard
}

func newestOf(t *testing.T, repository string) *snapshot.Snapshot {
	t.Helper()
	bucket, err := blob.Open(t.Context(), repository, map[string]blob.Opener{"file": folder.Open})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := snapshot.Open(t.Context(), bucket)
	if err != nil {
		t.Fatal(err)
	}
	newest, err := opened.Find(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return newest
}
