//go:build !linux

package main

// bytesReadAtExit is not to be had here.
func bytesReadAtExit(int) int64 { return 0 }
