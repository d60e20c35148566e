// Package rules holds the repository to its own rules: tests read the map in ARCHITECTURE.md, run
// the commands of README.md and docs, follow the links of all pages, and measure files and functions.
//
// # Invariants
//
//  1. Its tests run at the root of the repository.
//
// # What is absent on purpose
//
// Code that is not a test.
package rules
