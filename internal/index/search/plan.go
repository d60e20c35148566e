package search

import (
	"github.com/reshelve/reshelve/internal/index/automaton"
	"github.com/reshelve/reshelve/internal/index/fields"
)

// plan is a query worked out for one index: what is found in its segments, without
// names, texts and analyzers. Trees become plans in compile.go, plans become iterators
// in scorer.go. Boosts are multiplied into the leaves.
type plan interface{ planned() }

type (
	// allPlan finds every root.
	allPlan struct{ score float32 }

	// nonePlan finds nothing.
	nonePlan struct{}

	// termPlan finds one term, and scores it by BM25.
	termPlan struct {
		field string
		term  []byte
		boost float32
		blend *blend // nil: it is as rare as it is
	}

	// synonymsPlan scores several terms as if they were one.
	synonymsPlan struct {
		field string
		terms [][]byte
		boost float32
	}

	// phrasePlan finds words at their places; slop is by how much they may be moved.
	phrasePlan struct {
		field string
		words []word
		slop  int
		boost float32
	}

	// phrasesPlan scores several phrases of one field as if they were one: the terms of all
	// say how rare it is, and the places of all how frequent.
	phrasesPlan struct {
		field string
		ways  [][]word
		slop  int
		boost float32
	}

	// boolPlan: at least minShould of should, when there are must or filter it may be 0.
	boolPlan struct {
		must, filter, should, mustNot []plan
		minShould                     int
		expanded                      bool // should are the terms that one word may be
		boosted                       bool // it has a boost of its own: see simplify
	}

	// constantPlan gives what of finds one score.
	constantPlan struct {
		of    plan
		score float32
	}

	// maxPlan scores by the best, and tie of the others.
	maxPlan struct {
		of      []plan
		tie     float32
		boosted bool // it has a boost of its own: see simplify
	}

	// boostingPlan multiplies the score of what negative finds too, and all by a boost, which
	// is not in the leaves of positive.
	boostingPlan struct {
		positive, negative plan
		factor, boost      float32
	}

	// matchPlan finds the terms or numbers of a match, without a score: wrap it into a
	// constantPlan.
	matchPlan struct {
		field *fields.Field
		match fields.Match
	}

	// numbersPlan finds docs with a number in any of some intervals (sorted, apart from
	// each other), without a score.
	numbersPlan struct {
		field     *fields.Field
		intervals []interval
	}

	// testPlan finds docs with a number in an interval for which a test holds, without a
	// score.
	testPlan struct {
		field           *fields.Field
		least, greatest int64
		holds           func(n int64) bool
		text            string // as people write it
	}

	// termsPlan finds any of some terms (sorted), without a score.
	termsPlan struct {
		field string
		terms [][]byte
	}

	// wordsPlan finds the terms that an automaton accepts, without a score.
	wordsPlan struct {
		field  string
		accept *automaton.Words
		text   string // as people write it
	}

	// idsPlan finds roots by id, and their children with them.
	idsPlan struct{ ids []string }

	// existsPlan finds docs that have any of some fields.
	existsPlan struct{ fields []string }

	// nestedPlan finds roots, or objects of the nested field around, by the objects of a
	// nested field.
	nestedPlan struct {
		path, around string
		of           plan
		mode         string // avg, sum, min, max, none
		boost        float32
	}

	// functionPlan changes scores.
	functionPlan struct {
		of     plan
		score  *FunctionScore
		filter []plan   // of each function; nil: all
		values []valuer // of each function; nil: 1
		boost  float32
	}

	// namedPlan tells the hit that it was found by this part.
	namedPlan struct {
		of   plan
		name string
	}
)

// interval is of numbers, both ends included.
type interval struct{ least, greatest int64 }

// word is one place of a phrase: any of its terms is there.
type word struct {
	position int
	terms    [][]byte
}

func (allPlan) planned()       {}
func (nonePlan) planned()      {}
func (*termPlan) planned()     {}
func (*synonymsPlan) planned() {}
func (*phrasePlan) planned()   {}
func (*phrasesPlan) planned()  {}
func (*boolPlan) planned()     {}
func (*constantPlan) planned() {}
func (*maxPlan) planned()      {}
func (*boostingPlan) planned() {}
func (*matchPlan) planned()    {}
func (*numbersPlan) planned()  {}
func (*testPlan) planned()     {}
func (*termsPlan) planned()    {}
func (*wordsPlan) planned()    {}
func (*idsPlan) planned()      {}
func (*existsPlan) planned()   {}
func (*nestedPlan) planned()   {}
func (*functionPlan) planned() {}
func (*namedPlan) planned()    {}
