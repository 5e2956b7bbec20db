package load

import "github.com/soundstage-dev/soundstage/runtime/studio/story/view"

// view reads a page of a state.
func (l *loader) view(_ *module, o *object, name, _ string) *view.View {
	if o.node(name).IsNull() {
		return nil
	}
	return &view.View{}
}
