// Package trust says who may do what: one table, by exact name.
//
// It is part of the kernel and the only place that classifies. A name without a
// row is denied in every mode, and nothing that a tool says of itself can change
// its row. It does not ask anybody: runtime/gate does.
package trust

// A Class is what a tool can do to the world.
type Class string

// The classes, from harmless to irreversible.
const (
	Read   Class = "read"
	Draft  Class = "draft"
	Write  Class = "write"
	Delete Class = "delete"
	Egress Class = "egress" // leaves the machine
	Exec   Class = "exec"   // runs a program
)

// A Mode is how much a session may do without asking.
type Mode string

// The modes.
const (
	Guarded   Mode = "guarded"   // reads and drafts run, the rest asks
	Autopilot Mode = "autopilot" // writes run too
	Full      Mode = "full"      // all run
)

// A Verdict is one cell of the table.
type Verdict string

// The verdicts.
const (
	Run  Verdict = "run"
	Ask  Verdict = "ask"
	Deny Verdict = "deny"
)

// A Row classifies one tool by its exact id.
type Row struct {
	ID       string
	Class    Class
	ReadOnly bool // a read-only server has it; not derived from Class
	// Bound says of a write that it reaches nothing but a folder which a person bound for
	// it: binding was their yes, and no mode asks again. It has no meaning for other classes.
	Bound bool
}
