package gateway

var documentRoutes []route
