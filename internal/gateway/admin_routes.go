package gateway

import "slices"

// adminRoutes are the endpoints of indices, aliases, templates and the cluster.
var adminRoutes = slices.Concat(indexRoutes, mappingRoutes, aliasRoutes, templateRoutes, streamRoutes, lifecycleRoutes,
	statsRoutes, resolveRoutes, fieldRoutes, clusterRoutes, nodeRoutes, catRoutes, absentRoutes)
