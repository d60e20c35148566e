// Package highlight cuts what a query has found in the texts of a document into
// fragments, with tags around each word that it found.
//
//	search.Wanted ─┐
//	values ──Read──▶ Text ──Find──▶ matches ──Unified──▶ passages ──▶ fragments
//	analyzer ──────┘                   └──────Plain────▶ pieces  ──▶ fragments
//
// # Terms
//
//   - content: the values of a field one after the other, a NUL between them, in units of
//     UTF-16, in which the server measures all sizes and places.
//   - match: a place of the content that the query found.
//   - boundary: a place where sentences or words meet, as java.text.BreakIterator tells it;
//     see sentence.go and word.go.
//   - passage: the text around some matches, between boundaries, within a value.
//
// # Invariants
//
//  1. A fragment without its tags is a part of a value, without blanks at its ends: no
//     character is split, none is added (encoded for HTML when asked).
//  2. Tags are balanced: each opening one has its closing one, and they are not nested.
//  3. Memory is a small multiple of the values.
//
// Fragments are those of OpenSearch 2.19, chosen and ordered as there: passages by the
// scores of Lucene's unified highlighter.
//
// Absent on purpose: JSON and options by fields (packages query, gateway), and what a
// query looks for (package search). Absent, refused by name: the highlighter fvh.
package highlight
