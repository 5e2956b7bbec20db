package cli

import (
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/model"
)

// Init takes the default model on trust.
func TestDefaultModelIsKnown(t *testing.T) {
	if _, err := model.NewCatalog().Find(defaultModel); err != nil {
		t.Error(err)
	}
}
