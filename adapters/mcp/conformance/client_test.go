package conformance_test

import (
	"context"
	"errors"
)

func runClient(ctx context.Context, scenario, config, url string) error { return errors.New("not yet") }
