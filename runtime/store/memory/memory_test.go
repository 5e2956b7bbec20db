package memory_test

import (
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/drawer"
	"github.com/soundstage-dev/soundstage/runtime/question"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/store/memory"
	"github.com/soundstage-dev/soundstage/runtime/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store { return memory.New() })
}

func TestDrafts(t *testing.T) {
	storetest.RunDrafts(t, func(*testing.T) draft.Drafts { return memory.New() })
	storetest.RunQuestions(t, func(*testing.T) question.Rows { return memory.New() })
	storetest.RunDrawers(t, func(*testing.T) drawer.Rows { return memory.New() })
}
