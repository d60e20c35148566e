package shardtest

var epochs []test
var fences []test
var refreshes []test
var scans []test
var changes []test
var holds []test
var prunings []test
var engines []test
var histories []test
var programs []test
