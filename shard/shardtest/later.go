package shardtest

var histories []test
var programs []test
