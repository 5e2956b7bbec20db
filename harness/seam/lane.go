package seam

import "context"

type laneKey struct{}

// WithLane says which agent speaks: requests of one lane are never answered with
// those of another. The main agent's lane is "".
func WithLane(ctx context.Context, lane string) context.Context {
	return context.WithValue(ctx, laneKey{}, lane)
}

// LaneOf is the lane that WithLane put there, "" for the main agent's.
func LaneOf(ctx context.Context) string {
	lane, _ := ctx.Value(laneKey{}).(string)
	return lane
}
