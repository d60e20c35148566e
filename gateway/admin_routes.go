package gateway

// adminRoutes are the endpoints of indices, aliases, templates and the cluster.
var adminRoutes []route
