package cluster

import _ "golang.org/x/time/rate"
