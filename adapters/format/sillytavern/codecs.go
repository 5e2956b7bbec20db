package sillytavern

import (
	"github.com/soundstage-dev/soundstage/runtime/studio/content/lore"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// roleNumber is a role as its number.
var roleNumber = twin.WithEmpty(twin.Words([2]string{"0", "system"}, [2]string{"1", "user"}, [2]string{"2", "assistant"}), "null")

// keysAt is the keys of an entry, at the first place that is there.
func keysAt(path string, ptrs ...string) twin.Field {
	var at []twin.Field
	for _, ptr := range ptrs {
		at = append(at, twin.Field{Ptr: ptr, Codec: lore.Keys, Required: true})
	}
	return twin.Alt(path, at...)
}
