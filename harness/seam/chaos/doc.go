// Package chaos lays faults over a seam: an answer that is an error, one that never
// comes, a stream that breaks.
//
// It belongs to harness, above seam, and knows nothing about agents. A fault names its
// calls by their number, never by a probability, so that what it shows can be shown
// again. The cassette is not touched: what a faulted answer would have held is still
// read from it, or recorded into it, whole. It waits for nothing: time that a fault
// takes passes on the clock. It does not decide what a caller makes of a fault.
//
// docs/reference/faults.md has the text form.
package chaos
