package chance

import (
	"context"
	"math/rand/v2"
)

type key struct{}

// With is ctx with a source of its own. The source must be safe for concurrent use.
func With(ctx context.Context, source func() uint64) context.Context {
	return context.WithValue(ctx, key{}, source)
}

// Apart is ctx for the n-th of several who share a source whose numbers depend on the instant
// alone: each of them draws others. Without a source it is ctx itself.
func Apart(ctx context.Context, n int) context.Context {
	source, ok := ctx.Value(key{}).(func() uint64)
	if !ok {
		return ctx
	}
	return With(ctx, func() uint64 { return rand.NewPCG(source(), uint64(n)).Uint64() })
}

func bits(ctx context.Context) uint64 {
	if source, ok := ctx.Value(key{}).(func() uint64); ok {
		return source()
	}
	return rand.Uint64()
}

// N is from 0 to n-1; n must be above 0. The choice is as even as 64 bits divided by n are.
func N[T ~int | ~int64 | ~uint](ctx context.Context, n T) T {
	return T(bits(ctx) % uint64(n))
}

// Float is from 0 to below 1.
func Float(ctx context.Context) float64 { return float64(bits(ctx)>>11) / (1 << 53) }
