package analysis

import (
	"embed"
	"slices"
	"strings"

	"github.com/blevesearch/bleve/v2/analysis/lang/ar"
	"github.com/blevesearch/bleve/v2/analysis/lang/bg"
	"github.com/blevesearch/bleve/v2/analysis/lang/ca"
	"github.com/blevesearch/bleve/v2/analysis/lang/ckb"
	"github.com/blevesearch/bleve/v2/analysis/lang/cs"
	"github.com/blevesearch/bleve/v2/analysis/lang/da"
	"github.com/blevesearch/bleve/v2/analysis/lang/de"
	"github.com/blevesearch/bleve/v2/analysis/lang/el"
	"github.com/blevesearch/bleve/v2/analysis/lang/es"
	"github.com/blevesearch/bleve/v2/analysis/lang/eu"
	"github.com/blevesearch/bleve/v2/analysis/lang/fa"
	"github.com/blevesearch/bleve/v2/analysis/lang/fi"
	"github.com/blevesearch/bleve/v2/analysis/lang/fr"
	"github.com/blevesearch/bleve/v2/analysis/lang/ga"
	"github.com/blevesearch/bleve/v2/analysis/lang/gl"
	"github.com/blevesearch/bleve/v2/analysis/lang/hi"
	"github.com/blevesearch/bleve/v2/analysis/lang/hu"
	"github.com/blevesearch/bleve/v2/analysis/lang/hy"
	"github.com/blevesearch/bleve/v2/analysis/lang/id"
	"github.com/blevesearch/bleve/v2/analysis/lang/it"
	"github.com/blevesearch/bleve/v2/analysis/lang/nl"
	"github.com/blevesearch/bleve/v2/analysis/lang/no"
	"github.com/blevesearch/bleve/v2/analysis/lang/pt"
	"github.com/blevesearch/bleve/v2/analysis/lang/ro"
	"github.com/blevesearch/bleve/v2/analysis/lang/ru"
	"github.com/blevesearch/bleve/v2/analysis/lang/sv"
	"github.com/blevesearch/bleve/v2/analysis/lang/tr"
)

// stopLists are the lists of stop words that have names.
var stopLists = map[string]func() []string{
	"_english_": func() []string { return englishStops },
	"_none_":    func() []string { return nil },

	"_arabic_": list(ar.ArabicStopWords), "_armenian_": list(hy.ArmenianStopWords), "_basque_": list(eu.BasqueStopWords),
	"_bulgarian_": list(bg.BulgarianStopWords), "_catalan_": list(ca.CatalanStopWords), "_czech_": list(cs.CzechStopWords),
	"_danish_": list(da.DanishStopWords), "_dutch_": list(nl.DutchStopWords), "_finnish_": changed(fi.FinnishStopWords, "tuota tällä", "tallä tuotä"),
	"_french_": changed(fr.FrenchStopWords, "", "as aura auras avions est fût sommes son été étés"), "_galician_": list(gl.GalicianStopWords), "_german_": list(de.GermanStopWords),
	"_greek_": list(el.GreekStopWords), "_hindi_": list(hi.HindiStopWords), "_hungarian_": list(hu.HungarianStopWords),
	"_indonesian_": list(id.IndonesianStopWords), "_irish_": list(ga.IrishStopWords), "_italian_": list(it.ItalianStopWords),
	"_norwegian_": list(no.NorwegianStopWords), "_persian_": list(fa.PersianStopWords),
	"_portuguese_": list(pt.PortugueseStopWords), "_romanian_": list(ro.RomanianStopWords),
	"_russian_": list(ru.RussianStopWords), "_sorani_": list(ckb.SoraniStopWords), "_spanish_": list(es.SpanishStopWords),
	"_swedish_": list(sv.SwedishStopWords), "_turkish_": list(tr.TurkishStopWords),

	"_bengali_": file("bengali"), "_brazilian_": file("brazilian"), "_estonian_": file("estonian"),
	"_latvian_": file("latvian"), "_lithuanian_": file("lithuanian"), "_thai_": file("thai"),
}

// stopFiles are lists that Bleve has not: words between spaces, as the server has them.
//
//go:embed stops/*.txt
var stopFiles embed.FS

func file(name string) func() []string {
	return func() []string {
		text, err := stopFiles.ReadFile("stops/" + name + ".txt")
		if err != nil {
			panic(err) // the files are part of the program
		}
		return strings.Fields(string(text))
	}
}

var englishStops = strings.Fields(`a an and are as at be but by for if in into is it no not of on or such that the
	their then there these they this to was will with`)

// list reads Bleve's lists: words, with remarks after | and #.
func list(text []byte) func() []string {
	return func() []string {
		var words []string
		for line := range strings.Lines(string(text)) {
			line, _, _ = strings.Cut(line, "|")
			line, _, _ = strings.Cut(line, "#")
			words = append(words, strings.Fields(line)...)
		}
		return words
	}
}

// changed is list, where the server's list has some words more and some less.
func changed(text []byte, more, less string) func() []string {
	return func() []string {
		words := append(list(text)(), strings.Fields(more)...)
		out := wordSet(strings.Fields(less))
		return slices.DeleteFunc(words, func(word string) bool { return out[word] })
	}
}

var (
	irishArticles   = strings.Fields("d m b")
	catalanArticles = strings.Fields("d l m n s t")
	italianArticles = strings.Fields(`c l all dall dell nell sull coll pell gl agl dagl degl negl sugl un m t s v d`)
)
