// Package java is what of Java shows in the answers of OpenSearch: how it prints
// numbers, in which order it goes through a hash map, and how it compares strings.
// Clients compare answers, and people read them, so ours have the same form.
//
//	Double(1e7)              "1.0E7"
//	Bucket("settings", 16)   which of 16 places a key has
//	ParseDecimal("#,##0.00")         1,234.50
//	Less("\uffff", "😀")      false: a surrogate comes first
//
// # Invariants
//
//  1. Double and Float give a text that parses to the same number, and is the shortest
//     of those with a digit on both sides of the point.
//
// Sources: the documentation of Double.toString, of String.hashCode and compareTo, and of
// HashMap's growth; and what real servers print.
//
// Absent on purpose: JSON (package token), and names of classes (where they are told).
package java
