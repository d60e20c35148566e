package remote

import (
	"time"

	"github.com/reshelve/reshelve/internal/coord"
)

// Hurry makes a store and the handler that it speaks to impatient.
func Hurry(s coord.Store, h *Handler, quiet time.Duration) {
	s.(*Store).quiet, h.alive = quiet, quiet/4
}
