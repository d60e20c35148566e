package routing

// Spread is number_of_routing_shards of an index of so many shards, where nobody has set it: Elasticsearch 7 and later and
// OpenSearch leave room for splits up to 1024 shards, or for one.
func Spread(shards int) int {
	spread := 2 * shards
	for 2*spread <= 1024 {
		spread *= 2
	}
	return spread
}

// ServerShard is the shard of Elasticsearch or OpenSearch in which a document is. An empty routing means that the id routes.
// Partitions is routing_partition_size; 1 and 0 mean none. Spread is number_of_routing_shards, a multiple of shards.
func ServerShard(id, routing string, partitions, shards, spread int) int {
	value := routing
	if value == "" {
		value = id
	}
	hash := Hash(value, 0)
	if partitions > 1 {
		hash += uint32(floorMod(Hash(id, 0), partitions))
	}
	return floorMod(hash, spread) / (spread / shards)
}

// floorMod takes a hash as a signed number, as the servers do.
func floorMod(hash uint32, n int) int {
	m := int64(n)
	return int(((int64(int32(hash)) % m) + m) % m)
}
