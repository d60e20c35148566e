package embedded

import "time"

func init() {
	retryEvery, refuseEvery = time.Millisecond, time.Millisecond
}
