package gateway

var searchRoutes []route
