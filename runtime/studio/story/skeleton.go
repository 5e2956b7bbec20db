package story

import "strings"

// Skeleton is a small story that passes its flow, by file name: what a person begins with.
func Skeleton(id string) map[string]string {
	return map[string]string{
		"app.yaml":         strings.ReplaceAll(skeletonApp, "ID", id),
		"flows/greet.yaml": skeletonFlow,
	}
}

const skeletonApp = `app: {id: ID, version: 0.1.0, title: A new story}
root: door
world:
  name: {type: string, default: ""}
intents:
  knock:
    title: Knock and say who you are
    slots:
      name: {type: string, required: true}
  leave: {title: Leave}
states:
  door:
    view: "You stand at a door. Nobody knows you yet."
    on:
      knock:
        - target: hall
          effects:
            - set: {name: "{{ slots.name }}"}
  hall:
    view: "Welcome, {{ world.name }}."
    on:
      leave: [{target: outside}]
  outside:
    terminal: true
    view: "Good bye, {{ world.name }}."
`

const skeletonFlow = `test_kind: flow
initial_state: door
turns:
  - intent: {name: leave}
    expect_error: {code: INTENT_NOT_ALLOWED_IN_STATE, allowed_contains: [knock]}
  - intent: {name: knock, slots: {name: Ada}}
    expect_state: hall
    expect_world: {name: Ada}
    expect_view_matches: "Welcome, Ada"
  - intent: {name: leave}
    expect_state: outside
expect_terminal: true
`
